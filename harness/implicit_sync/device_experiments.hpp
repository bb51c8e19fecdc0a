// How the experiments are tried, by name; only in builds with CUDA. No CUDA types here.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace scanlab::implicit_sync {

class TestBed;  // streams, memory, and kernels that spin (test_bed.hpp)

/// One trial: the answer, and how long the call took, or what the statement is about.
struct Trial {
  bool yes = false;
  double seconds = 0;
};

struct DeviceExperiment {
  std::function<Trial(TestBed&)> trial;
  /// If given: makes the process ready before CUDA starts in it, or returns why this cannot be tried here.
  std::function<std::string()> prepare_process{};
};

using DeviceExperiments = std::map<std::string, DeviceExperiment>;

/// Calls that are issued while a kernel spins: for each, NAME.host and NAME.streams.
DeviceExperiments calls();
/// Statements with trials of their own.
DeviceExperiments trials();

}  // namespace scanlab::implicit_sync
