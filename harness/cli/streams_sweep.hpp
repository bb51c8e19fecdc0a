// Named sweeps of `scanlab streams run`: lists of selections that together make the figures of schedules.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/job_selection.hpp"

namespace scanlab::cli {

struct StreamsSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double cap = 0;  ///< seconds of wall time a case may take over all rounds
  /// Selections, each of job options as on the command line: "--chunks=16,64".
  std::vector<std::vector<std::string>> parts;
};

const std::vector<StreamsSweep>& streams_sweeps();

/// Every job of a sweep, in the order of its parts; some come twice. `values`, of job options, may narrow schedules and
/// workloads; throws CommandError (status 2) for what a sweep sets itself.
std::vector<streams::ScheduledJob> jobs(const StreamsSweep& sweep, const boost::program_options::variables_map& values);

/// The sweeps that there are, as the help of --sweep.
std::string sweep_help();

}  // namespace scanlab::cli
