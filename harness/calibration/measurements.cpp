#include "harness/calibration/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/core/median.hpp"

namespace scanlab::simulator {

using streams::Operation;
using streams::OperationKind;
using streams::TimedReplay;

const MeasuredExperiment& usable(const MeasuredExperiment& measured) {
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): of a calibration, which lives on
  if (measured.failure.empty()) return measured;
  throw CalibrationError(fmt::format("{}: {}; without it there is no profile: calibrate anew", measured.experiment.name,
                                     measured.failure));
}

Experiments all_of(const Calibration& calibration, const Wanted& wanted) {
  Experiments all;
  for (const MeasuredExperiment& each : calibration.experiments) {
    const Microbenchmark& experiment = each.experiment;
    const bool fits = experiment.kind == wanted.kind && (!wanted.way || experiment.way == wanted.way) &&
                      (wanted.streams == 0 || experiment.streams == wanted.streams) &&
                      (wanted.kernels == 0 || experiment.kernels == wanted.kernels);
    if (fits) all.push_back(&usable(each));
  }
  if (all.empty()) throw CalibrationError(fmt::format("there is no experiment of {}", name(wanted.kind)));
  return all;
}

const MeasuredExperiment& one_of(const Calibration& calibration, const Wanted& wanted) {
  return *all_of(calibration, wanted).front();
}

double plain_seconds(const MeasuredExperiment& measured) {
  std::vector<double> all;
  for (const TimedReplay& replay : measured.replays.plain) all.push_back(replay.seconds);
  return median(all);
}

std::size_t count(const MeasuredExperiment& measured, OperationKind kind) {
  return static_cast<std::size_t>(std::ranges::count(measured.experiment.recording.operations, kind, &Operation::kind));
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

double device_seconds(const MeasuredExperiment& measured, OperationKind kind, std::int64_t items) {
  std::vector<double> all;
  for (const TimedReplay& replay : measured.replays.traced) {
    for (const streams::Span& span : replay.timeline.spans) {
      const Operation& operation = measured.experiment.recording.operations[span.operation];
      if (operation.kind != kind || (items != 0 && operation.chunk.items != items)) continue;
      all.push_back(span.when.seconds());
    }
  }
  return median(all);
}

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
