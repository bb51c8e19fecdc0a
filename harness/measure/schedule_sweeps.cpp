#include "harness/measure/schedule_sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/host/status.hpp"
#include "harness/measure/experiments.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/selection/job_selection.hpp"

namespace scanlab::measure {

void read_value(const Value& row, ScheduleSweep& sweep) {
  FieldReader fields(row);
  fields("name", sweep.name);
  fields("about", sweep.about);
  fields("rounds", sweep.rounds);
  fields.optional("cap", sweep.cap);
  for (const Value& part : row.at("parts").items()) sweep.parts.push_back(read_option_words(part));
}

const std::vector<ScheduleSweep>& schedule_sweeps() {
  static const auto all = experiments().at("schedule_sweep").get<std::vector<ScheduleSweep>>();
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
  std::set<std::string> seen;  // a schedule with a fixed number of streams has one job for all numbers
  std::erase_if(all, [&](const streams::ScheduledJob& each) {
    return (said.contains("schedule") && !among(wanted.schedules, each.schedule)) ||
           !among(wanted.workloads, each.job.workload) || !seen.insert(facts_of(each).dump()).second;
  });
  return all;
}

}  // namespace scanlab::measure
