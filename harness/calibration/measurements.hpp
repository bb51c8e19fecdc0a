// Queries on a calibration: its experiments by kind, and medians over their repetitions.
// Times without collection wherever they will do: collecting puts more than a microsecond between two copies. Only how
// long a copy or a kernel takes on the device is the records'.
#pragma once

#include <optional>
#include <vector>

#include "harness/calibration/calibration.hpp"

namespace scanlab::simulator {

/// A figure that is read from it would be missing, or be another than its source says: throws CalibrationError if it
/// was not measured.
const MeasuredExperiment& usable(const MeasuredExperiment& measured);

/// The experiments asked for; 0 or empty matches any.
struct Wanted {
  ExperimentKind kind{};
  std::optional<streams::OperationKind> way{};
  int streams = 0;
  int kernels = 0;
};
using Experiments = std::vector<const MeasuredExperiment*>;
/// In the order of calibration_experiments, which is by growing bytes. Throws CalibrationError if there is none, or for
/// one that was not measured.
Experiments all_of(const Calibration& calibration, const Wanted& wanted);
/// The first of them.
const MeasuredExperiment& one_of(const Calibration& calibration, const Wanted& wanted);

/// Of each copy.
inline double bytes(const MeasuredExperiment& measured) { return static_cast<double>(measured.experiment.bytes); }
double plain_seconds(const MeasuredExperiment& measured);
std::size_t count(const MeasuredExperiment& measured, streams::OperationKind kind);
/// Of the calls of one kind, but for the first `skip` operations: seconds of the host, without collection.
double call_seconds(const MeasuredExperiment& measured, streams::OperationKind kind, std::size_t skip = 0);
/// How long the device worked at operations of one kind, those of so many items (0: all).
double device_seconds(const MeasuredExperiment& measured, streams::OperationKind kind, std::int64_t items = 0);
/// The most operations that ran at once, for a tenth of the time that any did: two records may touch.
std::size_t at_once(const MeasuredExperiment& measured);

/// The figure kernel_times of a profile: each workload's kernels behind the copy of their items. `bytes_per_second`:
/// the most that any of them read and wrote.
nlohmann::ordered_json kernel_times(const Calibration& calibration, double& bytes_per_second);

}  // namespace scanlab::simulator
