// The results of timing schedules, for people.
#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include "harness/measure/schedule_session.hpp"

namespace scanlab::measure {

/// A line per part: median in ms, GB/s of a copy, or why it was not timed.
void print(const std::vector<std::unique_ptr<Part>>& parts, std::ostream& out);

/// A line per schedule: medians in ms by the host's clock and between events, GB/s of all bytes that cross the bus by
/// the host's, samples, and whether the output was right.
void print(const std::vector<TimedSchedule>& schedules, std::ostream& out);

/// kFailed if a schedule or a part failed, or a control did not; kInterrupted after Ctrl-C; kOutOfMemory if one was
/// skipped for lack of memory; else kOk.
int status_of(const std::vector<TimedSchedule>& schedules, const std::vector<std::unique_ptr<Part>>& parts);

}  // namespace scanlab::measure
