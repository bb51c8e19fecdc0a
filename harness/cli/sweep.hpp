// Named sweeps: lists of selections that together make the report's figures.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/timed_case.hpp"

namespace scanlab::cli {

/// One selection of a sweep. What a variant is not compiled for is left out.
struct SweepPart {
  /// general: on the device, those that are compiled for every element type. Scans of the literature that are there to
  /// be explained are not.
  enum class Who { device, general, host } who = Who::device;
  std::vector<std::string> words;  ///< selection options as on the command line: "--items=2^10:2^28:x4"
  std::vector<measure::Cache> caches;
  std::vector<measure::Launch> launches;
  std::string vary{};  ///< a parameter: only variants that have it, once with each of its values
};

struct Sweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double seconds = 5e-3;   ///< of timed work a repetition aims at on the device
  bool of_chosen = false;  ///< so long that it wants its variants named
  std::vector<SweepPart> parts;
};

const std::vector<Sweep>& sweeps();

/// A case, and the columns to time it in: each state of the cache with each way to launch.
struct SweepCase {
  Case scan;
  std::vector<measure::Cache> caches;
  std::vector<measure::Launch> launches;
};

/// Every case of a sweep, in the order of its parts. A floor does not depend on the problem and comes once.
std::vector<SweepCase> cases(const Sweep& sweep);

}  // namespace scanlab::cli
