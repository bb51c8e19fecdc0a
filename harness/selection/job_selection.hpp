// Which jobs are meant: schedules and workloads by glob, and every combination of their parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/schedule/schedule.hpp"
#include "harness/selection/words.hpp"

namespace scanlab {

inline constexpr char kDefaultWorkload[] = "scale";
inline constexpr char kDefaultJobItems[] = "2^26";

/// The chosen values. Parameters that are not stated have the defaults of `Job`.
struct JobSelection {
  std::vector<const streams::Schedule*> schedules;
  bool all = false;  ///< whether the schedules were called "all"
  std::vector<const streams::Workload*> workloads;
  std::vector<streams::Job> combinations;     ///< of workload, items, chunks, streams, buffers, blocks and work
  std::vector<streams::HostMemory> memories;  ///< empty: each schedule's own
  std::optional<std::int64_t> budget;  ///< bytes of device memory, which say how many buffers, and what is left out

  /// Every combination, the schedules of one set of parameters next to each other. Jobs that take more device memory
  /// than the budget are left out, with a message to `err`. Throws CommandError (status 2) with a job's refusal, or if
  /// the budget leaves out all.
  std::vector<streams::ScheduledJob> jobs(std::ostream* err = nullptr) const;
};

/// Selects jobs by `schedule` and `workload` (globs, or all), `items`, `chunks`, `streams`, `memory`, `buffers`,
/// `budget` (bytes), `blocks` and `work`; `stated` has them as typed. Throws CommandError (status 2) that names near
/// matches for a word that fits nothing.
JobSelection select_jobs(OptionWords stated, const std::string& default_workloads = kDefaultWorkload,
                         const std::string& default_items = kDefaultJobItems);

}  // namespace scanlab
