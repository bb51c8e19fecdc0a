// What came of timing schedules, for people.
#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include "harness/measure/schedule_session.hpp"

namespace scanlab::measure {

/// A line per part that was timed: median in ms, GB/s of a copy.
void print(const std::vector<std::unique_ptr<Part>>& parts, std::ostream& out);

/// A line per schedule: medians in ms by the host's clock and between events, GB/s of all bytes that cross the bus by
/// the host's, samples, and whether the output was right.
void print(const std::vector<TimedSchedule>& schedules, std::ostream& out);

/// kFailed if a schedule failed, or a control did not; kInterrupted after Ctrl-C; kOutOfMemory if a schedule was
/// skipped for lack of memory; else kOk.
int status_of(const std::vector<TimedSchedule>& schedules);

}  // namespace scanlab::measure
