// Many timelines of `scanlab streams trace`, each recorded in a process of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/job_selection.hpp"
#include "harness/host/fresh_process.hpp"

namespace scanlab::cli {

/// Runs this program with such words, and waits for it.
using RunProcess = std::function<FreshProcess(const std::vector<std::string>& words)>;

/// Writes a file each into `folder`, of what the job's process prints: whole, or not at all. A job whose process gives
/// no timeline is named, and the others go on. Returns kOk, kInterrupted, or the status of what failed last; throws
/// CommandError (status 2) for a file that cannot be written.
int trace_all(const std::vector<streams::ScheduledJob>& jobs, int repetitions, const std::filesystem::path& folder,
              bool force, Context& context, const RunProcess& run_process);

}  // namespace scanlab::cli
