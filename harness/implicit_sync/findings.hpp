// The answers of this device to the experiments.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/implicit_sync/experiment.hpp"

namespace scanlab::implicit_sync {

inline constexpr char kImplicitSyncSchema[] = "scanlab-implicit-sync/3";

/// A device's answer to a statement.
enum class Answer { no, yes, unclear, not_tried };

const char* word(Expected expected);
const char* word(Answer answer);

/// The results of one experiment's trials.
struct Trials {
  int yes = 0;
  std::vector<double> seconds{};  ///< one a trial: how long the call took, or what the statement is about
  std::string refusal{};          ///< why it cannot be tried here; then there are no trials

  int count() const { return static_cast<int>(seconds.size()); }
};

struct Finding {
  const Experiment* experiment = nullptr;
  Trials trials;

  /// Yes or no by three quarters of the trials; else unclear.
  Answer answer() const;
  /// Whether the device does the opposite of what the source says.
  bool differs() const;
};

/// Runs so many trials in this process. Throws CudaError, and std::runtime_error if the device starts no kernel. Only
/// in a build with CUDA.
Trials run_experiment(const Experiment& experiment, int repetitions);

/// Runs the trials in this process, or in a fresh one if the experiment needs that: `command` are the words by which
/// this program comes to answer_in_fresh_process(). An error of CUDA ends the experiment alone: a call may not exist on
/// this device.
Finding find_out(const Experiment& experiment, int trials, const std::vector<std::string>& command);

/// The text that the fresh process prints; `words` are the experiment's name and the number of trials. Throws
/// CommandError.
std::string answer_in_fresh_process(const std::vector<std::string>& words);

/// Throws CommandError (status 1) if this is a control that is not answered as it must be.
void require_control(const Finding& finding);

/// An entry of the results file, with its raw trials.
nlohmann::ordered_json to_json(const Finding& finding);

/// Each statement, with what its source says of it.
void print_list(const std::vector<const Experiment*>& all, std::ostream& out);

/// A line per experiment: what the source says and what this device does; then the answers that differ.
void print(const std::vector<Finding>& findings, std::ostream& out);

/// The results file: every trial, behind its provenance.
nlohmann::ordered_json document(const std::vector<Finding>& findings, const nlohmann::ordered_json& provenance);

}  // namespace scanlab::implicit_sync
