// Is a recording right whatever the device does? Here every pair of accesses that nothing orders is found.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// Two operations that touch the same memory, one of them writing, in no certain order.
struct Hazard {
  std::size_t first = 0;  ///< in issue order, as indices of the recording's operations
  std::size_t second = 0;
  bool first_writes = false;
  Access access{};  ///< what of the second overlaps the first
};

/// The faults of a recording.
struct CheckResult {
  std::vector<Hazard> hazards;
  std::vector<std::size_t> waits_for_nothing;  ///< as Ordering has them

  bool ordered() const { return hazards.empty() && waits_for_nothing.empty(); }
};

/// Finds the accesses that neither the rules of ordering.hpp nor a wait of the host between their issues order.
CheckResult check(const Recording& recording);

/// Names what of the job is not done, a sentence each: a kernel reads what no copy in brought, a copy out takes what no
/// kernel wrote, or items of the output are never copied out. The order is that of issue.
std::vector<std::string> left_undone(const Recording& recording);

/// A sentence for people.
std::string describe(const Recording& recording, const Hazard& hazard);

/// A schedule, recorded and checked.
struct CheckedSchedule {
  explicit CheckedSchedule(const ScheduledJob& chosen)
      : chosen(chosen),
        recording(record(*chosen.schedule, chosen.job)),
        result(check(recording)),
        undone(left_undone(recording)) {}

  bool right() const { return result.ordered() && undone.empty(); }

  ScheduledJob chosen;
  Recording recording;
  CheckResult result;
  std::vector<std::string> undone;  ///< of the job
};

/// Whether it has no fault, and does the whole job; a control must have a fault if it issues anything.
bool as_expected(const CheckedSchedule& checked);

/// A line, and one per fault, of many the first ones. With `brief` a control that is caught takes two lines.
void print(const CheckedSchedule& checked, bool brief, std::ostream& out);

}  // namespace scanlab::streams
