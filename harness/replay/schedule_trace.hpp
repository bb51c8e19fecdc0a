// Traces and diagnoses of schedules: the timeline of one, from the device's own records, files of many, each recorded
// in a process of its own, and the causes of missing overlap. No CUDA types here.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/host/fresh_process.hpp"
#include "harness/replay/replayer.hpp"
#include "harness/timeline/diagnosis.hpp"
#include "harness/timeline/measured_timeline.hpp"

namespace scanlab::streams {

struct ReplaySettings {
  int repetitions = 5;   ///< of each kind
  double warm_up = 0;    ///< seconds of replays before the first that counts; one at least
  bool stamped = false;  ///< whether the issues of the plain ones are stamped
  bool verified = true;  ///< whether outputs are poisoned before and compared after each
};

/// Replays a recording without collection, then with it. `recording` outlives the result. Throws as Replayer,
/// ActivityCollector and spans_of do.
MeasuredReplays measure_replays(const Recording& recording, HostArrays& arrays, const ReplaySettings& settings);

/// One schedule, measured with so many repetitions of each kind. Only in a build with CUDA.
struct ScheduleTrace {
  /// `arrays`: as HostArrays::of() has them. Throws CommandError: status 4 for lack of memory, 1 for what else goes
  /// wrong.
  ScheduleTrace(const ScheduledJob& job, int repetitions, std::optional<HostArrays>& arrays);
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

/// Writes a file per job into `folder`: the ScheduleTrace::text() that `command` prints in a fresh process. A job whose
/// process gives no timeline is named on `err`, and the others go on. Returns kOk, kInterrupted, or the status of what
/// failed last; throws CommandError (status 2) for a file that cannot be written.
int trace_all(const std::vector<ScheduledJob>& jobs, int repetitions, const std::filesystem::path& folder, bool force,
              const std::vector<std::string>& command, std::ostream& out, std::ostream& err,
              const RunProcess& run_process);

/// Seconds: gaps below are summed up, so all of them.
inline constexpr double kNoGaps = 1e9;

/// A line each, or that there is none.
void print(const std::vector<Diagnosis>& diagnoses, std::ostream& out);

/// A schedule, measured and diagnosed.
struct Examined {
  ScheduledJob chosen;
  double seconds = 0;  ///< without collection, the median
  bool wrong = false;  ///< its output is, and it is no control
  std::vector<Diagnosis> diagnoses;
};

/// Measures one, and prints its timeline and diagnosis. Only in a build with CUDA. Throws as ScheduleTrace does.
Examined examine(const ScheduledJob& chosen, std::optional<HostArrays>& arrays, std::ostream& out);

/// How much longer one takes than the other, and the causes that one alone has.
void compare(const Examined& a, const Examined& b, std::ostream& out);

}  // namespace scanlab::streams
