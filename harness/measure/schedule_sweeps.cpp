#include "harness/measure/schedule_sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/host/status.hpp"
#include "harness/measure/experiments.hpp"
#include "harness/selection/job_selection.hpp"

namespace scanlab::measure {

const std::vector<ScheduleSweep>& schedule_sweeps() {
  static const std::vector<ScheduleSweep> all = [] {
    std::vector<ScheduleSweep> sweeps;
    for_each_row(experiments(), "schedule_sweep", [&](const toml::table& row) {
      ScheduleSweep& sweep = sweeps.emplace_back(ScheduleSweep{.name = text(row, "name"),
                                                               .about = text(row, "about"),
                                                               .rounds = row["rounds"].value_or(0),
                                                               .cap = row["cap"].value_or(0.0)});
      for_each_row(row, "parts", [&](const toml::table& part) {
        OptionWords& words = sweep.parts.emplace_back();
        for (const auto& [option, value] : part) words[std::string(option.str())] = {value.value_or(std::string{})};
      });
    });
    return sweeps;
  }();
  return all;
}

std::vector<streams::ScheduledJob> jobs(const ScheduleSweep& sweep, const OptionWords& said) {
  for (const char* option : {"items", "chunks", "streams", "memory", "buffers", "budget", "blocks", "work"}) {
    if (!said.contains(option)) continue;
    throw CommandError(kBadInput,
                       fmt::format("a sweep sets --{} itself; only schedules and --workload narrow it", option));
  }
  std::vector<streams::ScheduledJob> all;
  for (const OptionWords& part : sweep.parts) {
    const std::vector<streams::ScheduledJob> jobs = select_jobs(part, "", "").jobs();
    all.insert(all.end(), jobs.begin(), jobs.end());
  }
  const JobSelection wanted = select_jobs(said, "all", "1");
  const auto among = [](const auto& those, const auto* one) { return std::ranges::find(those, one) != those.end(); };
  std::erase_if(all, [&](const streams::ScheduledJob& each) {
    return (said.contains("schedule") && !among(wanted.schedules, each.schedule)) ||
           !among(wanted.workloads, each.job.workload);
  });
  return all;
}

}  // namespace scanlab::measure
