#include "harness/timeline/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>
#include <utility>

#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

namespace {

constexpr double kRounding = 1e-9;

constexpr std::size_t index(Engine engine) { return static_cast<std::size_t>(engine); }

Idle idle_of(Rule rule) {
  return rule == Rule::stream_order ? Idle::stream_order : rule == Rule::event ? Idle::event : Idle::default_stream;
}

double seconds_of(const std::vector<Interval>& disjoint) {
  double seconds = 0;
  for (const Interval& when : disjoint) seconds += when.seconds();
  return seconds;
}

class Analyst {
 public:
  explicit Analyst(const Timeline& timeline)
      : timeline_(timeline),
        recording_(*timeline.recording),
        order_(ordering(recording_)),
        span_of_(recording_.operations.size(), nullptr) {
    for (const Span& span : timeline.spans) {
      span_of_[span.operation] = &span;
      engines_[index(engine_of(recording_.operations[span.operation]))].push_back(&span);
    }
    for (auto& spans : engines_) {
      std::ranges::sort(spans, {}, [](const Span* span) { return span->when.start; });
    }
    by_end_.reserve(timeline.spans.size());
    for (const Span& span : timeline.spans) by_end_.push_back(&span);
    std::ranges::sort(by_end_, {}, [](const Span* span) { return span->when.end; });
  }

  TimelineAnalysis analyse() const {
    TimelineAnalysis result;
    result.makespan = timeline_.makespan();
    std::vector<Interval> all;
    for (const Span& span : timeline_.spans) {
      all.push_back(span.when);
      const Span* const before = before_on_engine(span);
      result.waits.push_back(what_held(span, before == nullptr ? 0 : before->when.end));
    }
    result.covered = seconds_of(joined(std::move(all)));
    for (const Engine engine : kEngines) {
      result.busy[index(engine)] = busy_seconds(timeline_, engine);
      read_gaps(engine, result);
    }
    std::ranges::stable_sort(result.gaps, {}, [](const Gap& gap) { return gap.when.start; });
    result.path = path();
    return result;
  }

 private:
  void read_gaps(Engine engine, TimelineAnalysis& result) const {
    double at = 0;  // the engine is accounted for up to here
    for (const Span* span : engines_[index(engine)]) {
      if (span->when.start > at) {
        const Wait cause = cause_of_gap(*span, at);
        result.gaps.push_back({engine, {at, span->when.start}, cause.reason, span->operation, cause.blocker});
      }
      at = std::max(at, span->when.end);
    }
    if (at < result.makespan) result.gaps.push_back({engine, {at, result.makespan}, Idle::no_more_work, {}, {}});
  }

  bool takes_long(std::size_t call) const {
    return timeline_.issued[call].seconds() > kIssueLatencies * timeline_.latency;
  }

  /// The longest of the calls that kept the host's thread from issuing the operation, if they took most of the time.
  std::optional<std::size_t> what_held_the_host(std::size_t operation, const Interval& late) const {
    if (recording_.captured) return {};
    std::optional<std::size_t> longest;
    double longest_seconds = 0;
    double seconds = 0;
    double until = late.end;  // operations of one graph share a call
    for (std::size_t i = operation; i-- > 0;) {
      if (!timeline_.same_thread(i, operation)) continue;
      if (timeline_.issued[i].end <= late.start) break;
      const bool holds =
          span_of_[i] != nullptr ? holds_host(timeline_, *span_of_[i]) : !is_mark(recording_.operations[i]);
      if (!holds && !takes_long(i)) continue;
      const double within = overlap_of(timeline_.issued[i], {late.start, until});
      until = std::min(until, timeline_.issued[i].start);
      seconds += within;
      if (within <= longest_seconds) continue;
      longest = i;
      longest_seconds = within;
    }
    return seconds >= 0.5 * late.seconds() ? longest : std::nullopt;
  }

  /// The last of what CUDA's rules and the host's issue made it wait for.
  Wait latest_rule(const Span& span, double engine_free) const {
    Wait latest;
    for (const auto& [operation, rule] : order_.device[span.operation]) {
      const Span* const before = span_of_[operation];
      if (before == nullptr || before->when.end < latest.until) continue;
      latest = {before->when.end, idle_of(rule), operation};
    }
    if (timeline_.issued.empty()) return latest;
    // Issued in the course of its call: the device may begin before the call returns.
    const double issued = timeline_.issued[span.operation].start;
    if (issued < latest.until) return latest;
    return {issued, Idle::host, what_held_the_host(span.operation, {std::max(latest.until, engine_free), issued})};
  }

