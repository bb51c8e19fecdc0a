#include "harness/streams/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace scanlab::streams {

namespace {

constexpr double kStandsOut = 0.05;    // of the makespan
constexpr double kSaturated = 0.85;    // of the makespan
constexpr double kMilliseconds = 1e3;  // a second

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Gaps that have something in common.
struct Sum {
  std::array<double, kEngines.size()> seconds{};  ///< by engine
  int gaps = 0;
  const Gap* longest = nullptr;

  void add(const Gap& gap) {
    seconds[static_cast<std::size_t>(gap.engine)] += gap.when.seconds();
    ++gaps;
    if (longest == nullptr || gap.when.seconds() > longest->when.seconds()) longest = &gap;
  }
  /// Of the engine that lost most: engines wait at the same time, so their losses do not add up.
  double most() const { return *std::ranges::max_element(seconds); }
};

class Doctor {
 public:
  Doctor(const Timeline& timeline, const TimelineAnalysis& analysis)
      : timeline_(timeline), recording_(*timeline.recording), analysis_(analysis) {}

  std::vector<Diagnosis> diagnose() {
    if (analysis_.makespan <= 0) return {};
    copies_that_hold_the_host();
    default_stream();
    too_few_streams();
    shared_queue();
    issue_order();
    small_work();
    few_chunks();
    std::erase_if(found_, [&](const Diagnosis& each) { return each.seconds < kStandsOut * analysis_.makespan; });
    std::ranges::stable_sort(found_, std::greater<>(), &Diagnosis::seconds);
    saturated_engine();
    return std::move(found_);
  }

 private:
  const Operation& operation(std::size_t index) const { return recording_.operations[index]; }

  Sum gaps_where(const std::function<bool(const Gap&)>& fits) const {
    Sum sum;
    for (const Gap& gap : analysis_.gaps) {
      if (gap.next && fits(gap)) sum.add(gap);
    }
    return sum;
  }

  void find(Cause cause, double seconds, const std::string& evidence) { found_.push_back({cause, seconds, evidence}); }
  void find(Cause cause, const Sum& sum, const std::string& evidence) {
    if (sum.gaps == 0) return;
    find(cause, sum.most(),
         fmt::format("{}; {} gaps, the longest: {}", evidence, sum.gaps, describe(recording_, *sum.longest)));
  }

  /// GB/s of all copies of one kind, by the device's time.
  double rate(Engine engine) const {
    double bytes = 0;
    double seconds = 0;
    for (const Span& span : timeline_.spans) {
      if (engine_of(operation(span.operation)) != engine) continue;
      bytes += static_cast<double>(operation(span.operation).chunk.items) *
               static_cast<double>(recording_.job.workload->about.item_bytes());
      seconds += span.when.seconds();
    }
    return seconds > 0 ? bytes / seconds / 1e9 : 0;
  }

  void copies_that_hold_the_host() {
    double in_calls = 0;
    int copies = 0;
    bool synchronous = false;
    for (std::size_t i = 0; i < recording_.operations.size(); ++i) {
      if (!is_work(operation(i)) || engine_of(operation(i)) == Engine::compute) continue;
      ++copies;
      synchronous = synchronous || operation(i).synchronous;
      if (!timeline_.issued.empty()) in_calls += timeline_.issued[i].seconds();
    }
    const bool pageable = recording_.job.memory == HostMemory::pageable;
    if (copies == 0 || recording_.captured || !(pageable || synchronous)) return;
    find(
        pageable ? Cause::pageable_memory : Cause::synchronous_copies, in_calls,
        fmt::format("the host was in {} calls of {} for {:.3f} of {:.3f} ms, and issued nothing meanwhile; copies ran "
                    "at {:.1f} GB/s in, {:.1f} GB/s out",
                    copies, synchronous ? "cudaMemcpy" : "cudaMemcpyAsync on pageable memory", kMilliseconds * in_calls,
                    kMilliseconds * analysis_.makespan, rate(Engine::copy_in), rate(Engine::copy_out)));
  }

  void default_stream() {
    int in_it = 0;
    for (const Span& span : timeline_.spans) {
      if (operation(span.operation).stream.kind == StreamKind::legacy_default) ++in_it;
    }
    find(Cause::default_stream, gaps_where([](const Gap& gap) { return gap.reason == Idle::default_stream; }),
         fmt::format("{} operations are in the legacy default stream", in_it));
  }

  void too_few_streams() {
    std::set<std::pair<StreamKind, int>> streams;
    for (const Span& span : timeline_.spans) {
      const Stream& stream = operation(span.operation).stream;
      streams.insert({stream.kind, stream.index});
    }
    const Sum sum = gaps_where([&](const Gap& gap) {
      return gap.reason == Idle::stream_order && gap.blocker &&
             operation(*gap.blocker).chunk.index != operation(*gap.next).chunk.index;
    });
    find(Cause::too_few_streams, sum,
         fmt::format("{} chunks in {} streams: a chunk stood behind another in its stream", recording_.job.chunks,
                     streams.size()));
  }

