// One piece of work on every rank: processes that mpirun started, or threads of this one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/distributed/communicator.hpp"

namespace scanlab::distributed {

/// Collective. Throws CommandError (status 2) on all ranks, unless all were built from the same commit and started with
/// the same words.
void agree(Communicator& communicator, const std::vector<std::string>& argv, const std::string& commit);

/// Runs `body` on every rank: this process under mpirun, else a thread for each of `asked` GPUs. Returns the status of
/// rank 0. Throws CommandError: status 2 for ranks that do not agree(), 1 for a rank that failed.
int run_on_ranks(int asked, const std::vector<std::string>& argv, const std::function<int(Communicator&)>& body);

/// Collective. Calls `open` on rank 0, such as to open a file, and throws its error on all ranks: none is left to wait
/// for rank 0.
void leader_opens(Communicator& communicator, const std::function<void()>& open);

}  // namespace scanlab::distributed