  /// The same, or what was ahead, if the operation could have begun and its engine was free, and it did not.
  Wait what_held(const Span& span, double engine_free) const {
    if (span.held) return *span.held;
    const Wait rule = latest_rule(span, engine_free);
    if (span.when.start - std::max(rule.until, engine_free) <= timeline_.latency) return rule;
    return ahead_of(span).value_or(rule);
  }

  Wait cause_of_gap(const Span& span, double idle_since) const {
    const Wait held = what_held(span, idle_since);
    const double unexplained = span.when.start - std::max(held.until, idle_since);
    const bool mostly = unexplained >= 0.5 * (span.when.start - idle_since);
    const bool held_by_nothing = held.until <= idle_since || (unexplained > timeline_.latency && mostly);
    return held_by_nothing ? unheld(span, {idle_since, span.when.start}) : held;
  }

  /// Other processes, the operation's own call, or nothing.
  Wait unheld(const Span& span, const Interval& gap) const {
    if (overlap_of(timeline_.others, gap) >= 0.5 * gap.seconds()) return {gap.start, Idle::other_process, {}};
    const bool in_its_call = !timeline_.issued.empty() && !recording_.captured && takes_long(span.operation) &&
                             overlap_of(timeline_.issued[span.operation], gap) >= 0.5 * gap.seconds();
    if (in_its_call) return {gap.start, Idle::host, span.operation};
    return {gap.start, Idle::latency, {}};
  }

  /// Done just as it began: a copy the other way on the only copy engine; or of another stream, issued before it, in
  /// the same hardware work queue.
  std::optional<Wait> ahead_of(const Span& span) const {
    const auto first = std::ranges::lower_bound(by_end_, span.when.start - timeline_.latency, {},
                                                [](const Span* other) { return other->when.end; });
    for (auto other = first; other != by_end_.end() && (*other)->when.end <= span.when.start + kRounding; ++other) {
      const Operation& ahead = recording_.operations[(*other)->operation];
      const Operation& behind = recording_.operations[span.operation];
      const bool other_way = is_copy(ahead) && is_copy(behind) && ahead.kind != behind.kind;
      if (other_way && timeline_.copy_engines == 1)
        return Wait{(*other)->when.end, Idle::other_way, (*other)->operation};
      const bool issued_before = (*other)->operation < span.operation;
      const bool other_stream = ahead.stream != behind.stream;
      if (span.channel && issued_before && other_stream && (*other)->channel == span.channel) {
        return Wait{(*other)->when.end, Idle::queue, (*other)->operation};
      }
    }
    return {};
  }

  /// The latest on its engine that ended before `span` began.
  const Span* before_on_engine(const Span& span) const {
    const auto& spans = engines_[index(engine_of(recording_.operations[span.operation]))];
    auto at = std::ranges::lower_bound(spans, span.when.start, {}, [](const Span* each) { return each->when.start; });
    const Span* latest = nullptr;
    constexpr int kNear = 64;  // kernels may overlap: not always the neighbour
    for (int i = 0; i < kNear && at != spans.begin(); ++i) {
      --at;
      const bool over = (*at)->when.end <= span.when.start;
      if (over && (latest == nullptr || (*at)->when.end > latest->when.end)) latest = *at;
    }
    return latest;
  }

  /// The span that ended last among those for which the host's thread waited, at its last wait before the operation.
  const Span* awaited_by_the_host(std::size_t operation) const {
    const Span* latest = nullptr;
    for (std::size_t i = operation; !recording_.captured && latest == nullptr && i-- > 0;) {
      if (!timeline_.same_thread(i, operation)) continue;
      const Span* const own = span_of_[i];
      if (own != nullptr && holds_host(timeline_, *own)) latest = own;
      for (const std::size_t other : order_.host[i]) {
        const Span* const span = span_of_[other];
        if (span != nullptr && (latest == nullptr || span->when.end > latest->when.end)) latest = span;
      }
    }
    return latest;
  }

