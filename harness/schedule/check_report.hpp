// The result of a schedule's check, for people.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/schedule/hazards.hpp"

namespace scanlab::streams {

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
