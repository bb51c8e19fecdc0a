// Named sweeps of schedules: lists of selections that together make the figures of schedules.
#pragma once

#include <string>
#include <vector>

#include "harness/schedule/schedule.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {

/// A selection: what each option has on the command line, as in "16,64"; every combination of them is a job.
struct ScheduleSweepPart {
  std::string schedules;
  std::string workloads;
  std::string items;
  std::string chunks;
  std::string streams{};  ///< empty, as the next: the default of a job
  std::string work{};
};

struct ScheduleSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double cap = 0;  ///< seconds of wall time a case may take over all rounds
  std::vector<ScheduleSweepPart> parts;
};

const std::vector<ScheduleSweep>& schedule_sweeps();

/// Every job of a sweep, in the order of its parts; some come twice. What `said` has of schedules and workloads narrows
/// it; throws CommandError (status 2) for what a sweep sets itself.
std::vector<streams::ScheduledJob> jobs(const ScheduleSweep& sweep, const OptionWords& said);

}  // namespace scanlab::measure
