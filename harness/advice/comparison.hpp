// Predictions of the engine model compared with measured traces of the same jobs.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "harness/simulator/simulation.hpp"
#include "harness/timeline/measured_timeline.hpp"

namespace scanlab::simulator {

/// Predicted less measured, in seconds.
struct OperationError {
  std::size_t operation = 0;
  double start = 0;
  double end = 0;
  double duration = 0;
};

struct Comparison {
  std::vector<OperationError> operations;      ///< those that are work, in the order of issue
  std::set<streams::OperationPair> predicted;  ///< that overlap
  streams::Agreement overlaps;
};

/// The comparison of a trace with its prediction.
struct Prediction {
  double seconds = 0;           ///< as the host saw it, without collection if that was measured
  streams::Agreement overlaps;  ///< with all repetitions that the trace lists
};

/// The hardware work queues that the driver gave streams, beside those of the model.
struct QueueAgreement {
  std::size_t copy_queues = 0;  ///< that a copy engine turned through at most; more than two have several orders
  bool shared = true;           ///< what shares a queue in one shares it in the other
  bool in_order = true;         ///< and copy engines turn to their queues in the same order
};

/// A trace, and what the model makes of its job. Its timelines point at its recording.
struct ComparedTrace {
  ComparedTrace() = default;
  ComparedTrace(const ComparedTrace&) = delete;
  ComparedTrace& operator=(const ComparedTrace&) = delete;

  std::string file;
  nlohmann::ordered_json about;  ///< the trace's otherData
  streams::ScheduledJob chosen;
  int connections = 0;  ///< CUDA_DEVICE_MAX_CONNECTIONS; 0: the trace does not say
  streams::Recording recording;
  streams::Timeline measured;
  double measured_seconds = 0;                        ///< as those of a prediction
  std::size_t repetitions = 1;                        ///< of which that is the median
  std::optional<double> spread;                       ///< of these: largest less smallest, a part of the median
  std::optional<streams::RepeatedOverlaps> repeated;  ///< if the trace tells
  Simulation simulated;
  Comparison comparison;
  Prediction predicted;
  Prediction unaided;            ///< where the model, not the driver, says which hardware work queues serve a stream
  double estimated_seconds = 0;  ///< the pipeline estimate, a closed form of the same costs
  QueueAgreement queues;

  double error() const { return error(predicted); }
  double error(const Prediction& prediction) const { return prediction.seconds / measured_seconds - 1; }
  double estimate_error() const { return estimated_seconds / measured_seconds - 1; }
};

/// Reads a trace of `streams trace --out`, and simulates its job with `profile` and the trace's number of hardware work
/// queues. Throws CommandError (status 2) that names the file for another.
std::unique_ptr<ComparedTrace> compare_trace(const std::string& file, DeviceProfile profile);

/// How far the predictions of all traces are off.
struct PredictionErrors {
  std::vector<double> makespans;  ///< sign aside
  streams::Agreement overlaps;

  void add(double error, const streams::Agreement& pairs);
  double worst() const;
};

inline constexpr double kRepeatable = 0.05;  ///< a spread up to which a measurement is taken to be of the job alone

struct ComparisonSummary {
  PredictionErrors predicted;
  PredictionErrors repeatable;  ///< of these, where the repetitions lie within kRepeatable
  PredictionErrors unaided;
  std::vector<double> estimate_errors;  ///< errors of the pipeline estimate, sign aside
  streams::Agreement repeated;          ///< between repetitions of one measurement, of the traces that list them
  streams::Agreement best;              ///< of any prediction
  streams::Agreement steady;            ///< of predictions, where all repetitions agree
  int shared = 0;                       ///< traces whose queues the driver shared out as the model
  int turned = 0;                       ///< traces whose copy queues may come in several orders
  int in_order = 0;                     ///< of these, those in the model's

  void add(const ComparedTrace& trace);
};

nlohmann::ordered_json to_json(const ComparedTrace& trace);
nlohmann::ordered_json to_json(const ComparisonSummary& summary);
/// Trace events of both: the lanes of the measured timeline, and below them those of the predicted.
nlohmann::ordered_json both_timelines(const ComparedTrace& trace, const nlohmann::ordered_json& about);

/// A line: makespans, the error, and the overlapping pairs of operations that the prediction keeps.
void print(const ComparedTrace& trace, std::ostream& out);

/// A line per operation: how wrong its start, end and duration are.
void print_operations(const ComparedTrace& trace, std::ostream& out);

/// The errors of all traces, with and without their hardware work queues.
void print(const ComparisonSummary& summary, std::ostream& out);

}  // namespace scanlab::simulator
