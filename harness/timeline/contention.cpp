#include "harness/timeline/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

namespace {

constexpr double kAlone = 0.1;            // of its time beside others, at most
constexpr double kBeside = 0.8;           // at least
constexpr double kSlowerKernel = 1.25;    // beside others than alone
constexpr double kGains = 1.5;            // kernels at the same time, over one after another
constexpr double kSlowerCopy = 1.03;      // beside others than alone
constexpr std::size_t kSamples = 2;       // alone, and as many beside others
constexpr double kLargeCopy = 512 << 10;  // bytes: a smaller one is bound by its start
constexpr double kHandOver = 5e-6;        // seconds from the end of a kernel to the start of one that waited for it
constexpr double kRounding = 1e-9;
constexpr double kFew = 0.5;          // of the device, that the blocks of a kernel take
constexpr std::ptrdiff_t kNear = 64;  // kernels that began before another and are looked at

class Contention {
 public:
  explicit Contention(const Timeline& timeline) : timeline_(timeline), recording_(*timeline.recording) {
    for (const Span& span : timeline.spans) {
      if (engine_of(operation(span)) == Engine::compute) kernels_.push_back(&span);
    }
    std::ranges::stable_sort(kernels_, {}, [](const Span* span) { return span->when.start; });
    sweep();
  }

  std::vector<Diagnosis> find() {
    stood_ready();
    slower_kernels();
    slower_copies();
    return std::move(found_);
  }

 private:
  /// How much later a kernel began than it could, as far as no kernel before it lost it, and why.
  struct Delay {
    double seconds = 0;
    std::optional<Cause> cause;
  };
  struct Lost {
    double seconds = 0;
    std::size_t kernels = 0;
    double most = 0;
    const Span* shown = nullptr;  ///< that lost most
  };
  struct Times {
    std::vector<double> alone, beside;
    bool are_slower_beside(double by) const {
      return alone.size() >= kSamples && beside.size() >= kSamples && median(beside) >= by * median(alone);
    }
  };

  const Operation& operation(const Span& span) const { return recording_.operations[span.operation]; }

  /// Finds for how long each kernel ran alone, and its share of the time in which it ran beside others.
  void sweep() {
    std::vector<std::pair<double, const Span*>> changes;
    for (const Span* span : kernels_) {
      alone_[span] = share_[span] = 0;
      if (span->when.seconds() <= 0) continue;
      changes.emplace_back(span->when.start, span);
      changes.emplace_back(span->when.end, span);
    }
    std::ranges::sort(changes);
    std::set<const Span*> running;
    double at = 0;
    for (const auto& [when, span] : changes) {
      if (running.size() == 1) alone_[*running.begin()] += when - at;
      for (const Span* each : running) share_[each] += (when - at) / static_cast<double>(running.size());
      at = when;
      if (!running.erase(span)) running.insert(span);
    }
  }

  /// Seconds that kernels ran alone in all streams but the one with most of them.
  double could_run_beside() const {
    std::map<std::pair<StreamKind, int>, double> of_stream;
    double all = 0;
    double most = 0;
    for (const auto& [span, seconds] : alone_) {
      const Stream& stream = operation(*span).stream;
      all += seconds;
      most = std::max(most, of_stream[{stream.kind, stream.index}] += seconds);
    }
    return all - most;
  }

  /// When the host had issued an operation. A call that takes long had something else to do before.
  double issued(const Span& span) const {
    const Interval& call = timeline_.issued[span.operation];
    return call.seconds() > kIssueLatencies * timeline_.latency ? std::min(call.end, span.when.start) : call.start;
  }

  void stood_ready() {
    if (timeline_.issued.empty() || recording_.captured) return;
    const Ordering order = ordering(recording_);
    std::vector<const Span*> span_of(recording_.operations.size());
    for (const Span& span : timeline_.spans) span_of[span.operation] = &span;
    std::vector<Delay> delays(recording_.operations.size());
    std::map<Cause, Lost> lost;
    for (const Span& span : timeline_.spans) {
      double ready = issued(span);
      double released = 0;  // by the rules of the default stream
      std::optional<std::size_t> behind;
      for (const auto& [before, rule] : order.device[span.operation]) {
        const double end = span_of[before]->when.end;
        if (rule == Rule::default_stream) {
          released = std::max(released, end);
        } else if (end >= ready) {
          ready = end;
          behind = before;
        }
      }
      Delay& delay = delays[span.operation];
      delay.seconds = std::max(0.0, span.when.start - ready);
      if (delay.seconds > timeline_.latency) delay.cause = why(span, ready, released);
      if (!delay.cause && behind) {
        delay.cause = delays[*behind].cause;
        delay.seconds += delays[*behind].seconds;
      }
      if (!delay.cause || engine_of(operation(span)) != Engine::compute) continue;
      const double seconds = std::min(delay.seconds, alone_.at(&span));
      delay.seconds -= seconds;
      if (seconds <= 0) continue;
      Lost& sum = lost[*delay.cause];
      sum.seconds += seconds;
      ++sum.kernels;
      if (seconds > sum.most) sum.shown = &span;
      sum.most = std::max(sum.most, seconds);
    }
    const double most = could_run_beside();
    for (const auto& [cause, sum] : lost) {
      const double seconds = std::min(sum.seconds, most);
      found_.push_back(
          {cause, seconds,
           fmt::format(
               "{} kernels, such as {} from {:.3f} to {:.3f} ms, stood ready beside others and ran alone later{}",
               sum.kernels, named(*sum.shown), 1e3 * sum.shown->when.start, 1e3 * sum.shown->when.end,
               said_of(cause))});
    }
  }

