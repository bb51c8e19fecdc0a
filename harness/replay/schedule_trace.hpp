// Traces of schedules: the timeline of one, from the device's own records, and files of many, each recorded in a
// process of its own. No CUDA types here.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/host/fresh_process.hpp"
#include "harness/replay/cuda_timeline.hpp"

namespace scanlab::streams {

/// As measure_replays(). `arrays`, of the job before, are used again if they serve: filling them takes longer than a
/// replay. Only in a build with CUDA. Throws CommandError: status 4 for lack of memory, 1 for what else goes wrong.
MeasuredReplays measure_timeline(const Recording& recording, int repetitions, std::optional<HostArrays>& arrays);

/// One schedule, measured with so many repetitions of each kind. Only in a build with CUDA.
struct ScheduleTrace {
  /// Throws as measure_timeline() does.
  ScheduleTrace(const ScheduledJob& job, int repetitions);
  ScheduleTrace(const ScheduleTrace&) = delete;
  ScheduleTrace& operator=(const ScheduleTrace&) = delete;

  /// Whether the output was right, or wrong as a control's should be.
  bool passed() const { return measured.wrong.empty() || chosen.schedule->about.control; }
  /// The trace's file: trace events, with `about`, the job and the times of all repetitions.
  std::string text(nlohmann::ordered_json about) const;

  ScheduledJob chosen;
  Recording recording;
  MeasuredReplays measured;
  TimelineAnalysis analysis;
};

/// Runs this program with such words, and waits for it.
using RunProcess = std::function<FreshProcess(const std::vector<std::string>& words)>;

/// Writes a file each into `folder`, of what the job's process prints, which is ScheduleTrace::text(): whole, or not at
/// all. `command` are the words of the command that prints it in a fresh process. A job whose process gives no timeline
/// is named on `err`, and the others go on. Returns kOk, kInterrupted, or the status of what failed last; throws
/// CommandError (status 2) for a file that cannot be written.
int trace_all(const std::vector<ScheduledJob>& jobs, int repetitions, const std::filesystem::path& folder, bool force,
              const std::vector<std::string>& command, std::ostream& out, std::ostream& err,
              const RunProcess& run_process);

}  // namespace scanlab::streams
