#include "harness/timeline/measured_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/timeline/overlaps.hpp"

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

}  // namespace scanlab::streams
