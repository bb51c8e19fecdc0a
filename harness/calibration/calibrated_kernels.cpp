// How long kernels take by themselves, side by side, and how far apart their blocks end: the figure kernel_times.
#include <algorithm>
#include <cmath>
#include <map>

#include "harness/calibration/measurements.hpp"
#include "harness/core/median.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;
using streams::Operation;
using streams::OperationKind;
using streams::TimedReplay;

namespace {

constexpr double kMicro = 1e-6;
constexpr std::int64_t kFills = 1 << 22;  ///< items of a kernel that fills the device, beside another

bool is_side_by_side(const Microbenchmark& experiment, const streams::Workload& workload, int work) {
  const streams::Job& job = experiment.recording.job;
  return experiment.kind == ExperimentKind::kernels_side_by_side && job.workload == &workload && job.work == work;
}

/// Seconds of an item where kernels run in several streams, none beside them; 0 of a workload whose kernels cannot.
double seconds_together(const Calibration& calibration, const streams::Workload& workload, int work) {
  double least = 0;
  for (const MeasuredExperiment& measured : calibration.experiments) {
    if (!is_side_by_side(measured.experiment, workload, work)) continue;
    double items = 0;
    for (const Operation& operation : usable(measured).experiment.recording.operations) {
      items += static_cast<double>(operation.chunk.items);
    }
    std::vector<double> all;
    for (const TimedReplay& replay : measured.replays.traced) {
      const auto& spans = replay.timeline.spans;
      const auto start = [](const streams::Span& span) { return span.when.start; };
      const auto end = [](const streams::Span& span) { return span.when.end; };
      all.push_back((std::ranges::max(spans, {}, end).when.end - std::ranges::min(spans, {}, start).when.start) /
                    items);
    }
    least = least == 0 ? median(all) : std::min(least, median(all));
  }
  return least;
}

/// How much sooner the first block of a kernel that fills the device ends than the mean: the kernel behind it, which
/// waits for room, begins then. A kernel takes its work, done at the full rate but for the tail.
double spread(const Calibration& calibration, const streams::Workload& workload, int work, double together) {
  std::vector<double> all;
  for (const MeasuredExperiment& measured : calibration.experiments) {
    const Microbenchmark& experiment = measured.experiment;
    if (!is_side_by_side(experiment, workload, work) || experiment.streams != 2 || experiment.items != kFills) continue;
    for (const TimedReplay& replay : measured.replays.traced) {
      const streams::Interval& first = replay.timeline.spans[0].when;
      const streams::Interval& second = replay.timeline.spans[1].when;
      all.push_back(1 - (second.start - first.start) / (together * kFills));
    }
  }
  return all.empty() ? 0 : std::clamp(median(all), 0.0, 0.95);
}

}  // namespace

Json kernel_times(const Calibration& calibration, double& bytes_per_second) {
  Json all = Json::array();
  bytes_per_second = 0;
  for (const auto& [id, workload] : streams::WorkloadRegistry::instance().all()) {
    std::map<int, std::map<std::int64_t, std::pair<double, std::int64_t>>> by_work;  // seconds and blocks
    std::map<int, std::vector<double>> calls;
    for (const MeasuredExperiment& measured : calibration.experiments) {
      const streams::Job& job = measured.experiment.recording.job;
      if (measured.experiment.kind != ExperimentKind::kernels || job.workload != &workload) continue;
      calls[job.work].push_back(call_seconds(usable(measured), OperationKind::kernel));
      for (const streams::Span& span : measured.replays.traced.front().timeline.spans) {
        const Operation& operation = measured.experiment.recording.operations[span.operation];
        if (operation.kind != OperationKind::kernel) continue;
        const std::int64_t items = operation.chunk.items;
        by_work[job.work][items] = {device_seconds(measured, OperationKind::kernel, items), span.blocks};
      }
    }
    for (const auto& [work, rows] : by_work) {
      Json times{{"workload", id}, {"work", work}, {"issue_us", std::round(median(calls[work]) / kMicro * 1e3) / 1e3}};
      const double together = seconds_together(calibration, workload, work);
      if (together > 0) {
        times["together_us_an_item"] = together / kMicro;
        times["spread"] = std::round(1e3 * spread(calibration, workload, work, together)) / 1e3;
      }
      std::int64_t blocks = 1;
      for (const auto& [items, row] : rows) {
        blocks = std::max(blocks, row.second);  // a scan of another kind may take fewer
        times["items"].push_back(items);
        times["us"].push_back(std::round(row.first / kMicro * 1e3) / 1e3);
        times["blocks"].push_back(blocks);
        const auto bytes =
            static_cast<double>(items) * static_cast<double>(workload.about.item_bytes()) * (workload.about.inputs + 1);
        bytes_per_second = std::max(bytes_per_second, bytes / row.first);
      }
      all.push_back(std::move(times));
    }
  }
  return all;
}

}  // namespace scanlab::simulator
