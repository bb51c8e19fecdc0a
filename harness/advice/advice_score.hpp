// Scores advice against a sweep in which the choices were measured.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/advice/advice.hpp"

namespace scanlab::simulator {

struct MeasuredChoice {
  streams::ScheduledJob chosen;
  ScheduleChoice choice;         ///< its seconds are predicted
  std::vector<double> measured;  ///< seconds, of each repetition

  double seconds() const;  ///< the median
  double error() const;    ///< of the prediction, sign aside
};

/// The advice for a problem, and its measured times.
struct ScoredProblem {
  streams::Job job;         ///< workload, items, work and blocks; not its chunks nor streams
  std::size_t choices = 0;  ///< that were measured
  ScheduleChoice stated;    ///< as `advise` gives it
  MeasuredChoice scored;    ///< the stated one, or, if that was not measured, the best that was
  bool stated_was_measured = false;
  MeasuredChoice fastest;      ///< as measured
  std::vector<double> ties;    ///< how much slower than the fastest each is that ties with the scored one
  std::vector<double> errors;  ///< of every prediction

  double slower(const MeasuredChoice& measurement) const { return measurement.seconds() / fastest.seconds() - 1; }
};

struct AdviceScore {
  nlohmann::ordered_json context;  ///< of the measurements
  std::vector<ScoredProblem> problems;

  std::vector<double> slower() const;  ///< than the fastest, what is scored of each problem
  std::vector<double> errors() const;  ///< of every prediction
};

/// Compares the advice for each problem (workload, items, work, blocks) in `path`, a file of `streams run --out`, with
/// the fastest that was measured. Throws CommandError (status 2) for another file.
AdviceScore score_advice(const std::string& path, const DeviceProfile& device);

nlohmann::ordered_json to_json(const AdviceScore& score);

/// The parts, the best choice or why streams are not worth it, and a line for each of the `show` fastest choices.
void print(const Advice& advice, const DeviceProfile& device, int show, std::ostream& out);

/// Lines per problem, the advised choice beside the fastest; then how much is lost, and how wrong predictions are.
void print(const AdviceScore& score, std::ostream& out);

}  // namespace scanlab::simulator
