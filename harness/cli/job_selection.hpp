// Which jobs a command of `scanlab streams` works on: schedules and workloads by glob, and every combination of their
// parameters.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/schedule/schedule.hpp"

namespace scanlab::cli {

/// Adds --schedule (for a positional word), --workload, --items, --chunks, --streams, --memory, --buffers, --budget,
/// --blocks and --work. Lists are comma-separated or repeated; counts are as those of --items elsewhere.
void add_job_options(boost::program_options::options_description& options, const std::string& default_workloads,
                     const std::string& default_items);

/// What was chosen; empty lists are what was not said.
struct JobSelection {
  std::vector<const streams::Schedule*> schedules;
  bool all = false;  ///< whether the schedules were called "all"
  std::vector<const streams::Workload*> workloads;
  std::vector<std::int64_t> items;
  std::vector<int> chunks;
  std::vector<int> streams;
  std::vector<streams::HostMemory> memories;  ///< empty: each schedule's own
  std::vector<int> buffers;
  std::optional<std::int64_t> budget;  ///< bytes of device memory, which says how many buffers
  std::vector<int> blocks;
  std::vector<int> work;

  /// Every combination, the schedules of one set of parameters next to each other. What is not said has the default of
  /// `Job`. Throws CommandError (status 2) with a job's refusal.
  std::vector<streams::ScheduledJob> jobs() const;
};

/// Throws CommandError (status 2) that names near matches for a word that fits nothing.
JobSelection read_job_selection(const boost::program_options::variables_map& values,
                                const std::string& default_workloads, const std::string& default_items);

}  // namespace scanlab::cli
