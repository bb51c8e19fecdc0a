// What a check of a schedule found, for people.
#pragma once

#include <ostream>

#include "harness/schedule/hazards.hpp"

namespace scanlab::streams {

/// A schedule, recorded and checked.
struct CheckedSchedule {
  explicit CheckedSchedule(const ScheduledJob& chosen)
      : chosen(chosen), recording(record(*chosen.schedule, chosen.job)), result(check(recording)) {}

  ScheduledJob chosen;
  Recording recording;
  CheckResult result;
};

bool as_expected(const CheckedSchedule& checked);

/// A line, and one per fault, of many the first ones. With `brief` a control that is caught takes two lines.
void print(const CheckedSchedule& checked, bool brief, std::ostream& out);

}  // namespace scanlab::streams
