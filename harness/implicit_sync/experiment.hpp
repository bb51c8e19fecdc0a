// Statements of the sources on calls that silently serialise streams or block the host, each as an experiment.
//
// The method: a kernel spins for a limited time and notes, by the device's clock, when it starts and ends. A call is
// issued while it spins. The call blocked the host if the kernel had ended when the call returned; it serialised two
// streams if a kernel issued to another stream afterwards started only when the first one had ended. Only device stamps
// are compared with device stamps: no clock of the host takes part in an answer.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace scanlab::implicit_sync {

/// A source's answer to a statement: `nothing` if it is silent, `may` if it leaves it open.
enum class Expected { no, yes, nothing, may };

/// Where a statement stands.
struct Source {
  std::string work;   ///< the lecture, course or tutorial
  std::string place;  ///< the page or section of it
};

class TestBed;  // streams, memory, and kernels that spin (test_bed.hpp)

/// One trial: the answer, and how long the call took, or what the statement is about.
struct Trial {
  bool yes = false;
  double seconds = 0;
};

/// A statement that a device confirms or denies. Subject, verb and object are the statement; nothing else composes it.
struct Experiment {
  std::string name;     ///< snake_case, unique; of the two that are about one call, NAME.host and NAME.streams
  std::string subject;  ///< of a call: the call
  std::string verb;
  std::string object;
  Expected expected = Expected::nothing;
  std::string claim{};                     ///< what the sources say, in our words
  std::vector<Source> sources{};           ///< who says so; none, if only programs do it
  std::function<Trial(TestBed&)> trial{};  ///< null in a build without CUDA

  /// Variables that CUDA reads as it starts: the experiment gets a process of its own.
  std::vector<std::pair<std::string, std::string>> environment{};
  bool fresh_process = false;
  bool non_blocking_streams = false;  ///< streams that do not synchronise with the legacy default stream
  /// If given: makes the process ready before CUDA starts in it, or returns why this cannot be tried here.
  std::function<std::string()> prepare_process{};

  std::string statement() const { return subject + " " + verb + " " + object; }
  std::string describe_sources() const;  ///< the sources as text
  Expected documented() const;           ///< by NVIDIA's documentation of today; nothing: undocumented
};

/// The experiments of which NVIDIA's documentation says something.
std::vector<std::string> documented_experiments();

/// Every experiment, controls first.
const std::vector<Experiment>& experiments();

/// The controls: if the device does not answer them as they say, the method does not work here and no other answer
/// counts. Without a call in between streams overlap; cudaDeviceSynchronize blocks the host, and so the other stream.
bool is_control(const Experiment& experiment);

/// Selects the experiments whose names fit a glob (no globs: all), and always the controls. Throws CommandError (status
/// 2) that names near matches for a glob that fits nothing.
std::vector<const Experiment*> select(const std::vector<std::string>& globs);

}  // namespace scanlab::implicit_sync
