// What the commands of `scanlab distributed` share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/distributed/distributed_cases.hpp"
#include "harness/distributed/ranks.hpp"

namespace scanlab::cli {

int distributed_list(const std::vector<std::string>& arguments, Context& context);
int distributed_verify(const std::vector<std::string>& arguments, Context& context);
int distributed_bench(const std::vector<std::string>& arguments, Context& context);
int distributed_cycles(const std::vector<std::string>& arguments, Context& context);
int distributed_trace(const std::vector<std::string>& arguments, Context& context);
Command distributed_command(const std::string& name);

/// Adds --algorithm, --type, --op, --mode, --set, --gpus, --seed, --force and --help.
void add_distributed_options(po::options_description& options);

/// One rank's command, and how it ends.
using RankBody = std::function<int(distributed::Communicator&, Context&)>;

/// Runs `body` on every rank: this process under mpirun, else a thread for each GPU that --gpus asks for. Only rank 0
/// prints. Returns the status of rank 0.
int on_every_rank(const po::variables_map& values, Context& context, const RankBody& body);

/// The algorithms, types, operators, modes and settings that are asked for. Throws CommandError (status 2).
distributed::DistributedSelection selected_algorithms(const po::variables_map& values);

/// Its cases of --items, as add_large_items describes it, on so many ranks. Throws CommandError (status 2).
std::vector<distributed::DistributedCase> large_cases(const po::variables_map& values, int ranks);
void add_large_items(po::options_description& options);

}  // namespace scanlab::cli