  /// Back from the operation that ended last, each time to what held it up last.
  std::vector<PathStep> path() const {
    std::vector<PathStep> steps;
    const Span* span = by_end_.empty() ? nullptr : by_end_.back();
    while (span != nullptr && steps.size() < timeline_.spans.size()) {
      const Span* const engine_before = before_on_engine(*span);
      Wait cause = what_held(*span, engine_before == nullptr ? 0 : engine_before->when.end);
      if (engine_before != nullptr && engine_before->when.end > cause.until) {
        cause = {engine_before->when.end, Idle::latency, engine_before->operation};
      }
      const Span* const next = cause.reason == Idle::host ? awaited_by_the_host(span->operation)
                               : cause.blocker            ? span_of_[*cause.blocker]
                                                          : nullptr;
      if (cause.reason == Idle::host && next != nullptr) cause.until = next->when.end;
      steps.push_back({span->operation, span->when, span->when.start - cause.until});
      if (next != nullptr && next->when.end > span->when.end) break;  // simulated or measured wrongly: not a path
      span = next;
    }
    std::ranges::reverse(steps);
    return steps;
  }

  const Timeline& timeline_;
  const Recording& recording_;
  Ordering order_;
  std::vector<const Span*> span_of_;  ///< by operation; null where it is no work
  std::array<std::vector<const Span*>, kEngines.size()> engines_;
  std::vector<const Span*> by_end_;
};

}  // namespace

const char* name(Engine engine) {
  return engine == Engine::copy_in ? "copies in" : engine == Engine::compute ? "kernels" : "copies out";
}

Engine engine_of(const Operation& operation) {
  return operation.kind == OperationKind::copy_in    ? Engine::copy_in
         : operation.kind == OperationKind::copy_out ? Engine::copy_out
                                                     : Engine::compute;
}

const char* name(Idle reason) {
  static constexpr std::array kNames{"stream order",
                                     "an event",
                                     "the legacy default stream",
                                     "the host's issue",
                                     "a shared hardware work queue",
                                     "its engine, which copied the other way",
                                     "launches that had not started",
                                     "another process or context",
                                     "latency",
                                     "no more work"};
  return kNames.at(static_cast<std::size_t>(reason));
}

double Timeline::makespan() const {
  double end = 0;
  for (const Span& span : spans) end = std::max(end, span.when.end);
  return end;
}

double TimelineAnalysis::serial() const { return std::accumulate(busy.begin(), busy.end(), 0.0); }

double TimelineAnalysis::overlap() const {
  const double possible = serial() - *std::ranges::max_element(busy);
  // Sums of the same times in another order may differ in their last digits.
  return possible <= 0 ? 1 : std::clamp((serial() - covered) / possible, 0.0, 1.0);
}

std::string TimelineAnalysis::overlap_in_words() const {
  const bool alone = serial() <= *std::ranges::max_element(busy);
  return fmt::format(
      "{}; no engine at work for {:.3f} ms",
      alone ? "one engine had all the work" : fmt::format("overlap {:.0f}% of what is possible", 100 * overlap()),
      1e3 * (makespan - covered));
}

double TimelineAnalysis::idle(Engine engine, Idle reason) const {
  double seconds = 0;
  for (const Gap& gap : gaps) {
    if (gap.engine == engine && gap.reason == reason) seconds += gap.when.seconds();
  }
  return seconds;
}

double overlap_of(const Interval& a, const Interval& b) {
  return std::max(0.0, std::min(a.end, b.end) - std::max(a.start, b.start));
}

bool holds_host(const Timeline& timeline, const Span& span) {
  const Recording& recording = *timeline.recording;
  if (host_wait(recording, recording.operations[span.operation]) != HostWait::none) return true;
  if (recording.captured || timeline.issued.empty()) return false;
  return span.when.seconds() >= timeline.latency && timeline.issued[span.operation].end >= span.when.end;
}

std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  std::vector<Interval> all;
  for (const Interval& when : intervals) {
    if (!all.empty() && when.start <= all.back().end) {
      all.back().end = std::max(all.back().end, when.end);
    } else {
      all.push_back(when);
    }
  }
  return all;
}