  void shared_queue() {
    std::map<unsigned, std::set<int>> of_channel;
    for (const Span& span : timeline_.spans) {
      if (span.channel) of_channel[*span.channel].insert(operation(span.operation).stream.index);
    }
    int shared = 0;
    for (const auto& [channel, streams] : of_channel) shared += streams.size() > 1 ? 1 : 0;
    find(Cause::shared_queue, gaps_where([](const Gap& gap) { return gap.reason == Idle::queue; }),
         fmt::format("{} of {} hardware queues served more than one stream", shared, of_channel.size()));
  }

  /// Gaps in which an operation for the idle engine was ready, and issued, but stood behind one issued before it.
  void issue_order() {
    const auto all = dependencies(recording_);
    std::vector<double> end(recording_.operations.size());
    for (const Span& span : timeline_.spans) end[span.operation] = span.when.end;
    std::map<Engine, std::vector<std::pair<const Span*, double>>> ready;  // by issue, with when each was
    for (const Span& span : timeline_.spans) {
      double since = timeline_.issued.empty() ? 0 : timeline_.issued[span.operation].start;
      for (const Dependency& dependency : all[span.operation]) since = std::max(since, end[dependency.operation]);
      ready[engine_of(operation(span.operation))].emplace_back(&span, since);
    }
    Sum sum;
    for (const Gap& gap : analysis_.gaps) {
      if (!gap.next || gap.reason == Idle::latency || gap.reason == Idle::queue) continue;
      constexpr int kNear = 64;  // operations behind it that are looked at
      int looked_at = 0;
      for (const auto& [span, since] : ready[gap.engine]) {
        if (span->operation <= *gap.next) continue;
        if (++looked_at > kNear) break;
        if (since > gap.when.start + 0.5 * gap.when.seconds() || span->when.start < gap.when.end) continue;
        sum.add(gap);
        break;
      }
    }
    find(Cause::issue_order, sum, "an operation was ready while its engine was idle, behind one issued before it");
  }

  void small_work() {
    if (timeline_.issued.empty()) return;
    const Sum sum = gaps_where(
        [](const Gap& gap) { return gap.reason == Idle::latency || (gap.reason == Idle::host && !gap.blocker); });
    std::vector<double> work;
    std::vector<double> issue;
    for (const Span& span : timeline_.spans) {
      work.push_back(span.when.seconds());
      issue.push_back(timeline_.issued[span.operation].seconds());
    }
    find(Cause::small_work, sum,
         fmt::format("{} operations; the median takes the device {:.1f} us and the host {:.1f} us to issue",
                     work.size(), 1e6 * median(work), recording_.captured ? 0.0 : 1e6 * median(issue)));
  }

  Engine busiest() const {
    return kEngines[static_cast<std::size_t>(std::ranges::max_element(analysis_.busy) - analysis_.busy.begin())];
  }

  void few_chunks() {
    const Engine engine = busiest();
    const Span* first = nullptr;
    double last = 0;
    for (const Span& span : timeline_.spans) {
      if (engine_of(operation(span.operation)) != engine) continue;
      if (first == nullptr || span.when.start < first->when.start) first = &span;
      last = std::max(last, span.when.end);
    }
    if (first == nullptr) return;
    const double fill = first->when.start;
    const double drain = analysis_.makespan - last;
    find(Cause::few_chunks, fill + drain,
         fmt::format("{} chunks: the busiest engine ({}) had nothing to do for {:.3f} ms before its first chunk and "
                     "{:.3f} ms behind its last",
                     recording_.job.chunks, name(engine), kMilliseconds * fill, kMilliseconds * drain));
  }

  void saturated_engine() {
    const Engine engine = busiest();
    const double busy = analysis_.busy[static_cast<std::size_t>(engine)];
    if (busy < kSaturated * analysis_.makespan) return;
    find(Cause::saturated_engine, busy,
         fmt::format("{} are at work for {:.0f}% of the makespan: any order of issue gains {:.3f} ms at most",
                     name(engine), 100 * busy / analysis_.makespan, kMilliseconds * (analysis_.makespan - busy)));
  }

  const Timeline& timeline_;
  const Recording& recording_;
  const TimelineAnalysis& analysis_;
  std::vector<Diagnosis> found_;
};

}  // namespace

const char* name(Cause cause) {
  switch (cause) {
    case Cause::pageable_memory:
      return "pageable memory";
    case Cause::synchronous_copies:
      return "synchronous copies";
    case Cause::default_stream:
      return "the legacy default stream";
    case Cause::too_few_streams:
      return "too few streams";
    case Cause::shared_queue:
      return "streams that share a hardware queue";
    case Cause::issue_order:
      return "the order of issue";
    case Cause::small_work:
      return "work too small for its launch";
    case Cause::few_chunks:
      return "too few chunks";
    case Cause::saturated_engine:
      break;
  }
  return "one engine is saturated";
}

std::vector<Diagnosis> diagnose(const Timeline& timeline, const TimelineAnalysis& analysis) {
  return Doctor(timeline, analysis).diagnose();
}

}  // namespace scanlab::streams
