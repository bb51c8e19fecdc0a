#include "harness/calibration/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/core/median.hpp"

namespace scanlab::simulator {

using streams::Operation;
using streams::OperationKind;
using streams::Span;
using streams::TimedReplay;

Experiments all_of(const Calibration& calibration, const std::string& beginning) {
  Experiments all;
  for (const MeasuredExperiment& each : calibration.experiments) {
    if (!each.experiment.name.starts_with(beginning)) continue;
    if (!each.failure.empty()) {
      throw CalibrationError(
          fmt::format("{}: {}; without it there is no profile: calibrate anew", each.experiment.name, each.failure));
    }
    all.push_back(&each);
  }
  return all;
}

const MeasuredExperiment& one_of(const Calibration& calibration, const std::string& name) {
  return *all_of(calibration, name).at(0);
}

double plain_seconds(const MeasuredExperiment& measured) {
  std::vector<double> all;
  for (const TimedReplay& replay : measured.replays.plain) all.push_back(replay.seconds);
  return median(all);
}

double count(const MeasuredExperiment& measured, OperationKind kind) {
  return static_cast<double>(std::ranges::count(measured.experiment.recording.operations, kind, &Operation::kind));
}

double call_seconds(const MeasuredExperiment& measured, OperationKind kind, std::size_t skip) {
  std::vector<double> all;
  const auto& operations = measured.experiment.recording.operations;
  for (const TimedReplay& replay : measured.replays.plain) {
    for (std::size_t i = skip; i < operations.size(); ++i) {
      if (operations[i].kind == kind) all.push_back(replay.timeline.issued[i].seconds());
    }
  }
  return median(all);
}

void visit_spans(const MeasuredExperiment& measured, OperationKind kind,
                 const std::function<void(const Span* before, const Span&)>& visit) {
  for (const TimedReplay& replay : measured.replays.traced) {
    const Span* before = nullptr;
    for (const Span& span : replay.timeline.spans) {
      if (measured.experiment.recording.operations[span.operation].kind != kind) continue;
      visit(std::exchange(before, &span), span);
    }
  }
}

double device_seconds(const MeasuredExperiment& measured, OperationKind kind, std::int64_t items) {
  std::vector<double> all;
  visit_spans(measured, kind, [&](const Span*, const Span& span) {
    const std::int64_t own = measured.experiment.recording.operations[span.operation].chunk.items;
    if (items == 0 || own == items) all.push_back(span.when.seconds());
  });
  return median(all);
}

double to_thousandths(double value) { return std::round(1e3 * value) / 1e3; }

std::size_t at_once(const MeasuredExperiment& measured) {
  constexpr double kPart = 0.1;
  std::map<int, double> seconds;  // by how many ran
  for (const TimedReplay& replay : measured.replays.traced) {
    std::vector<std::pair<double, int>> changes;
    for (const streams::Span& span : replay.timeline.spans) {
      changes.emplace_back(span.when.start, 1);
      changes.emplace_back(span.when.end, -1);
    }
    std::ranges::sort(changes);
    int running = 0;
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
      running += changes[i].second;
      seconds[running] += changes[i + 1].first - changes[i].first;
    }
  }
  seconds.erase(0);
  double all = 0;
  for (const auto& [running, time] : seconds) all += time;
  double so_many = 0;
  for (auto each = seconds.rbegin(); each != seconds.rend(); ++each) {
    so_many += each->second;
    if (so_many >= kPart * all) return static_cast<std::size_t>(each->first);
  }
  return 1;
}

}  // namespace scanlab::simulator
