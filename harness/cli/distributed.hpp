// Code that the commands of `scanlab distributed` share.
#pragma once

#include <functional>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/distributed_cases.hpp"

namespace scanlab::cli {

/// --algorithm, --on-hosts, --type, --op, --mode, --set, --items, --gpus and --seed.
struct DistributedWords {
  OptionWords words;
  bool on_hosts = false;
  std::optional<int> gpus;
  std::uint64_t seed = 1;

  void add_to(Options& options);
  /// Returns the cases that are asked for, of --items or of the default `items`. Throws CommandError (status 2).
  std::vector<distributed::DistributedCase> cases(std::vector<std::int64_t> items, int ranks) const;
  measure::Facts provenance(bool on_gpus, int ranks, const Context& context) const;
};

/// One rank's command, and how it ends.
using RankBody = std::function<int(distributed::Communicator&, Context&)>;

/// Runs `body` on every rank: this process under mpirun, else a thread for each GPU that --gpus asks for. Only rank 0
/// prints. Returns the status of rank 0.
int on_every_rank(const DistributedWords& asked, Context& context, const RankBody& body);

}  // namespace scanlab::cli
