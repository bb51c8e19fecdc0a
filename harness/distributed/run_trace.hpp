// The activity of each GPU in a few runs of a distributed scan, which all ranks begin at once.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <utility>
#include <vector>

#include "harness/distributed/distributed_session.hpp"
#include "harness/replay/activity.hpp"

namespace scanlab::distributed {

inline constexpr char kTraceSchema[] = "scanlab-ranks-trace/1";

/// One for all ranks, which are threads of this process: processes share no clock.
class RunTracer {
 public:
  /// `runs` of each case. `now`: the clock of the collector.
  RunTracer(int runs, std::function<std::int64_t()> now) : runs_(runs), now_(std::move(now)) {}

  /// Collective, of SessionOptions::observed: the runs, behind some that are no part of the trace. The device collects
  /// all the while, also while the case was bound: what CUPTI allocates at first waits for no run then.
  void trace(const DistributedCase& traced, BoundRank& bound, RankBackend& backend, Communicator& communicator);

  /// On rank 0: an entry for each case of rank 0 that was right, with all that was recorded in its runs. Throws
  /// std::runtime_error if that cannot be.
  measure::Facts traces(const std::vector<streams::Activity>& recorded) const;

 private:
  struct Traced {
    const DistributedCase* timed = nullptr;
    std::vector<int> devices;                                 ///< by rank
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;  ///< begin and end
  };
  measure::Facts entry(const Traced& traced, const std::vector<streams::Activity>& by_start) const;

  int runs_;
  std::function<std::int64_t()> now_;
  std::vector<Traced> traced_;  ///< rank 0 alone writes
};

/// Nanoseconds of each run of an entry, from the first start on any rank to the last end.
std::vector<std::int64_t> run_lengths(const measure::Facts& entry);

/// A line per entry: the median time of a run, and its kernels.
void print_traces(const measure::Facts& traces, std::ostream& out);

}  // namespace scanlab::distributed
