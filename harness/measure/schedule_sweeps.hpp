// Named sweeps of schedules, from data/experiments.toml: lists of selections that together make the figures of
// schedules.
#pragma once

#include <string>
#include <vector>

#include "harness/schedule/schedule.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {

struct ScheduleSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double cap = 0;  ///< seconds of wall time a case may take over all rounds
  /// Selections by option, as in "16,64"; every combination of the words of a part is a job.
  std::vector<OptionWords> parts;
};

const std::vector<ScheduleSweep>& schedule_sweeps();

/// Each job of a sweep, in the order of its parts. What `said` has of schedules and workloads narrows
/// it; throws CommandError (status 2) for what a sweep sets itself.
std::vector<streams::ScheduledJob> jobs(const ScheduleSweep& sweep, const OptionWords& said);

}  // namespace scanlab::measure
