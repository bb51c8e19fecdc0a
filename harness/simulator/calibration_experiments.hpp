// The microbenchmarks of `scanlab calibrate`: copies alone, both ways, kernels behind a copy, hand-overs, calls. Plain
// C++, no CUDA: each is a recording, run as a schedule is. None is a schedule that anybody would compare.
#pragma once

#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::simulator {

struct Experiment {
  std::string name;  ///< "copies_in/bytes:65536": what, and its parameter
  streams::Recording recording;
};

/// `works`: how much work an item, of the kernels of every workload that heeds it. The order is that of the host arrays
/// that they need, so that neighbours can share them.
std::vector<Experiment> calibration_experiments(const std::vector<int>& works);

}  // namespace scanlab::simulator
