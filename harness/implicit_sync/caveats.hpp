// What stops streams from overlapping: every statement of the sources, as an experiment. No CUDA types here.
//
// The method: a kernel spins for a limited time and notes, by the device's clock, when it starts and ends. A call is
// issued while it spins. Whether the call held up the host is read from whether the kernel had ended when the call
// returned; whether it held up another stream, from whether a kernel issued there afterwards started before the first
// one ended. Only device stamps are compared with device stamps: no clock of the host takes part in an answer.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace scanlab::streams {

class Stage;  // where an experiment plays: streams, memory, kernels that spin (stage.hpp)

/// What a source answers to a question; `nothing` if it is silent.
enum class Said { no, yes, nothing };

/// What the device answers.
enum class Verdict { no, yes, unclear, not_applicable };

/// What trials of one experiment answered.
struct Trials {
  int yes = 0;
  std::vector<double> seconds;  ///< one a trial: how long the call took, or what the question is about
  std::string why_not;          ///< why it cannot be done here; then there are no trials

  int count() const { return static_cast<int>(seconds.size()); }
};

/// Yes or no by three quarters of the trials; else unclear.
Verdict verdict(const Trials& trials);

/// One trial: the answer, and a time.
struct Trial {
  bool yes = false;
  double seconds = 0;
};

/// A question that is answered by yes or no.
struct Experiment {
  std::string name;      ///< snake_case, unique; a call's two questions end in .host and .streams
  std::string question;  ///< without its question mark
  Said said = Said::nothing;
  std::string claim;   ///< what the source says, in our words
  std::string source;  ///< who says so

  std::function<Trial(Stage&)> trial;  ///< empty in a build without CUDA
  /// If given: makes the process ready before CUDA starts in it, or returns why this cannot be tried here.
  std::function<std::string()> prepare_process;
  /// Variables that CUDA reads as it starts, or a process that is prepared: the experiment gets a process of its own.
  std::vector<std::pair<std::string, std::string>> environment;
  bool fresh_process = false;
  bool non_blocking_streams = false;  ///< streams that do not synchronise with the legacy default stream
};

/// Every experiment, controls first.
const std::vector<Experiment>& experiments();

/// The controls: if the device does not answer them as they say, the method does not work here and no other answer
/// counts. Without a call in between streams overlap; cudaDeviceSynchronize holds up the host, and so the other stream.
const std::vector<std::string>& controls();

struct Finding {
  const Experiment* experiment = nullptr;
  Trials trials;

  Verdict answer() const { return verdict(trials); }
};

/// Whether the device does the opposite of what the source says.
bool differs(const Finding& finding);

/// Runs `trials` trials in this process. Throws CudaError, and std::runtime_error if the device starts no kernel. Only
/// in a build with CUDA.
Trials run_experiment(const Experiment& experiment, int trials);

}  // namespace scanlab::streams
