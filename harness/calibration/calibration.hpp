// From the times of microbenchmarks to a device profile. Plain C++, no CUDA: what was measured is a file, and a profile
// can be had from it again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/host/document.hpp"
#include "harness/schedule/recording.hpp"
#include "harness/timeline/measured_timeline.hpp"

namespace scanlab::simulator {

/// A recording, run as a schedule is, though none that anybody would compare: copies alone, both ways, kernels behind a
/// copy, hand-overs, calls.
struct Microbenchmark {
  std::string name;              ///< "both_ways/streams:4/bytes:1048576": by its beginning it is looked up
  nlohmann::ordered_json facts;  ///< its kind, and in what experiments of the kind differ, for the file of --raw
  streams::Recording recording{};

  double bytes() const { return facts.value("bytes", 0.0); }  ///< of each copy, if all have as many
};

/// `works`: how much work an item, of the kernels of every workload that heeds it. The order is that of the host arrays
/// that they need, so that neighbours can share them.
std::vector<Microbenchmark> calibration_experiments(const std::vector<int>& works);

/// The facts from CUDA that a profile needs.
struct DeviceLimits {
  std::string name;  ///< as the driver calls it
  std::string compute_capability;
  int multiprocessors = 0;
  int resident_blocks = 0;   ///< a multiprocessor, at most
  int resident_threads = 0;  ///< likewise
};

struct MeasuredExperiment {
  Microbenchmark experiment;
  streams::MeasuredReplays replays;
  std::string failure;  ///< why there are none; empty: there are
};

struct Calibration {
  nlohmann::ordered_json context;  ///< provenance
  DeviceLimits limits;
  std::vector<int> works;
  std::vector<MeasuredExperiment> experiments;  ///< those of calibration_experiments(works), in that order
};

/// Measurements that lack what a profile needs (status 1).
struct CalibrationError : CommandError {
  explicit CalibrationError(const std::string& sentence) : CommandError(kFailed, sentence) {}
};

/// Measures every experiment with `measure`. An exception is recorded as the experiment's failure; a CommandError ends
/// the calibration.
Calibration calibrate(const DeviceLimits& limits, const std::vector<int>& works, nlohmann::ordered_json context,
                      const std::function<streams::MeasuredReplays(const Microbenchmark&)>& measure);

inline constexpr char kCalibrationSchema[] = "scanlab-calibration/1";

/// Every repetition, in nanoseconds: the file that `scanlab calibrate --raw` writes.
nlohmann::ordered_json to_json(const Calibration& calibration);
/// Reads it. Throws DocumentError for another file, or one that was measured by other experiments.
Calibration parse_calibration(const Value& document);

/// A profile, in the form of data/devices/, which lacks no figure. `name`: what it calls itself. Throws
/// CalibrationError that names an experiment which is missing.
nlohmann::ordered_json profile_of(const Calibration& calibration, const std::string& name);

}  // namespace scanlab::simulator
