// Queries on a calibration: its experiments by name, and medians over their repetitions.
// Times without tracing wherever they will do: tracing puts more than a microsecond between two copies. Only how long a
// copy or a kernel takes on the device is the records'.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/calibration/calibration.hpp"

namespace scanlab::simulator {

inline constexpr double kMicro = 1e-6;

using Experiments = std::vector<const MeasuredExperiment*>;
/// Returns the experiments whose names begin so, in the order of calibration_experiments, which is by growing bytes.
/// Throws CalibrationError for one that was not measured.
Experiments all_of(const Calibration& calibration, const std::string& beginning);
const MeasuredExperiment& one_of(const Calibration& calibration, const std::string& name);

double plain_seconds(const MeasuredExperiment& measured);
double count(const MeasuredExperiment& measured, streams::OperationKind kind);
/// Seconds of the host in calls of one kind, but for the first `skip` operations, without tracing.
double call_seconds(const MeasuredExperiment& measured, streams::OperationKind kind, std::size_t skip = 0);
/// How long the device worked at operations of one kind, those of so many items (0: all).
double device_seconds(const MeasuredExperiment& measured, streams::OperationKind kind, std::int64_t items = 0);
/// The traced spans of one kind, replay by replay, each with the one before it in its replay (null for the first).
void visit_spans(const MeasuredExperiment& measured, streams::OperationKind kind,
                 const std::function<void(const streams::Span* before, const streams::Span&)>& visit);
/// The most operations that ran at once, for a tenth of the time that any did: two records may touch.
std::size_t at_once(const MeasuredExperiment& measured);

/// Rounds to thousandths, as figures are written.
double to_thousandths(double value);

/// The figure kernel_times of a profile: each workload's kernels behind the copy of their items. `bytes_per_second`:
/// the most that any of them read and wrote.
nlohmann::ordered_json kernel_times(const Calibration& calibration, double& bytes_per_second);

}  // namespace scanlab::simulator
