// What `scanlab streams trace`, `scanlab streams why` and `scanlab simulate` share: a schedule as a timeline, its print
// and its facts.
#pragma once

#include <boost/program_options.hpp>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/job_selection.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/timeline/timeline.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/error.hpp"
#include "harness/replay/cuda_timeline.hpp"
#endif

namespace scanlab::cli {

#ifdef SCANLAB_WITH_CUDA
/// `arrays`, of the job before, are used again if they serve: filling them takes longer than a replay. Throws
/// CommandError: status 4 for lack of memory, 1 for what else goes wrong.
streams::MeasuredTimeline measure_timeline(const streams::Recording& recording, int repetitions,
                                           std::optional<streams::HostArrays>& arrays);
#endif

/// Overlap, what each engine did, the critical path, and every gap of at least `shortest_gap` seconds with its reason.
void print(const streams::Timeline& timeline, const streams::TimelineAnalysis& analysis, double shortest_gap,
           std::ostream& out);

/// Adds --out, --force, --gap and --help.
void add_timeline_options(boost::program_options::options_description& options);

/// Of the makespan; throws CommandError (status 2).
double shortest_gap_of(const boost::program_options::variables_map& values);

/// What a trace says of its schedule and job.
measure::Facts facts_of(const streams::ScheduledJob& chosen);
/// The inverse. Throws Facts::exception for facts that are missing or of another kind, std::invalid_argument for a
/// schedule or workload that this program does not have.
streams::ScheduledJob job_of(const measure::Facts& facts);

/// Throws CommandError (status 2) unless there is exactly one.
streams::ScheduledJob only_job(const std::string& command, const std::vector<streams::ScheduledJob>& jobs);

/// "depth_first, scale: 1000 items in 8 chunks, 4 streams, pinned memory, work 1".
std::string describe(const streams::ScheduledJob& chosen);

}  // namespace scanlab::cli
