#include "harness/cli/streams_timeline.hpp"

#include <fmt/format.h>

#include "harness/cli/command.hpp"
#ifdef SCANLAB_WITH_CUDA
#include <new>

#include "harness/cuda/error.hpp"
#endif

namespace scanlab::cli {

namespace po = boost::program_options;

void add_timeline_options(po::options_description& options) {
  options.add_options()                                                                       //
      ("out", po::value<std::string>()->value_name("FILE"), "the timeline, as trace events")  //
      ("force", "replace FILE if it holds something")                                         //
      ("gap", po::value<double>()->value_name("PERCENT"),
       "of the makespan: shorter idle gaps are summed, not listed (default 2)")  //
      ("help,h", "this text");
}

double shortest_gap_of(const po::variables_map& values) {
  const double percent = values.count("gap") != 0 ? values["gap"].as<double>() : 2;
  if (!(percent >= 0)) throw CommandError(kBadInput, "--gap takes a percentage, 0 or more");
  return 0.01 * percent;
}

std::optional<WholeFile> output_file(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::nullopt;
  return std::optional<WholeFile>(std::in_place, values[option].as<std::string>(), values.count("force") != 0);
}

#ifdef SCANLAB_WITH_CUDA

streams::MeasuredReplays measure_timeline(const streams::Recording& recording, int repetitions,
                                          std::optional<streams::HostArrays>& arrays) {
  try {
    if (!arrays || !arrays->serves(recording.job)) {
      arrays.reset();
      arrays.emplace(recording.job, 1);
    }
    return streams::measure_warm(recording, *arrays, repetitions);
  } catch (const std::bad_alloc&) {
    throw CommandError(kOutOfMemory, fmt::format("out of host memory for arrays of {} items", recording.job.items));
  } catch (const cuda::OutOfMemory& lack) {
    throw CommandError(
        kOutOfMemory,
        fmt::format("{}: take fewer items, or a schedule that reuses its buffers (double_buffered)", lack.what()));
  } catch (const std::runtime_error& error) {
    throw CommandError(kFailed, error.what());
  }
}

#endif

streams::ScheduledJob only_job(const std::string& command, const std::vector<streams::ScheduledJob>& jobs) {
  if (jobs.size() == 1) return jobs.front();
  throw CommandError(kBadInput, fmt::format("{} takes one schedule and one value of each parameter, and this is {} "
                                            "combinations",
                                            command, jobs.size()));
}

}  // namespace scanlab::cli
