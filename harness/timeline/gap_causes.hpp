// The cause of a gap, followed back through the earlier steps of the chunk that ended it.
#pragma once

#include <map>
#include <optional>

#include "harness/timeline/diagnosis.hpp"

namespace scanlab::streams {

/// The cause of an engine's idle time, and a gap to show for it.
struct Blame {
  Cause cause{};
  Gap shown;  ///< its `next` and `blocker` are those that are to blame
};

/// The cause, if copies from and to such memory hold the host.
Cause copies_that_hold(HostMemory memory);

class GapCauses {
 public:
  GapCauses(const Timeline& timeline, const TimelineAnalysis& analysis);

  /// Follows the operation that ended a gap back through the earlier steps of its chunk, to what held them. Nothing, if
  /// that is the work itself.
  std::optional<Blame> cause_of(const Gap& gap) const;
  const Wait& wait_of(std::size_t index) const { return analysis_.waits[span_of_.at(index)]; }

 private:
  const Operation& operation(std::size_t index) const { return timeline_.recording->operations[index]; }
  const Interval& when(std::size_t index) const { return timeline_.spans[span_of_.at(index)].when; }
  std::optional<Cause> unheld(const Gap& gap) const;
  Cause small_or(Cause other, const Gap& gap) const;
  double issuing_seconds(const Gap& gap) const;
  bool another_was_ready(const Gap& gap) const;
  Cause held_the_host(const Gap& gap, std::optional<std::size_t> blocker) const;
  const Gap* behind_unready(std::size_t index) const;

  const Timeline& timeline_;
  const TimelineAnalysis& analysis_;
  std::map<std::size_t, std::size_t> span_of_;    ///< by operation: which span
  std::map<std::size_t, const Gap*> gap_before_;  ///< by operation: the gap that it ended
};

}  // namespace scanlab::streams
