// Timelines that were measured: every replay of a recording, and the one that stands for all.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

struct TimedReplay {
  double seconds = 0;  ///< by the host's clock, from before the first issue until the device is seen to be done
  Timeline timeline;   ///< without spans if nothing was traced
};

/// Every replay of a recording, without collection and with it.
struct MeasuredReplays {
  std::vector<TimedReplay> plain;   ///< as `streams run` times them
  std::vector<TimedReplay> traced;  ///< the host's issues are stamped, too
  std::string wrong;                ///< the first wrong output, in words; empty: all were right, or none was looked at

  /// The timeline of the traced replay whose time is the median.
  const Timeline& timeline() const;
  double median_plain() const;  ///< seconds, as the next
  double median_traced() const;
  /// How much longer a repetition takes with collection.
  double tracing_overhead_percent() const;
};

/// Facts of a trace beside its events: the times of all repetitions, in microseconds, the overlap, whether outputs
/// were right, and as "overlaps" [operation, operation, in how many of the traced repetitions they overlapped].
nlohmann::ordered_json facts_of(const MeasuredReplays& measured, const TimelineAnalysis& analysis);

}  // namespace scanlab::streams
