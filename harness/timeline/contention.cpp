#include "harness/timeline/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

namespace {

constexpr double kAlone = 0.1;            // of its time beside others, at most
constexpr double kBeside = 0.8;           // at least
constexpr double kSlowerKernel = 1.25;    // beside others than alone
constexpr double kSlowerCopy = 1.03;      // likewise
constexpr double kLargeCopy = 256 << 10;  // bytes: a smaller one is bound by its start
constexpr double kHandOver = 5e-6;        // seconds from the end of a kernel to the start of one that waited for it
constexpr double kFew = 0.5;              // of the device, that the blocks of a kernel take
constexpr std::ptrdiff_t kNear = 64;      // kernels that began before another and are looked at

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
    for (const Engine engine : {Engine::copy_in, Engine::copy_out}) slower_copies(engine);
    return std::move(found_);
  }

 private:
  /// How much later a kernel began than it could, and why.
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

  const Operation& operation(const Span& span) const { return recording_.operations[span.operation]; }

  /// Finds for how long each kernel ran alone.
  void sweep() {
    std::vector<std::pair<double, const Span*>> changes;
    for (const Span* span : kernels_) {
      changes.emplace_back(span->when.start, span);
      changes.emplace_back(span->when.end, span);
      alone_[span] = 0;
    }
    std::ranges::sort(changes);
    std::set<const Span*> running;
    double at = 0;
    for (const auto& [when, span] : changes) {
      if (running.size() == 1) alone_[*running.begin()] += when - at;
      at = when;
      if (!running.erase(span)) running.insert(span);
    }
  }

  void stood_ready() {
    if (timeline_.issued.empty() || recording_.captured) return;
    const Ordering order = ordering(recording_);
    std::map<std::size_t, const Span*> span_of;
    for (const Span& span : timeline_.spans) span_of[span.operation] = &span;
    std::map<std::size_t, Delay> delays;
    std::map<Cause, Lost> lost;
    for (const Span& span : timeline_.spans) {
      double ready = timeline_.issued[span.operation].start;
      double released = 0;  // by the rules of the default stream
      std::optional<std::size_t> behind;
      for (const auto& [before, rule] : order.device[span.operation]) {
        const double end = span_of.at(before)->when.end;
        if (rule == Rule::default_stream) {
          released = std::max(released, end);
        } else if (end >= ready) {
          ready = end;
          behind = before;
        }
      }
      Delay delay{span.when.start - ready, {}};
      if (delay.seconds > timeline_.latency) delay.cause = why(span, ready, released);
      if (!delay.cause && behind) {
        const Delay& earlier = delays[*behind];
        delay = {earlier.seconds + std::max(0.0, delay.seconds), earlier.cause};
      }
      delays[span.operation] = delay;
      if (!delay.cause || engine_of(operation(span)) != Engine::compute) continue;
      const double seconds = std::min(delay.seconds, alone_.at(&span));
      Lost& sum = lost[*delay.cause];
      sum.seconds += seconds;
      ++sum.kernels;
      if (seconds > sum.most) sum.shown = &span;
      sum.most = std::max(sum.most, seconds);
    }
    for (const auto& [cause, sum] : lost) {
      if (sum.shown == nullptr) continue;
      found_.push_back(
          {cause, sum.seconds,
           fmt::format("{} kernels stood ready beside others and ran alone later, for {:.3f} ms{}; such as "
                       "{} from {:.3f} to {:.3f} ms",
                       sum.kernels, 1e3 * sum.seconds, said_of(cause), named(*sum.shown), 1e3 * sum.shown->when.start,
                       1e3 * sum.shown->when.end)});
    }
  }

  /// Why a kernel did not begin when it was ready, if others ran until then.
  std::optional<Cause> why(const Span& span, double ready, double released) const {
    if (released > ready && span.when.start - released <= timeline_.latency) return Cause::default_stream;
    if (engine_of(operation(span)) != Engine::compute || span.in_graph) return {};  // edges of graphs are not recorded
    const auto at =
        std::ranges::lower_bound(kernels_, span.when.start, {}, [](const Span* other) { return other->when.start; });
    bool one_ended = false;
    bool had_room = true;
    for (auto other = at; other != kernels_.begin() && at - other < kNear;) {
      const Span& before = **--other;
      if (operation(before).stream == operation(span).stream || before.when.end <= ready) continue;
      if (before.when.end < span.when.start - kHandOver) continue;
      if (before.fill >= 1) return span.fill < kFew ? std::optional(Cause::full_device) : std::nullopt;
      if (before.when.end > span.when.start) return {};  // it runs beside this one
      one_ended = true;
      had_room &= before.fill > 0 && span.fill > 0 && before.fill + span.fill <= 1;
    }
    if (!one_ended) return {};
    if (span.allocated) return Cause::reused_memory;
    return had_room ? std::optional(Cause::unrecorded_order) : std::nullopt;
  }

  static const char* said_of(Cause cause) {
    switch (cause) {
      case Cause::default_stream:
        return ", behind what was issued to the legacy default stream";
      case Cause::full_device:
        return ", while the blocks of another kernel filled the device";
      case Cause::reused_memory:
        return ". Before each of them memory is allocated in the stream's order: the pool gives what another stream "
               "has "
               "freed, and makes this one wait for it";
      default:
        return ", though the device had room for both. Events that streams wait for may be missing: record with "
               "--cuda-event-trace=true";
    }
  }

  std::string named(const Span& span) const {
    return span.kernel ? "the kernel " + timeline_.kernels[*span.kernel] : describe(operation(span));
  }

  void slower_kernels() {
    struct Runs {
      std::vector<double> alone, beside;
    };
    std::map<std::size_t, Runs> runs;
    for (const Span* span : kernels_) {
      if (!span->kernel) continue;
      const double seconds = span->when.seconds();
      if (seconds <= 0) continue;
      const double beside = 1 - alone_.at(span) / seconds;
      if (beside <= kAlone) runs[*span->kernel].alone.push_back(seconds);
      if (beside >= kBeside) runs[*span->kernel].beside.push_back(seconds);
    }
    for (const auto& [kernel, times] : runs) {
      if (times.alone.empty() || times.beside.empty()) continue;
      const double alone = median(times.alone), beside = median(times.beside);
      if (beside < kSlowerKernel * alone) continue;
      // Two that share a device take twice as long each: half of the time beyond their own is lost.
      double seconds = 0;
      for (const double each : times.beside) seconds += (each - alone) * alone / each;
      found_.push_back(
          {Cause::slower_kernels, seconds,
           fmt::format(
               "{} takes {:.3f} ms beside others, and {:.3f} ms alone: they share the memory's bandwidth or the "
               "multiprocessors. The timeline does not show which; ncu does",
               timeline_.kernels[kernel], 1e3 * beside, 1e3 * alone)});
    }
  }

  void slower_copies(Engine engine) {
    const Engine other = engine == Engine::copy_in ? Engine::copy_out : Engine::copy_in;
    std::vector<Interval> others;
    for (const Span& span : timeline_.spans) {
      if (engine_of(operation(span)) == other) others.push_back(span.when);
    }
    if (others.empty()) return;
    std::ranges::sort(others, {}, &Interval::start);
    std::vector<double> alone, beside;  // seconds a byte
    double at_work = 0;                 // beside others
    for (const Span& span : timeline_.spans) {
      const double bytes = static_cast<double>(operation(span).chunk.items) *
                           static_cast<double>(recording_.job.workload->about.item_bytes());
      if (engine_of(operation(span)) != engine || bytes < kLargeCopy) continue;
      double seconds = 0;
      auto each = std::ranges::lower_bound(others, span.when.start, {}, &Interval::end);
      for (; each != others.end() && each->start < span.when.end; ++each) seconds += overlap_of(*each, span.when);
      const double part = seconds / span.when.seconds();
      if (part <= kAlone) alone.push_back(span.when.seconds() / bytes);
      if (part < kBeside) continue;
      beside.push_back(span.when.seconds() / bytes);
      at_work += span.when.seconds();
    }
    if (alone.empty() || beside.empty() || median(beside) < kSlowerCopy * median(alone)) return;
    found_.push_back({Cause::slower_copies, at_work * (1 - median(alone) / median(beside)),
                      fmt::format("{} run at {:.1f} GB/s beside {}, and at {:.1f} GB/s alone", name(engine),
                                  1e-9 / median(beside), name(other), 1e-9 / median(alone))});
  }

  const Timeline& timeline_;
  const Recording& recording_;
  std::vector<const Span*> kernels_;     ///< in the order in which they began
  std::map<const Span*, double> alone_;  ///< seconds for which no other kernel ran
  std::vector<Diagnosis> found_;
};

}  // namespace

std::vector<Diagnosis> contention(const Timeline& timeline) { return Contention(timeline).find(); }

}  // namespace scanlab::streams