double overlap_of(const std::vector<Interval>& all, const Interval& when) {
  double seconds = 0;
  auto each = std::ranges::lower_bound(all, when.start, {}, &Interval::end);
  for (; each != all.end() && each->start < when.end; ++each) seconds += overlap_of(*each, when);
  return seconds;
}

double bytes_of(const Recording& recording, const Span& span) {
  return static_cast<double>(recording.operations[span.operation].chunk.items) *
         static_cast<double>(recording.job.workload->about.item_bytes());
}

std::vector<Interval> at_work(const Timeline& timeline, Engine engine) {
  std::vector<Interval> spans;
  for (const Span& span : timeline.spans) {
    if (engine_of(timeline.recording->operations[span.operation]) == engine) spans.push_back(span.when);
  }
  return joined(std::move(spans));
}

double busy_seconds(const Timeline& timeline, Engine engine) { return seconds_of(at_work(timeline, engine)); }

TimelineAnalysis analyse(const Timeline& timeline) { return Analyst(timeline).analyse(); }

std::string describe(const Recording& recording, const Gap& gap) {
  const std::string idle =
      fmt::format("{} idle from {:.3f} to {:.3f} ms", name(gap.engine), 1e3 * gap.when.start, 1e3 * gap.when.end);
  if (!gap.next) return idle + ": no more work";
  const std::string next = describe(recording.operations[*gap.next]);
  if (gap.reason == Idle::latency) return fmt::format("{}: nothing held {}", idle, next);
  if (!gap.blocker) return fmt::format("{}: {} waited for {}", idle, next, name(gap.reason));
  if (gap.blocker == gap.next) return fmt::format("{}: the host was at the call that issued {}", idle, next);
  return fmt::format("{}: {} waited for {} ({})", idle, next, describe(recording.operations[*gap.blocker]),
                     name(gap.reason));
}

std::string describe(const Timeline& timeline, const TimelineAnalysis& analysis, double shortest_gap) {
  std::string text;
  const auto to = std::back_inserter(text);
  const Recording& recording = *timeline.recording;
  fmt::format_to(to, "makespan {:.3f} ms; engines at work {:.3f} ms in all; {}\n", 1e3 * analysis.makespan,
                 1e3 * analysis.serial(), analysis.overlap_in_words());
  for (const Engine engine : kEngines) {
    const double busy = analysis.busy[index(engine)];
    fmt::format_to(to, "{:<10}  busy {:>9.3f} ms ({:>3.0f}%)  idle {:>9.3f} ms", name(engine), 1e3 * busy,
                   analysis.makespan > 0 ? 100 * busy / analysis.makespan : 0, 1e3 * analysis.idle(engine));
    const char* separator = ": ";
    for (int i = 0; i <= static_cast<int>(Idle::no_more_work); ++i) {
      const auto reason = static_cast<Idle>(i);
      const double seconds = analysis.idle(engine, reason);
      if (seconds < 1e-6) continue;
      fmt::format_to(to, "{}{} {:.3f}", separator, name(reason), 1e3 * seconds);
      separator = ", ";
    }
    fmt::format_to(to, "\n");
  }
  std::array<double, kEngines.size()> on_path{};
  double waited = 0;
  for (const PathStep& step : analysis.path) {
    on_path[index(engine_of(recording.operations[step.operation]))] += step.when.seconds();
    waited += std::max(0.0, step.waited);
  }
  fmt::format_to(to, "critical path: {} operations", analysis.path.size());
  for (const Engine engine : kEngines) {
    fmt::format_to(to, ", {} {:.3f} ms", name(engine), 1e3 * on_path[index(engine)]);
  }
  fmt::format_to(to, ", between them {:.3f} ms\n", 1e3 * waited);
  constexpr std::ptrdiff_t kMax = 20;
  const auto is_long = [&](const Gap& gap) { return gap.when.seconds() >= shortest_gap; };
  auto gaps = analysis.gaps | std::views::filter(is_long);
  for (const Gap& gap : gaps | std::views::take(kMax)) fmt::format_to(to, "  {}\n", describe(recording, gap));
  const auto more = std::ranges::distance(gaps) - kMax;
  if (more > 0) fmt::format_to(to, "  and {} more such gaps\n", more);
  return text;
}

}  // namespace scanlab::streams
