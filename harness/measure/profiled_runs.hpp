// Runs for a profiler: each case once, untimed, in a range of its name.
#pragma once

#include <ostream>
#include <vector>

#include "harness/measure/scan_session.hpp"

namespace scanlab::measure {

inline constexpr char kRangesSchema[] = "scanlab-ranges/1";

/// The cases that ran once.
struct ProfiledRuns {
  int status = 0;                 ///< kOutOfMemory if a case was skipped for lack of memory; kInterrupted: not all ran
  Facts ranges = Facts::array();  ///< the name of each range and the fields of its case, so that who reads a profiler's
                                  ///< report takes nothing from the names in it
};

/// Runs each case that its variant can take, in the profiler's capture range, and says so on `out`.
ProfiledRuns run_each_once(const std::vector<TimedCase>& cases, const Backends& backends, std::ostream& out);

}  // namespace scanlab::measure
