// Is a recording right whatever the device does? Here every pair of accesses that nothing orders is found.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// Two operations that touch the same memory, one of them writing, in no certain order.
struct Hazard {
  std::size_t first = 0;  ///< in issue order, as indices of the recording's operations
  std::size_t second = 0;
  Access access{};  ///< what of the second overlaps the first
};

/// The faults of a recording.
struct CheckResult {
  std::vector<Hazard> hazards;
  /// Operations that wait for an event that no earlier operation records: in CUDA they wait for nothing.
  std::vector<std::size_t> waits_for_nothing;

  bool ordered() const { return hazards.empty() && waits_for_nothing.empty(); }
};

/// Two accesses are in order if one operation waits for the other by the rules of ordering.hpp, directly or through
/// others, or if the host waited for one before it issued the other.
CheckResult check(const Recording& recording);

/// Names what of the job is not done, a sentence each: a kernel reads what no copy in before it brought, a copy out
/// takes what no kernel before it wrote, or items of the output are never copied out. "Before" is by issue: whether
/// that holds on the device, check() says.
std::vector<std::string> left_undone(const Recording& recording);

/// A sentence for people.
std::string describe(const Recording& recording, const Hazard& hazard);

}  // namespace scanlab::streams
