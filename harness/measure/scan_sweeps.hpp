// Named sweeps of scans: lists of selections that together make the report's figures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/measure/timed_case.hpp"

namespace scanlab::measure {

/// One selection of a sweep. What a variant is not compiled for is left out.
struct ScanSweepPart {
  /// general: on the device, those that are compiled for every element type. Scans of the literature that are there to
  /// be explained are not.
  enum class Who { device, general, host } who = Who::device;
  std::map<std::string, std::string>
      words;  ///< a selection, by option as on the command line: {"items", "2^8:2^30:x2"}
  std::vector<Cache> caches;
  std::vector<Launch> launches;
  std::string vary{};  ///< a parameter: only variants that have it, once with each of its values
};

struct ScanSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double seconds = 5e-3;   ///< of timed work a repetition aims at on the device
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
