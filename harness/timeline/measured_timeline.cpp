#include "harness/timeline/measured_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/median.hpp"

namespace scanlab::streams {

namespace {

std::vector<double> times(const std::vector<TimedReplay>& replays, double unit) {
  std::vector<double> all;
  for (const TimedReplay& each : replays) all.push_back(unit * each.seconds);
  return all;
}

}  // namespace

double MeasuredReplays::median_plain() const { return median(times(plain, 1)); }
double MeasuredReplays::median_traced() const { return median(times(traced, 1)); }
double MeasuredReplays::tracing_overhead_percent() const { return 100 * (median_traced() / median_plain() - 1); }

const Timeline& MeasuredReplays::timeline() const {
  const double middle = median_traced();  // of an even number: between two
  return std::ranges::min_element(traced, {}, [&](const TimedReplay& each) { return std::abs(each.seconds - middle); })
      ->timeline;
}

nlohmann::ordered_json facts_of(const MeasuredReplays& measured, const TimelineAnalysis& analysis) {
  std::map<OperationPair, int> in_how_many;
  for (const TimedReplay& each : measured.traced) {
    for (const OperationPair& pair : overlapping(each.timeline, kOverlapResolution)) ++in_how_many[pair];
  }
  auto overlaps = nlohmann::ordered_json::array();
  for (const auto& [pair, in] : in_how_many) overlaps.push_back({pair.first, pair.second, in});
  return {{"makespan_us", 1e6 * analysis.makespan},
          {"overlap", analysis.overlap()},
          {"plain_us", times(measured.plain, 1e6)},
          {"traced_us", times(measured.traced, 1e6)},
          {"tracing_overhead_percent", measured.tracing_overhead_percent()},
          {"verified", measured.wrong.empty()},
          {"overlaps", std::move(overlaps)}};
}

/// In time that grows as the operations and the pairs do, up to a logarithm.
std::set<OperationPair> overlapping(const Timeline& timeline, double resolution) {
  std::vector<const Span*> by_start;
  for (const Span& span : timeline.spans) by_start.push_back(&span);
  std::ranges::sort(by_start, {}, [](const Span* span) { return span->when.start; });
  std::set<OperationPair> all;
  std::vector<const Span*> running;
  for (const Span* span : by_start) {
    std::erase_if(running, [&](const Span* other) { return other->when.end <= span->when.start; });
    for (const Span* other : running) {
      const double together = std::min(other->when.end, span->when.end) - span->when.start;
      if (together > resolution) all.insert(std::minmax(span->operation, other->operation));
    }
    running.push_back(span);
  }
  return all;
}

Agreement& Agreement::operator+=(const Agreement& other) {
  either += other.either;
  both += other.both;
  return *this;
}

double Agreement::share() const { return either == 0 ? 1 : static_cast<double>(both) / static_cast<double>(either); }

Agreement RepeatedOverlaps::with_themselves() const {
  const auto twos = [](int count) { return static_cast<std::size_t>(count * (count - 1) / 2); };
  Agreement all;
  for (const auto& [pair, in] : times) {
    all += {.either = twos(repetitions) - twos(repetitions - in), .both = twos(in)};
  }
  return all;
}

Agreement RepeatedOverlaps::with(const std::set<OperationPair>& predicted) const {
  Agreement all{.either = predicted.size() * static_cast<std::size_t>(repetitions), .both = 0};
  for (const auto& [pair, in] : times) {
    (predicted.count(pair) != 0 ? all.both : all.either) += static_cast<std::size_t>(in);
  }
  return all;
}

Agreement RepeatedOverlaps::at_best() const {
  Agreement best;
  for (int least = 1; least <= repetitions; ++least) {
    std::set<OperationPair> frequent;
    for (const auto& [pair, in] : times) {
      if (in >= least) frequent.insert(pair);
    }
    const Agreement agreement = with(frequent);
    if (least == 1 || agreement.share() > best.share()) best = agreement;
  }
  return best;
}

Agreement RepeatedOverlaps::where_steady(const std::set<OperationPair>& predicted) const {
  Agreement all;
  for (const auto& [pair, in] : times) {
    if (in == repetitions) all += {.either = 1, .both = predicted.count(pair)};
  }
  for (const OperationPair& pair : predicted) all.either += times.count(pair) == 0 ? 1 : 0;
  return all;
}

}  // namespace scanlab::streams
