// The cause of a gap, followed back through the earlier steps of the chunk that ended it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "harness/timeline/diagnosis.hpp"

namespace scanlab::streams {

/// The cause of an engine's idle time, and a gap to show for it.
struct Blame {
  Cause cause{};
  Gap shown;  ///< its `next` and `blocker` are those that are to blame
};

class GapCauses {
 public:
  GapCauses(const Timeline& timeline, const TimelineAnalysis& analysis)
      : timeline_(timeline), recording_(*timeline.recording), analysis_(analysis) {
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) span_of_[timeline.spans[i].operation] = i;
    for (const Gap& gap : analysis.gaps) {
      if (gap.next) gap_before_[*gap.next] = &gap;
    }
  }

  /// Follows the operation that ended a gap back through the earlier steps of its chunk, to what held them. Nothing, if
  /// that is the work itself.
  std::optional<Blame> cause_of(const Gap& gap) const {
    if (const std::optional<Cause> cause = unheld(gap)) return Blame{*cause, gap};
    if (another_was_ready(gap)) return Blame{Cause::issue_order, gap};
    std::size_t at = *gap.next;
    for (int steps = 0; steps < kNear; ++steps) {
      if (const Gap* const behind = behind_unready(at)) return Blame{Cause::issue_order, *behind};
      const auto own = gap_before_.find(at);
      Gap shown = own == gap_before_.end() ? gap : *own->second;
      if (const std::optional<Cause> cause = unheld(shown)) {            // what held it is past
        if (shown.when.seconds() < 0.5 * gap.when.seconds()) return {};  // most of the gap is the step's own work
        return Blame{*cause, shown};
      }
      const Wait& wait = wait_of(at);
      shown.reason = wait.reason;
      shown.next = at;
      shown.blocker = wait.blocker;
      if (wait.reason == Idle::default_stream) return Blame{Cause::default_stream, shown};
      if (wait.reason == Idle::queue) return Blame{Cause::shared_queue, shown};
      if (wait.reason == Idle::launches) return Blame{Cause::launch_rule, shown};
      if (wait.reason == Idle::host) return Blame{held_the_host(gap, wait.blocker), shown};
      if (wait.reason == Idle::other_way) return {};  // the work of its own engine
      if (!wait.blocker || !span_of_.contains(*wait.blocker)) return {};
      const Operation& waits = operation(at);
      const Operation& blocker = operation(*wait.blocker);
      const bool carry = waits.kind == OperationKind::kernel && blocker.kind == OperationKind::kernel;
      if (waits.chunk.index != blocker.chunk.index && !carry) {
        return Blame{wait.reason == Idle::event ? Cause::too_few_buffers : Cause::too_few_streams, shown};
      }
      if (span_of(*wait.blocker).when.end <= gap.when.start) return {};
      at = *wait.blocker;
    }
    return {};
  }

  /// The cause, if copies hold the host.
  Cause copies_that_hold() const {
    return recording_.job.memory == HostMemory::pageable  ? Cause::pageable_memory
           : recording_.job.memory == HostMemory::managed ? Cause::managed_memory
                                                          : Cause::synchronous_copies;
  }

  const Span& span_of(std::size_t index) const { return timeline_.spans[span_of_.at(index)]; }
  const Wait& wait_of(std::size_t index) const { return analysis_.waits[span_of_.at(index)]; }

 private:
  static constexpr int kNear = 64;  ///< operations before or behind another that are looked at

  const Operation& operation(std::size_t index) const { return recording_.operations[index]; }

  /// The cause of a gap before which nothing held the operation; nothing, if something did.
  std::optional<Cause> unheld(const Gap& gap) const {
    if (gap.reason == Idle::latency) return small_or(Cause::latency, gap);
    if (gap.reason == Idle::other_process) return Cause::other_process;
    if (gap.reason == Idle::host && gap.blocker == gap.next) return held_the_host(gap, gap.blocker);
    return {};
  }

  /// Work that is over sooner than what launches it is too small: a gap as short as that of a few launches, or one that
  /// the host spent in issuing. Longer work is not to blame.
  Cause small_or(Cause other, const Gap& gap) const {
    const bool is_launch =
        gap.when.seconds() <= kIssueLatencies * timeline_.latency || issuing_seconds(gap) >= 0.5 * gap.when.seconds();
    return is_launch && span_of(*gap.next).when.seconds() < gap.when.seconds() ? Cause::small_work : other;
  }

  /// Seconds of a gap in which the host issued the operation that ended it, or what came before that. Calls in which
  /// the host waits are no issue.
  double issuing_seconds(const Gap& gap) const {
    double seconds = 0;
    double until = gap.when.end;  // operations of one graph share a call
    for (std::size_t i = *gap.next + 1; i-- > 0 && !timeline_.issued.empty();) {
      if (!timeline_.same_thread(i, *gap.next)) continue;
      const Interval& call = timeline_.issued[i];
      if (call.end <= gap.when.start) break;
      if (is_work(operation(i)) ? holds_host(timeline_, span_of(i)) : !is_mark(operation(i))) continue;
      seconds += overlap_of(call, {gap.when.start, until});
      until = std::min(until, call.start);
    }
    return seconds;
  }

  /// Whether, behind the operation that ended the gap, one was issued that could have run in it.
  bool another_was_ready(const Gap& gap) const {
    const double middle = gap.when.start + 0.5 * gap.when.seconds();
    std::size_t at = span_of_.at(*gap.next);
    for (int looked_at = 0; looked_at < kNear && ++at < timeline_.spans.size(); ++looked_at) {
      const Span& other = timeline_.spans[at];
      if (engine_of(operation(other.operation)) != gap.engine || other.when.start < gap.when.end) continue;
      if (analysis_.waits[at].until <= middle) return true;
    }
    return false;
  }

  Cause held_the_host(const Gap& gap, std::optional<std::size_t> blocker) const {
    if (!blocker) return small_or(Cause::late_issue, gap);
    if (!is_work(operation(*blocker)) || !holds_host(timeline_, span_of(*blocker))) return Cause::late_issue;
    return is_copy(operation(*blocker)) ? copies_that_hold() : Cause::blocking_launches;
  }

  /// The gap that the operation could have filled, if another was not taken first that had been issued before it.
  const Gap* behind_unready(std::size_t index) const {
    const double ready = wait_of(index).until;
    const Engine engine = engine_of(operation(index));
    const auto at = span_of_.at(index);
    for (std::size_t i = at; i-- > 0 && at - i < std::size_t{kNear};) {
      const Span& other = timeline_.spans[i];
      if (engine_of(operation(other.operation)) != engine || other.when.end > span_of(index).when.start) continue;
      const auto gap = gap_before_.find(other.operation);
      if (gap == gap_before_.end() || unheld(*gap->second)) continue;
      const Interval& idle = gap->second->when;
      if (idle.end <= ready) return nullptr;  // and so do earlier gaps
      if (ready <= idle.start + 0.5 * idle.seconds()) return gap->second;
    }
    return nullptr;
  }

  const Timeline& timeline_;
  const Recording& recording_;
  const TimelineAnalysis& analysis_;
  std::map<std::size_t, std::size_t> span_of_;    ///< by operation: which span
  std::map<std::size_t, const Gap*> gap_before_;  ///< by operation: the gap that it ended
};

}  // namespace scanlab::streams
