// Timelines that were measured: every replay of a recording, and the one that stands for all; which operations of a
// timeline ran at once, and how far two timelines agree on that.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
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

/// Seconds. Two operations of which one waits for the other, or for its engine, may seem to overlap by as much as
/// clocks and hand-overs differ.
constexpr double kOverlapResolution = 5e-6;

using OperationPair = std::pair<std::size_t, std::size_t>;  ///< in the order of issue

/// The pairs that ran at once for longer than `resolution` seconds: one that begins where another ends is beside it by
/// accident.
std::set<OperationPair> overlapping(const Timeline& timeline, double resolution);

/// How far two timelines agree on which operations overlap.
struct Agreement {
  std::size_t either = 0;  ///< pairs
  std::size_t both = 0;

  Agreement& operator+=(const Agreement& other);
  double share() const;  ///< 1 where nothing overlaps in either
};

/// In how many repetitions of one measurement each pair overlapped.
struct RepeatedOverlaps {
  int repetitions = 0;
  std::map<OperationPair, int> times;  ///< 1 to `repetitions`

  /// Agreement of every two repetitions, summed.
  Agreement with_themselves() const;
  /// Agreement of `predicted` and each repetition, summed.
  Agreement with(const std::set<OperationPair>& predicted) const;
  /// The same of the prediction that agrees best of all: of the pairs that overlapped in some number of repetitions or
  /// more. No model can foretell more.
  Agreement at_best() const;
  /// Agreement of `predicted` with those pairs on which all repetitions agree.
  Agreement where_steady(const std::set<OperationPair>& predicted) const;
};

}  // namespace scanlab::streams
