#include "harness/streams/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace scanlab::streams {

namespace {

constexpr double kStandsOut = 0.05;    // of the makespan
constexpr double kSaturated = 0.85;    // of the makespan
constexpr double kMilliseconds = 1e3;  // a second
constexpr int kNear = 64;              // operations before or behind another that are looked at

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Gaps that have a cause in common.
struct Sum {
  double seconds = 0;
  int gaps = 0;
  Gap longest;  ///< of these; its `next` and `blocker` are those that are to blame

  void add(double gap_seconds, const Gap& to_blame) {
    if (gaps++ == 0 || to_blame.when.seconds() > longest.when.seconds()) longest = to_blame;
    seconds += gap_seconds;
  }
};

class Doctor {
 public:
  Doctor(const Timeline& timeline, const TimelineAnalysis& analysis)
      : timeline_(timeline), recording_(*timeline.recording), analysis_(analysis) {}

  std::vector<Diagnosis> diagnose() {
    if (analysis_.makespan <= 0) return {};
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) span_of_[timeline_.spans[i].operation] = i;
    for (const Gap& gap : analysis_.gaps) {
      if (gap.next) gap_before_[*gap.next] = &gap;
    }
    for (const Gap& gap : analysis_.gaps) {
      if (gap.engine == busiest() && gap.next) blame(gap);
    }
    copies_that_hold_the_host();
    default_stream();
    few_streams();
    find(Cause::too_few_buffers, fmt::format("{} buffers an array", recording_.buffers));
    shared_queue();
    find(Cause::issue_order, "an operation was ready, behind another that was issued before and was not");
    small_work();
    few_chunks();
    std::erase_if(found_, [&](const Diagnosis& each) { return each.seconds < kStandsOut * analysis_.makespan; });
    std::ranges::stable_sort(found_, std::greater<>(), &Diagnosis::seconds);
    saturated_engine();
    return std::move(found_);
  }

 private:
  const Operation& operation(std::size_t index) const { return recording_.operations[index]; }
  const Interval& when(std::size_t index) const { return timeline_.spans[span_of_.at(index)].when; }
  const Wait& wait_of(std::size_t index) const { return analysis_.waits[span_of_.at(index)]; }

  /// Follows the operation that ended a gap back through the earlier steps of its chunk, to what held them.
  void blame(const Gap& gap) {
    const auto to_blame = [&](Cause cause, const Gap& shown) { sums_[cause].add(gap.when.seconds(), shown); };
    if (gap.reason == Idle::latency) return to_blame(Cause::small_work, gap);
    if (another_was_ready(gap)) return to_blame(Cause::issue_order, gap);
    std::size_t at = *gap.next;
    for (int steps = 0; steps < kNear; ++steps) {
      if (const Gap* const behind = behind_one_not_ready(at)) return to_blame(Cause::issue_order, *behind);
      const Wait& wait = wait_of(at);
      Gap shown = gap;
      if (const auto own = gap_before_.find(at); own != gap_before_.end()) shown = *own->second;
      shown.reason = wait.reason;
      shown.next = at;
      shown.blocker = wait.blocker;
      if (wait.reason == Idle::default_stream) return to_blame(Cause::default_stream, shown);
      if (wait.reason == Idle::queue) return to_blame(Cause::shared_queue, shown);
      if (wait.reason == Idle::host) return to_blame(held_the_host(wait), shown);
      if (!wait.blocker || !span_of_.contains(*wait.blocker)) return;
      const Operation& waits = operation(at);
      const Operation& blocker = operation(*wait.blocker);
      const bool carry = waits.kind == OperationKind::kernel && blocker.kind == OperationKind::kernel;
      if (waits.chunk.index != blocker.chunk.index && !carry) {
        return to_blame(wait.reason == Idle::event ? Cause::too_few_buffers : Cause::too_few_streams, shown);
      }
      if (when(*wait.blocker).end <= gap.when.start) return;  // nothing but the work itself
      at = *wait.blocker;
    }
  }

