#include "harness/calibration/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/core/median.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;
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

// -------------------------------------------------------------------------------------- the figure kernel_times

namespace {

/// Seconds of an item where kernels run in several streams, none beside them; 0 of a workload whose kernels cannot.
double seconds_together(const Experiments& side_by_side) {
  double least = 0;
  for (const MeasuredExperiment* each : side_by_side) {
    double items = 0;
    for (const streams::Operation& operation : each->experiment.recording.operations) {
      items += static_cast<double>(operation.chunk.items);
    }
    std::vector<double> all;
    for (const TimedReplay& replay : each->replays.traced) {
      const auto by_start = [](const Span& span) { return span.when.start; };
      const double start = std::ranges::min_element(replay.timeline.spans, {}, by_start)->when.start;
      all.push_back((replay.timeline.makespan() - start) / items);
    }
    least = least == 0 ? median(all) : std::min(least, median(all));
  }
  return least;
}

/// How much sooner the first block of a kernel that fills the device ends than the mean: the kernel behind it, which
/// waits for room, begins then. A kernel takes its work, done at the full rate but for the tail.
double spread(const MeasuredExperiment& two_that_fill_the_device, double together) {
  std::vector<double> all;
  for (const TimedReplay& replay : two_that_fill_the_device.replays.traced) {
    const auto& spans = replay.timeline.spans;
    const auto items = static_cast<double>(two_that_fill_the_device.experiment.recording.buffer_items);
    all.push_back(1 - (spans[1].when.start - spans[0].when.start) / (together * items));
  }
  return std::clamp(median(all), 0.0, 0.95);
}

}  // namespace

Json kernel_times(const Calibration& calibration, double& bytes_per_second) {
  Json all = Json::array();
  bytes_per_second = 0;
  for (const auto& [id, workload] : streams::WorkloadRegistry::instance().all()) {
    std::map<int, std::map<std::int64_t, std::pair<double, std::int64_t>>> by_work;  // seconds and blocks
    std::map<int, std::vector<double>> calls;
    for (const MeasuredExperiment* measured : all_of(calibration, fmt::format("kernels/workload:{}/", id))) {
      const streams::Recording& recording = measured->experiment.recording;
      calls[recording.job.work].push_back(call_seconds(*measured, OperationKind::kernel));
      for (const Span& span : measured->replays.traced.front().timeline.spans) {
        const streams::Operation& operation = recording.operations[span.operation];
        const std::int64_t items = operation.chunk.items;
        if (operation.kind != OperationKind::kernel) continue;
        by_work[recording.job.work][items] = {device_seconds(*measured, OperationKind::kernel, items), span.blocks};
      }
    }
    for (const auto& [work, rows] : by_work) {
      Json times{{"workload", id}, {"work", work}, {"issue_us", to_thousandths(median(calls[work]) / kMicro)}};
      const std::string name = fmt::format("side_by_side/workload:{}/work:{}/", id, work);
      const double together = seconds_together(all_of(calibration, name));
      if (together > 0) {
        times["together_us_an_item"] = together / kMicro;
        times["spread"] = to_thousandths(spread(one_of(calibration, name + "streams:2/items:4194304"), together));
      }
      std::int64_t blocks = 1;
      for (const auto& [items, row] : rows) {
        blocks = std::max(blocks, row.second);  // a scan of another kind may take fewer
        times["items"].push_back(items);
        times["us"].push_back(to_thousandths(row.first / kMicro));
        times["blocks"].push_back(blocks);
        const auto bytes = static_cast<double>(workload.about.array_bytes(items));
        bytes_per_second = std::max(bytes_per_second, bytes / row.first);
      }
      all.push_back(std::move(times));
    }
  }
  return all;
}

}  // namespace scanlab::simulator
