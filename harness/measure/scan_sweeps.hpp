// Named sweeps of scans, from data/experiments.toml: lists of selections that together make the report's figures.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/timed_case.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {

/// One selection of a sweep. What a variant is not compiled for is left out.
struct ScanSweepPart {
  /// general: on the device, those that are compiled for every element type. Scans of the literature that are there to
  /// be explained are not.
  enum class Who { device, general, host } who = Who::device;
  OptionWords words;  ///< a selection, as on the command line: {"items", {"2^8:2^30:x2"}}
  std::vector<Cache> caches;
  std::vector<Launch> launches;
  std::string vary{};  ///< a parameter: only variants that have it, once with each of its values
};

struct ScanSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double seconds = 0;      ///< of timed work a repetition aims at on the device
  bool of_chosen = false;  ///< so long that it wants its variants named
  std::vector<ScanSweepPart> parts;
};

const std::vector<ScanSweep>& scan_sweeps();

/// A case, and the columns to time it in: each state of the cache with each way to launch.
struct ScanInColumns {
  Case scan;
  std::vector<Cache> caches;
  std::vector<Launch> launches;
};

/// Every case of a sweep, in the order of its parts. A floor does not depend on the problem and comes once.
std::vector<ScanInColumns> cases(const ScanSweep& sweep);

}  // namespace scanlab::measure