  /// Why a kernel did not begin when it was ready, if others ran until then.
  std::optional<Cause> why(const Span& span, double ready, double released) const {
    const double start = span.when.start;
    if (released > ready && start >= released - kRounding && start - released <= timeline_.latency)
      return Cause::default_stream;
    if (!span.kernel || span.fill <= 0 || span.in_graph) return {};  // edges of graphs are not recorded
    const auto at = std::ranges::lower_bound(kernels_, start, {}, [](const Span* other) { return other->when.start; });
    bool one_ended = false;
    for (auto other = at; other != kernels_.begin() && at - other < kNear;) {
      const Span& before = **--other;
      if (operation(before).stream == operation(span).stream || before.when.end <= ready) continue;
      if (before.when.end < start - kHandOver) continue;
      if (before.fill >= 1) {
        if (span.fill >= kFew) return {};
        return timeline_.lacks_orders ? Cause::unrecorded_order : Cause::full_device;
      }
      const bool had_room = before.fill > 0 && before.fill + span.fill <= 1;
      if (before.when.end > start || !had_room) return {};
      one_ended = true;
    }
    if (!one_ended) return {};
    return span.allocated && !timeline_.lacks_orders ? Cause::reused_memory : Cause::unrecorded_order;
  }

  static std::string_view said_of(Cause cause) {
    switch (cause) {
      case Cause::default_stream:
        return ", behind what was issued to the legacy default stream";
      case Cause::full_device:
        return ", while the blocks of another kernel filled the device";
      case Cause::reused_memory:
        return ". Memory is allocated in the order of their streams: the pool gives what another stream has freed, and "
               "makes the kernel wait for that stream";
      default:
        return ", though the device had room, or waits of streams for events are missing: record with "
               "--cuda-event-trace=true. A small CUDA_DEVICE_MAX_CONNECTIONS does it, too";
    }
  }

  std::string named(const Span& span) const {
    return span.kernel ? "the kernel " + timeline_.kernels[*span.kernel] : describe(operation(span));
  }

  void slower_kernels() {
    std::map<std::size_t, Times> runs;
    std::map<std::size_t, std::vector<const Span*>> beside;
    for (const Span* span : kernels_) {
      const double seconds = span->when.seconds();
      if (!span->kernel || seconds <= 0) continue;
      const double part = 1 - alone_.at(span) / seconds;
      if (part <= kAlone) runs[*span->kernel].alone.push_back(seconds);
      if (part < kBeside) continue;
      runs[*span->kernel].beside.push_back(seconds);
      beside[*span->kernel].push_back(span);
    }
    Diagnosis sum{.cause = Cause::slower_kernels};
    double most = 0;
    for (const auto& [kernel, times] : runs) {
      if (!times.are_slower_beside(kSlowerKernel)) continue;
      if (std::ranges::min(times.beside) <= std::ranges::max(times.alone)) continue;
      const double alone = median(times.alone);
      double all = 0;
      double shares = 0;
      double seconds = 0;
      for (const Span* span : beside[kernel]) {
        all += span->when.seconds();
        shares += share_.at(span);
        seconds += share_.at(span) * (1 - alone / span->when.seconds());
      }
      if (all / shares * alone >= kGains * median(times.beside)) continue;
      sum.seconds += seconds;
      if (seconds <= most) continue;
      most = seconds;
      sum.evidence = fmt::format(
          "{} takes {:.3f} ms beside others, and {:.3f} ms alone, if its work is the same: they share the memory's "
          "bandwidth or the multiprocessors. The timeline does not show which; ncu does",
          timeline_.kernels[kernel], 1e3 * median(times.beside), 1e3 * alone);
    }
    if (sum.seconds > 0) found_.push_back(sum);
  }

  void slower_copies() {
    Diagnosis worst{.cause = Cause::slower_copies};
    for (const Engine engine : {Engine::copy_in, Engine::copy_out}) {
      const Engine other = engine == Engine::copy_in ? Engine::copy_out : Engine::copy_in;
      const std::vector<Interval> others = at_work(timeline_, other);
      std::map<int, Times> per_byte;  // by the size, to a power of two
      std::map<int, double> seconds;  // beside others
      for (const Span& span : timeline_.spans) {
        const double bytes = bytes_of(recording_, span);
        if (engine_of(operation(span)) != engine || bytes < kLargeCopy || span.when.seconds() <= 0 || !span.pinned)
          continue;
        const int size = std::bit_width(static_cast<std::uint64_t>(bytes));
        const double part = overlap_of(others, span.when) / span.when.seconds();
        if (part <= kAlone) per_byte[size].alone.push_back(span.when.seconds() / bytes);
        if (part < kBeside) continue;
        per_byte[size].beside.push_back(span.when.seconds() / bytes);
        seconds[size] += span.when.seconds();
      }
      for (const auto& [size, times] : per_byte) {
        if (!times.are_slower_beside(kSlowerCopy)) continue;
        const double alone = median(times.alone), beside = median(times.beside);
        const double lost = seconds[size] * (1 - alone / beside);
        if (lost <= worst.seconds) continue;
        worst.seconds = lost;
        worst.evidence = fmt::format("{} run at {:.1f} GB/s beside {}, and at {:.1f} GB/s alone", name(engine),
                                     1e-9 / beside, name(other), 1e-9 / alone);
      }
    }
    if (worst.seconds > 0) found_.push_back(worst);
  }

  const Timeline& timeline_;
  const Recording& recording_;
  std::vector<const Span*> kernels_;     ///< in the order in which they began
  std::map<const Span*, double> alone_;  ///< seconds for which no other kernel ran
  std::map<const Span*, double> share_;  ///< seconds, divided by the kernels that ran
  std::vector<Diagnosis> found_;
};

}  // namespace

std::vector<Diagnosis> contention(const Timeline& timeline) { return Contention(timeline).find(); }

}  // namespace scanlab::streams
