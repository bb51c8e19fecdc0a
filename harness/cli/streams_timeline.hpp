// What the commands on schedules share: a schedule measured, and options of the files that they write.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/job_selection.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/schedule/facts.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/replay/cuda_timeline.hpp"
#endif

namespace scanlab::cli {

#ifdef SCANLAB_WITH_CUDA
/// `arrays`, of the job before, are used again if they serve: filling them takes longer than a replay. Throws
/// CommandError: status 4 for lack of memory, 1 for what else goes wrong.
streams::MeasuredReplays measure_timeline(const streams::Recording& recording, int repetitions,
                                          std::optional<streams::HostArrays>& arrays);
#endif

/// Adds --out, --force, --gap and --help.
void add_timeline_options(boost::program_options::options_description& options);

/// Of the makespan; throws CommandError (status 2).
double shortest_gap_of(const boost::program_options::variables_map& values);

/// The file that --out, or another option, asks for, which --force replaces. Throws as WholeFile does.
std::optional<WholeFile> output_file(const boost::program_options::variables_map& values, const char* option = "out");

/// Throws CommandError (status 2) unless there is exactly one.
streams::ScheduledJob only_job(const std::string& command, const std::vector<streams::ScheduledJob>& jobs);

}  // namespace scanlab::cli
