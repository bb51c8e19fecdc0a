// The cases of distributed scans that a selection means, and the place where their ranks run.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "harness/distributed/distributed_session.hpp"
#include "harness/distributed/rank_backend.hpp"

namespace scanlab::distributed {

struct DistributedSelection {
  std::vector<const Algorithm*> algorithms;
  std::vector<ElementType> types;
  std::vector<Operator> operators;
  std::vector<Mode> modes;
  Settings settings{};  ///< of those that have these parameters
};

/// Every combination, on so many ranks: `items` of the whole array. Throws CommandError (status 2) for a setting that
/// no algorithm takes.
std::vector<DistributedCase> cases_of(const DistributedSelection& selection, const std::vector<std::int64_t>& items,
                                      int ranks);

/// Makes it a case of so many items of the whole array.
void set_items(DistributedCase& timed, std::int64_t items, int ranks);

/// As nccl-tests print them: a line per case that was timed, with its median, algorithm and bus bandwidth in GB/s.
void print_table(const std::vector<DistributedCase>& cases, int ranks, std::ostream& out);

/// The place of the ranks of these cases. Throws CommandError (status 2) if some are on GPUs and some are not, and
/// (status 3) for GPUs in a build without CUDA.
std::unique_ptr<RankBackend> backend_of(const std::vector<DistributedCase>& cases, Communicator& communicator);

}  // namespace scanlab::distributed