  /// Whether, behind the operation that ended the gap, one was issued that could have run in it.
  bool another_was_ready(const Gap& gap) const {
    const double middle = gap.when.start + 0.5 * gap.when.seconds();
    std::size_t at = span_of_.at(*gap.next);
    for (int looked_at = 0; looked_at < kNear && ++at < timeline_.spans.size(); ++looked_at) {
      const std::size_t other = timeline_.spans[at].operation;
      if (engine_of(operation(other)) != gap.engine || when(other).start < gap.when.end) continue;
      if (wait_of(other).until <= middle) return true;
    }
    return false;
  }

  Cause held_the_host(const Wait& wait) const {
    if (!wait.blocker || !is_work(operation(*wait.blocker))) return Cause::small_work;
    return recording_.job.memory == HostMemory::pageable ? Cause::pageable_memory : Cause::synchronous_copies;
  }

  /// The gap that the operation could have filled, if another was not taken first that had been issued before it.
  const Gap* behind_one_not_ready(std::size_t index) const {
    const double ready = wait_of(index).until;
    const Engine engine = engine_of(operation(index));
    const auto at = span_of_.at(index);
    for (std::size_t i = at; i-- > 0 && at - i < std::size_t{kNear};) {
      const Span& other = timeline_.spans[i];
      if (engine_of(operation(other.operation)) != engine || other.when.end > when(index).start) continue;
      const auto gap = gap_before_.find(other.operation);
      if (gap == gap_before_.end() || gap->second->reason == Idle::latency) continue;
      const Interval& idle = gap->second->when;
      if (idle.end <= ready) return nullptr;  // earlier gaps likewise
      if (ready <= idle.start + 0.5 * idle.seconds()) return gap->second;
    }
    return nullptr;
  }

  void find(Cause cause, double seconds, const std::string& evidence) { found_.push_back({cause, seconds, evidence}); }
  void find(Cause cause, const std::string& evidence) {
    const auto sum = sums_.find(cause);
    if (sum == sums_.end()) return;
    find(
        cause, sum->second.seconds,
        fmt::format("{}; {} gaps, such as: {}", evidence, sum->second.gaps, describe(recording_, sum->second.longest)));
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
    const auto in_it = std::ranges::count_if(timeline_.spans, [&](const Span& span) {
      return operation(span.operation).stream.kind == StreamKind::legacy_default;
    });
    find(Cause::default_stream, fmt::format("{} operations are in the legacy default stream", in_it));
  }

  void few_streams() {
    std::set<std::pair<StreamKind, int>> streams;
    for (const Span& span : timeline_.spans) {
      const Stream& stream = operation(span.operation).stream;
      streams.insert({stream.kind, stream.index});
    }
    find(Cause::too_few_streams, fmt::format("{} chunks in {} streams: a chunk stood behind another in its stream",
                                             recording_.job.chunks, streams.size()));
  }

  void shared_queue() {
    std::map<unsigned, std::set<int>> of_channel;
    for (const Span& span : timeline_.spans) {
      if (span.channel) of_channel[*span.channel].insert(operation(span.operation).stream.index);
    }
    const auto shared =
        std::ranges::count_if(of_channel, [](const auto& channel) { return channel.second.size() > 1; });
    find(Cause::shared_queue,
         fmt::format("{} of {} hardware queues served more than one stream", shared, of_channel.size()));
  }

  void small_work() {
    std::vector<double> work;
    std::vector<double> issue;
    for (const Span& span : timeline_.spans) {
      work.push_back(span.when.seconds());
      if (!timeline_.issued.empty()) issue.push_back(timeline_.issued[span.operation].seconds());
    }
    const std::string issued = recording_.captured
                                   ? "and all are issued as one graph"
                                   : fmt::format("and the host {:.1f} us to issue", 1e6 * median(issue));
    find(Cause::small_work, fmt::format("{} operations; the median takes the device {:.1f} us {}", work.size(),
                                        1e6 * median(work), issued));
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
  std::map<std::size_t, std::size_t> span_of_;    ///< by operation: which span
  std::map<std::size_t, const Gap*> gap_before_;  ///< by operation: the gap that it ended
  std::map<Cause, Sum> sums_;
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
    case Cause::too_few_buffers:
      return "too few device buffers";
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
