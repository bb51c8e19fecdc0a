// What the commands of `scanlab distributed` share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/distributed/distributed_session.hpp"
#include "harness/distributed/rank_backend.hpp"

namespace scanlab::cli {

int distributed_list(const std::vector<std::string>& arguments, Context& context);
int distributed_verify(const std::vector<std::string>& arguments, Context& context);
int distributed_bench(const std::vector<std::string>& arguments, Context& context);
int distributed_cycles(const std::vector<std::string>& arguments, Context& context);
int distributed_trace(const std::vector<std::string>& arguments, Context& context);
Command distributed_command(const std::string& name);

/// Adds --algorithm, --type, --op, --mode, --set, --gpus, --seed, --force and --help.
void add_distributed_options(po::options_description& options);

/// Collective. Throws CommandError (status 2) on all ranks, unless all were built from the same commit and started with
/// the same words.
void agree(distributed::Communicator& communicator, const std::vector<std::string>& argv, const std::string& commit);

/// One rank's command, and how it ends.
using RankBody = std::function<int(distributed::Communicator&, Context&)>;

/// Runs `body` on every rank: this process under mpirun, else a thread for each GPU that --gpus asks for. Only rank 0
/// prints. Returns the status of rank 0.
int on_every_rank(const po::variables_map& values, Context& context, const RankBody& body);

/// Collective. Calls `open` on rank 0, such as to open a file; throws there what it throws. Whether it could: no rank
/// is left to wait for rank 0.
bool leader_can(distributed::Communicator& communicator, const std::function<void()>& open);

/// The cases that are asked for, on so many ranks: `items` of the whole array. Throws CommandError (status 2).
std::vector<distributed::DistributedCase> distributed_cases(const po::variables_map& values,
                                                            const std::vector<std::int64_t>& items, int ranks);

/// The same of --items, as add_large_items describes it.
std::vector<distributed::DistributedCase> large_cases(const po::variables_map& values, int ranks);
void add_large_items(po::options_description& options);

/// The place of the ranks of these cases. Throws CommandError (status 2) if some are on GPUs and some are not.
std::unique_ptr<distributed::RankBackend> backend_of(const std::vector<distributed::DistributedCase>& cases,
                                                     distributed::Communicator& communicator);

}  // namespace scanlab::cli
