// The microbenchmarks of `scanlab calibrate`: copies alone, both ways, kernels behind a copy, hand-overs, calls. Plain
// C++, no CUDA: each is a recording, run as a schedule is. None is a schedule that anybody would compare.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::simulator {

struct Microbenchmark {
  std::string name;              ///< "both_ways/streams:4/bytes:1048576": by its beginning it is looked up
  nlohmann::ordered_json facts;  ///< its kind, and in what experiments of the kind differ, for the file of --raw
  streams::Recording recording{};

  double bytes() const { return facts.value("bytes", 0.0); }  ///< of each copy, if all have as many
};

/// `works`: how much work an item, of the kernels of every workload that heeds it. The order is that of the host arrays
/// that they need, so that neighbours can share them.
std::vector<Microbenchmark> calibration_experiments(const std::vector<int>& works);

}  // namespace scanlab::simulator
