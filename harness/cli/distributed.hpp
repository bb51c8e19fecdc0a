// Code that the commands of `scanlab distributed` share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/distributed_cases.hpp"

namespace scanlab::cli {

int distributed_list(const std::vector<std::string>& arguments, Context& context);
int distributed_verify(const std::vector<std::string>& arguments, Context& context);
int distributed_bench(const std::vector<std::string>& arguments, Context& context);
int distributed_cycles(const std::vector<std::string>& arguments, Context& context);
int distributed_trace(const std::vector<std::string>& arguments, Context& context);

/// --algorithm, --on-hosts, --type, --op, --mode, --set, --items, --gpus and --seed.
struct DistributedWords {
  OptionWords words;
  bool on_hosts = false;
  std::optional<int> gpus;
  std::uint64_t seed = 1;

  /// `items`: what help says of --items; none: there is no such option.
  void add_to(Options& options, const char* items);
  /// The algorithms, types, operators, modes and settings that are asked for. Throws CommandError (status 2).
  distributed::DistributedSelection selection() const;
  /// Its cases of --items, else of 2^28 per rank. Throws CommandError (status 2).
  std::vector<distributed::DistributedCase> large_cases(int ranks) const;
};
inline constexpr char kLargeItems[] = "set the items of the whole array (default 2^28 per GPU)";

/// One rank's command, and how it ends.
using RankBody = std::function<int(distributed::Communicator&, Context&)>;

/// Runs `body` on every rank: this process under mpirun, else a thread for each GPU that --gpus asks for. Only rank 0
/// prints. Returns the status of rank 0.
int on_every_rank(const DistributedWords& asked, Context& context, const RankBody& body);

}  // namespace scanlab::cli
