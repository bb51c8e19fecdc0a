#include "harness/timeline/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/timeline/contention.hpp"
#include "harness/timeline/gap_causes.hpp"

namespace scanlab::streams {

namespace {

constexpr double kStandsOut = 0.05;      // part of the makespan
constexpr double kSaturated = 0.85;      // part of the makespan
constexpr double kOften = 0.1;           // of the seconds of a cause
constexpr double kAboutAsBusy = 0.95;    // of the busiest engine
constexpr double kSmallCopy = 64 << 10;  // bytes

std::string counted(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// The gaps with one cause.
struct Sum {
  double seconds = 0;
  std::size_t gaps = 0;
  Gap longest;                             ///< of these, as Blame::shown
  std::map<std::string, double> at_calls;  ///< seconds, by the call in which the host was
};

/// The gaps with a cause that a record names.
struct Kept {
  double seconds = 0;
  std::size_t gaps = 0;
};

class Doctor {
 public:
  Doctor(const Timeline& timeline, const TimelineAnalysis& analysis)
      : timeline_(timeline), recording_(*timeline.recording), analysis_(analysis), causes_(timeline, analysis) {
    for (const Span& span : timeline.spans) {
      work_.push_back(span.when.seconds());
      if (!span.in_graph) begins_outside_.push_back(span.when.start);
      const Stream& stream = operation(span.operation).stream;
      streams_.insert({stream.kind, stream.index});
    }
    std::ranges::sort(begins_outside_);
  }

  std::vector<Diagnosis> diagnose() {
    if (analysis_.makespan <= 0) return {};
    busiest_ = busiest();
    read_busiest();
    calls_that_hold_the_host();
    default_stream();
    few_streams();
    find(Cause::too_few_buffers, recording_.buffers > 0 ? fmt::format("{} buffers an array", recording_.buffers)
                                                        : "how many buffers there are is not recorded");
    shared_queue();
    find(Cause::launch_rule,
         "what depends on a kernel begins once all earlier launches have started, and later ones wait for that kernel");
    find(Cause::issue_order, "an operation was ready, behind another that was issued before and was not");
    late_issue();
    find(Cause::other_process,
         fmt::format("it was at work for {:.3f} ms", 1e3 * overlap_of(timeline_.others, {0, analysis_.makespan})));
    if (const auto sum = sums_.find(Cause::latency); sum != sums_.end()) {
      find(Cause::latency, sum->second.seconds,
           fmt::format("{:.1f} us on average before an operation that nothing recorded held; the median operation "
                       "takes {:.1f} us",
                       1e6 * sum->second.seconds / static_cast<double>(sum->second.gaps), 1e6 * median(work_)));
    }
    kept_from_work();
    start_up_and_few_chunks();
    for (const Diagnosis& each : contention(timeline_)) join(each);
    std::erase_if(found_, [&](const Diagnosis& each) { return each.seconds < kStandsOut * analysis_.makespan; });
    std::ranges::stable_sort(found_, std::greater<>(), &Diagnosis::seconds);
    saturated_engine();
    return std::move(found_);
  }

 private:
  const Operation& operation(std::size_t index) const { return recording_.operations[index]; }
  double busy(Engine engine) const { return analysis_.busy[static_cast<std::size_t>(engine)]; }

  // ---------------------------------------------------------------------------------------------- the busiest engine

  /// Returns the last to end among the engines that are about as busy as the busiest. Engines that are idle at the end
  /// wait for its work, so that their idle time needs no explanation.
  Engine busiest() const {
    std::array<double, kEngines.size()> ends{};
    for (const Span& span : timeline_.spans) {
      double& end = ends[static_cast<std::size_t>(engine_of(operation(span.operation)))];
      end = std::max(end, span.when.end);
    }
    const double most = *std::ranges::max_element(analysis_.busy);
    std::size_t last = ends.size();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (analysis_.busy[i] >= kAboutAsBusy * most && (last == ends.size() || ends[i] >= ends[last])) last = i;
    }
    return kEngines[last];
  }

  /// Divides the idle time of the busiest engine: before any operation of the device, before its own first operation,
  /// between its operations, and after its last one.
  void read_busiest() {
    start_up_ = analysis_.makespan;
    for (const Span& span : timeline_.spans) start_up_ = std::min(start_up_, span.when.start);
    loads_first_ = overlap_of(timeline_.loads, {0, start_up_});
    if (loads_first_ > 0) keep_from_work(Cause::lazy_loading, loads_first_);
    for (const Span& span : timeline_.spans) {
      if (engine_of(operation(span.operation)) == busiest_) ended_[span.when.end] = &span;
    }
    for (const Gap& gap : analysis_.gaps) {
      if (gap.engine != busiest_) continue;
      if (!gap.next) {
        behind_last(gap);
        continue;
      }
      const std::optional<Blame> to_blame = causes_.cause_of(gap);
      const bool is_first = gap.when.start <= 0;
      if (is_first && (!to_blame || causes_.wait_of(*to_blame->shown.next).until <= start_up_)) {
        fill_ = gap.when.end - start_up_;
      } else {
        divide(gap, to_blame, is_first ? gap.when.end - start_up_ : gap.when.seconds());
      }
    }
    // One alone is not between replays.
    for (const auto& [blame, seconds] : beside_graphs_) {
      if (beside_graphs_.size() > 1) {
        keep_from_work(Cause::outside_graph, seconds);
      } else {
        add(blame, seconds);
      }
    }
  }

  /// Deals a gap's seconds out to loads, to functions of the host, and to what is to blame for the rest.
  void divide(const Gap& gap, const std::optional<Blame>& to_blame, double seconds) {
    const double loading = gap.when.start > 0 ? overlap_of(timeline_.loads, gap.when) : 0;
    if (loading > 0) keep_from_work(Cause::lazy_loading, loading);
    const double of_host = std::min(seconds - loading, behind_host_function(gap));
    if (of_host > 0) keep_from_work(Cause::host_functions, of_host);
    seconds -= loading + std::max(0.0, of_host);
    if (is_beside_graph(gap, to_blame)) {
      beside_graphs_.emplace_back(*to_blame, seconds);
    } else if (to_blame) {
      add(*to_blame, seconds);
    }
  }

  /// A pipeline drains by the last chunk's steps on the other engines. Any further work is left over because its engine
  /// was idle before.
  void behind_last(const Gap& gap) {
    int chunk = -1;
    for (const Span& span : timeline_.spans) {
      const bool is_last = engine_of(operation(span.operation)) == gap.engine && span.when.end >= gap.when.start;
      if (is_last) chunk = operation(span.operation).chunk.index;
    }
    double own_steps = 0;
    for (const Span& span : timeline_.spans) {
      const bool behind = span.when.start >= gap.when.start && operation(span.operation).chunk.index == chunk;
      if (behind) own_steps += span.when.seconds();
    }
    drain_ = std::min(gap.when.seconds(), own_steps);
    const Span& last = *std::ranges::max_element(timeline_.spans, {}, [](const Span& span) { return span.when.end; });
    const Gap* longest = nullptr;
    for (const Gap& other : analysis_.gaps) {
      if (other.engine != engine_of(operation(last.operation)) || !other.next) continue;
      if (longest == nullptr || other.when.seconds() > longest->when.seconds()) longest = &other;
    }
    const std::optional<Blame> to_blame = longest == nullptr ? std::nullopt : causes_.cause_of(*longest);
    if (to_blame) add(*to_blame, gap.when.seconds() - drain_);
  }

  /// Whether the gap lies between the work of a graph and work outside of it, or such work ran in it, and the host
  /// waited for no more than that.
  bool is_beside_graph(const Gap& gap, const std::optional<Blame>& to_blame) const {
    const auto before = ended_.upper_bound(gap.when.start);
    if (!to_blame || before == ended_.begin() || begins_outside_.size() == timeline_.spans.size()) return false;
    const std::optional<std::size_t> blocker = to_blame->shown.blocker;
    const bool waits = to_blame->cause == Cause::late_issue && blocker && blocker != to_blame->shown.next &&
                       operation(*blocker).kind != OperationKind::host_work;
    const bool may = waits || to_blame->cause == Cause::latency || to_blame->cause == Cause::small_work ||
                     to_blame->cause == causes_.copies_that_hold();
    if (!may) return false;
    const bool from_graph = std::prev(before)->second->in_graph, to_graph = causes_.span_of(*gap.next).in_graph;
    if (!from_graph || !to_graph) return from_graph != to_graph;
    const auto outside = std::ranges::lower_bound(begins_outside_, gap.when.start);
    return outside != begins_outside_.end() && *outside < gap.when.end;
  }

  /// Seconds at the end of a gap for which nothing held the operation but a function of the host.
  double behind_host_function(const Gap& gap) const {
    const bool may = gap.reason == Idle::latency || gap.reason == Idle::stream_order;
    if (!may || !causes_.span_of(*gap.next).behind_host_function) return 0;
    return gap.when.end - std::max(gap.when.start, causes_.wait_of(*gap.next).until);
  }

  void keep_from_work(Cause cause, double seconds) {
    kept_[cause].seconds += seconds;
    ++kept_[cause].gaps;
  }

  void add(const Blame& blame, double seconds) {
    const Span& next = causes_.span_of(*blame.shown.next);
    if (blame.cause == Cause::small_work && is_copy(operation(next.operation)) &&
        bytes_of(recording_, next) <= kSmallCopy) {
      keep_from_work(Cause::small_copies, seconds);
      return;
    }
    Sum& sum = sums_[blame.cause];
    if (sum.gaps++ == 0 || blame.shown.when.seconds() > sum.longest.when.seconds()) sum.longest = blame.shown;
    sum.seconds += seconds;
    if (blame.cause != Cause::late_issue || !blame.shown.blocker) return;
    const bool own = blame.shown.blocker == blame.shown.next;
    sum.at_calls[own ? "the call that issues the next operation" : describe(operation(*blame.shown.blocker))] +=
        seconds;
  }

  // ---------------------------------------------------------------------------------------------- the evidence

  void find(Cause cause, double seconds, const std::string& evidence) { found_.push_back({cause, seconds, evidence}); }
  void find(Cause cause, const std::string& evidence) {
    const auto sum = sums_.find(cause);
    if (sum == sums_.end()) return;
    find(cause, sum->second.seconds,
         fmt::format("{}; {}, such as: {}", evidence, counted(sum->second.gaps, "gap"),
                     describe(recording_, sum->second.longest)));
  }

  /// GB/s of all copies of one kind, by the device's time.
  double rate(Engine engine) const {
    double bytes = 0;
    double seconds = 0;
    for (const Span& span : timeline_.spans) {
      if (engine_of(operation(span.operation)) != engine) continue;
      bytes += bytes_of(recording_, span);
      seconds += span.when.seconds();
    }
    return seconds > 0 ? bytes / seconds / 1e9 : 0;
  }

  /// Causes that a record names.
  void kept_from_work() {
    const auto say = [&](Cause cause, auto&& evidence) {
      const auto sum = kept_.find(cause);
      if (sum != kept_.end()) find(cause, sum->second.seconds, evidence(counted(sum->second.gaps, "gap")));
    };
    say(Cause::lazy_loading, [&](const std::string& gaps) {
      return fmt::format("{}, in which kernels or their libraries were loaded: {}", gaps,
                         counted(timeline_.loads.size(), "load"));
    });
    say(Cause::small_copies, [&](const std::string& gaps) {
      std::vector<double> bytes;
      for (const Span& span : timeline_.spans) {
        const bool is_small = is_copy(operation(span.operation)) && bytes_of(recording_, span) <= kSmallCopy;
        if (is_small) bytes.push_back(bytes_of(recording_, span));
      }
      return fmt::format("{} before copies of {:.0f} bytes in the median; cudaMemcpyBatchAsync takes many in a call",
                         gaps, median(bytes));
    });
    say(Cause::outside_graph, [&](const std::string& gaps) {
      return fmt::format("{} between the work of graphs and {} in none", gaps,
                         counted(begins_outside_.size(), "operation"));
    });
    say(Cause::host_functions, [&](const std::string& gaps) {
      return fmt::format(
          "{} behind calls of cudaLaunchHostFunc or cudaStreamAddCallback, taken to be in the stream of the operation "
          "before them: the stream waits for the host",
          gaps);
    });
  }

  /// Adds a cause of work that takes longer to the same cause of gaps. Those of another engine are at the same time.
  void join(const Diagnosis& more) {
    const auto same = std::ranges::find(found_, more.cause, &Diagnosis::cause);
    if (same == found_.end()) {
      found_.push_back(more);
    } else {
      const double both =
          busiest_ == Engine::compute ? same->seconds + more.seconds : std::max(same->seconds, more.seconds);
      same->seconds = std::min(both, analysis_.makespan);
      same->evidence = more.evidence + "; " + same->evidence;
    }
  }

  void calls_that_hold_the_host() {
    double in_calls = 0;
    double copying = 0;  // of these, behind what a copy waited for: the device is at work until then
    int copies = 0;
    bool synchronous = false;
    std::vector<double> kernels;
    for (const Span& span : timeline_.spans) {
      if (!holds_host(timeline_, span)) continue;
      if (!is_copy(operation(span.operation))) {
        kernels.push_back(span.when.seconds());
        continue;
      }
      ++copies;
      synchronous |= operation(span.operation).synchronous;
      if (timeline_.issued.empty()) continue;
      const Interval& call = timeline_.issued[span.operation];
      in_calls += call.seconds();
      copying += std::max(0.0, call.end - std::max(call.start, causes_.wait_of(span.operation).until));
    }
    if (copying >= kStandsOut * analysis_.makespan && !recording_.captured) {
      find(causes_.copies_that_hold(), std::min(copying, analysis_.makespan),
           fmt::format(
               "the host was in {} calls of {} for {:.0f}% of the makespan, and issued nothing meanwhile; "
               "copies ran at {:.1f} GB/s in, {:.1f} GB/s out",
               copies,
               synchronous ? "cudaMemcpy" : fmt::format("cudaMemcpyAsync on {} memory", name(recording_.job.memory)),
               std::min(100.0, 100 * in_calls / analysis_.makespan), rate(Engine::copy_in), rate(Engine::copy_out)));
    }
    if (kernels.empty()) return;
    find(Cause::blocking_launches,
         fmt::format("{} × {:.3g} ms: the host goes on when the kernel is done, as with CUDA_LAUNCH_BLOCKING=1",
                     kernels.size(), 1e3 * median(kernels)));
  }

  void default_stream() {
    const auto in_it = std::ranges::count_if(recording_.operations, [](const Operation& each) {
      return each.stream.kind == StreamKind::legacy_default && (is_work(each) || is_mark(each));
    });
    find(Cause::default_stream,
         fmt::format("{} in the legacy default stream", counted(static_cast<std::size_t>(in_it), "operation")));
  }

  void few_streams() {
    find(Cause::too_few_streams, fmt::format("{} chunks in {}: a chunk stood behind another in its stream",
                                             recording_.job.chunks, counted(streams_.size(), "stream")));
  }

  void shared_queue() {
    std::map<unsigned, std::set<int>> of_channel;
    for (const Span& span : timeline_.spans) {
      if (span.channel) of_channel[*span.channel].insert(operation(span.operation).stream.index);
    }
    const auto shared =
        std::ranges::count_if(of_channel, [](const auto& channel) { return channel.second.size() > 1; });
    find(Cause::shared_queue,
         fmt::format("{} of {} hardware work queues served more than one stream", shared, of_channel.size()));
  }

  void late_issue() {
    std::vector<double> issue;
    for (const Span& span : timeline_.spans) {
      if (!timeline_.issued.empty()) issue.push_back(timeline_.issued[span.operation].seconds());
    }
    const std::string issued = recording_.captured
                                   ? "and all are issued as one graph"
                                   : fmt::format("and the host {:.1f} us to issue", 1e6 * median(issue));
    const std::string evidence = fmt::format("{}; the median takes the device {:.1f} us {}",
                                             counted(work_.size(), "operation"), 1e6 * median(work_), issued);
    find(Cause::small_work, evidence);
    const Sum& late = sums_[Cause::late_issue];
    if (late.gaps == 0) return;
    std::multimap<double, std::string, std::greater<>> longest_first;
    for (const auto& [call, seconds] : late.at_calls) {
      if (seconds < kOften * late.seconds) continue;
      longest_first.emplace(seconds, fmt::format("{:.3f} ms at {}", 1e3 * seconds, call));
    }
    find(Cause::late_issue,
         longest_first.empty() ? evidence : fmt::format("{}", fmt::join(longest_first | std::views::values, ", ")));
  }

  void start_up_and_few_chunks() {
    find(Cause::start_up, start_up_ - loads_first_,
         fmt::format("the device began {:.3f} ms after the host began to issue; more work behind it makes it matter "
                     "less",
                     1e3 * start_up_));
    // Where the host waits for each copy nothing overlaps, in however many chunks; and copies alone are no pipeline.
    if (std::ranges::find(found_, causes_.copies_that_hold(), &Diagnosis::cause) != found_.end()) return;
    if (busy(Engine::compute) <= 0) return;
    find(Cause::few_chunks, fill_ + drain_,
         fmt::format("{}: the busiest engine ({}) had nothing to do for {:.3f} ms while the first chunk was on its way "
                     "to it, and {:.3f} ms behind its last; smaller chunks fill and drain sooner",
                     counted(static_cast<std::size_t>(recording_.job.chunks), "chunk"), name(busiest_), 1e3 * fill_,
                     1e3 * drain_));
  }

  void saturated_engine() {
    const double copies = busy(Engine::copy_in) + busy(Engine::copy_out);
    const bool both_ways = timeline_.copy_engines == 1 && copies > busy(busiest_);
    const double seconds = both_ways ? copies : busy(busiest_);
    if (seconds < kSaturated * analysis_.makespan) return;
    // Kernels of several streams may leave room for each other, which a timeline does not show.
    const bool kernels = !both_ways && busiest_ == Engine::compute && streams_.size() > 1;
    find(Cause::saturated_engine, seconds,
         fmt::format("{} are at work for {:.0f}% of the makespan: no order of issue gains more than {:.3f} ms{}",
                     both_ways ? "copies, on one engine for both ways," : name(busiest_),
                     100 * seconds / analysis_.makespan, 1e3 * (analysis_.makespan - seconds),
                     kernels ? ", but by kernels that run at the same time" : ""));
  }

  const Timeline& timeline_;
  const Recording& recording_;
  const TimelineAnalysis& analysis_;
  GapCauses causes_;
  std::vector<double> work_;  ///< seconds of each span
  std::set<std::pair<StreamKind, int>> streams_;
  Engine busiest_{};
  std::map<Cause, Sum> sums_;
  std::vector<double> begins_outside_;   ///< when work that no graph launched began, in order
  std::map<double, const Span*> ended_;  ///< the work of the busiest engine, by when it ended
  std::map<Cause, Kept> kept_;
  std::vector<std::pair<Blame, double>> beside_graphs_;  ///< gaps beside graphs, as they are blamed otherwise
  double loads_first_ = 0;                               ///< within start_up_, for which the host loaded kernels
  double start_up_ = 0;                                  ///< until any engine's first operation
  double fill_ = 0;   ///< from there to the busiest engine's first, where nothing but the chunk's own steps came before
  double drain_ = 0;  ///< behind its last, while the last chunk's own steps went on
  std::vector<Diagnosis> found_;
};

}  // namespace

const char* name(Cause cause) {
  static constexpr std::array kNames{"pageable memory",
                                     "copies that hold the host, of managed memory",
                                     "synchronous copies",
                                     "launches block the host",
                                     "the legacy default stream",
                                     "too few streams",
                                     "too few device buffers",
                                     "streams that share a hardware work queue",
                                     "the rule for launches of compute capability 2.0 to 3.0",
                                     "issue order",
                                     "work too small for its launch",
                                     "the host issues late",
                                     "another process or context had the device",
                                     "kernels loaded at their first launch",
                                     "many small copies",
                                     "work outside the graph",
                                     "functions of the host in streams",
                                     "a kernel that fills the device",
                                     "memory reused across streams",
                                     "kernels one after another, for no recorded reason",
                                     "kernels that slow each other down",
                                     "copies both ways share the link",
                                     "latency between operations",
                                     "start-up",
                                     "too few chunks",
                                     "one engine is saturated"};
  return kNames.at(static_cast<std::size_t>(cause));
}

std::vector<Diagnosis> diagnose(const Timeline& timeline, const TimelineAnalysis& analysis) {
  return Doctor(timeline, analysis).diagnose();
}

}  // namespace scanlab::streams
