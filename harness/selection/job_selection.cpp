#include "harness/selection/job_selection.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <utility>

#include "harness/host/status.hpp"
#include "harness/schedule/chunks.hpp"
#include "harness/schedule/recording.hpp"

namespace scanlab {

namespace {

/// The entries whose ids fit the globs, each once; "all" fits every one.
template <class Entry>
std::vector<const Entry*> entries(Words globs) {
  std::ranges::replace(globs, "all", "*");
  const auto none = [](const std::string& glob) { unknown(Entry::kNoun, glob, RegistryOf<Entry>::instance().ids()); };
  return matching<Entry>(globs, none);
}

/// Puts in place of each job one with each of the values.
template <class Value, class Member>
void vary(std::vector<streams::Job>& jobs, const std::vector<Value>& values, Member streams::Job::*member) {
  std::vector<streams::Job> wider;
  for (const streams::Job& job : jobs) {
    for (const Value& value : values) {
      wider.push_back(job);
      wider.back().*member = static_cast<Member>(value);
    }
  }
  jobs = std::move(wider);
}

/// The buffers that a budget holds; two at least, of each input and of the output.
int buffers_for(const streams::Job& job, std::int64_t budget) {
  const streams::WorkloadDescription& workload = job.workload->about;
  const std::int64_t one_of_each = workload.array_bytes(streams::longest_chunk(job.items, job.chunks));
  const std::int64_t buffers = budget / std::max<std::int64_t>(1, one_of_each);
  if (buffers >= 2) return static_cast<int>(std::min<std::int64_t>(buffers, std::max(2, job.chunks)));
  refuse(
      fmt::format("--budget: {} bytes are less than two chunks of {}, which take {} bytes with their output: take more "
                  "chunks, or a larger budget",
                  budget, workload.id, 2 * one_of_each));
}

/// Leaves out what takes more: a schedule with a buffer for each chunk does so however many buffers are asked for.
void keep_within(std::int64_t budget, std::vector<streams::ScheduledJob>& jobs, std::ostream* err) {
  std::string first;
  const std::size_t all = jobs.size();
  std::erase_if(jobs, [&](const streams::ScheduledJob& each) {
    const std::int64_t bytes = device_bytes(record(*each.schedule, each.job));
    if (bytes <= budget) return false;
    if (first.empty()) {
      first = fmt::format("{} takes {} bytes of device memory, and --budget is {}", describe(each), bytes, budget);
    }
    return true;
  });
  if (jobs.empty()) refuse(first + ": take a schedule that reuses buffers, or a larger budget");
  if (err != nullptr && !first.empty()) {
    fmt::print(*err, "scanlab: --budget leaves out {} of {} jobs: {}\n", all - jobs.size(), all, first);
  }
}

}  // namespace

JobSelection select_jobs(OptionWords stated, const std::string& default_workloads, const std::string& default_items) {
  stated.try_emplace("workload", Words{default_workloads});
  stated.try_emplace("items", Words{default_items});
  JobSelection selection;
  const Words schedules = words_of(stated, "schedule");
  selection.all = std::ranges::find(schedules, "all") != schedules.end();
  selection.schedules = entries<streams::Schedule>(schedules);
  selection.workloads = entries<streams::Workload>(words_of(stated, "workload"));
  selection.combinations.emplace_back();  // all defaults
  vary(selection.combinations, selection.workloads, &streams::Job::workload);
  vary(selection.combinations, counts_of(stated, "items"), &streams::Job::items);
  for (const auto& [option, member] : {std::pair{"chunks", &streams::Job::chunks},
                                       {"streams", &streams::Job::streams},
                                       {"buffers", &streams::Job::buffers},
                                       {"blocks", &streams::Job::blocks},
                                       {"work", &streams::Job::work}}) {
    const std::vector<std::int64_t> counts = counts_of(stated, option, 0, streams::kMaxChunksOrStreams);
    if (!counts.empty()) vary(selection.combinations, counts, member);
  }
  for (const std::string& word : words_of(stated, "memory")) {
    if (word != "pinned" && word != "pageable" && word != "all") unknown("memory", word, {"pinned", "pageable", "all"});
    if (word != "pageable") selection.memories.push_back(streams::HostMemory::pinned);
    if (word != "pinned") selection.memories.push_back(streams::HostMemory::pageable);
  }
  if (const auto budget = stated.find("budget"); budget != stated.end()) {
    if (stated.contains("buffers")) refuse("--budget says how many buffers: leave out --buffers");
    selection.budget = static_cast<std::int64_t>(parse_bytes(budget->second.front(), "--budget"));
  }
  return selection;
}

std::vector<streams::ScheduledJob> JobSelection::jobs(std::ostream* err) const {
  std::vector<streams::ScheduledJob> all;
  for (streams::Job job : combinations) {
    if (const std::string reason = streams::refusal(job); !reason.empty()) refuse(reason);
    if (budget) job.buffers = buffers_for(job, *budget);
    for (const streams::Schedule* schedule : schedules) {
      for (const streams::HostMemory memory : memories.empty() ? std::vector{schedule->about.memory} : memories) {
        all.push_back({schedule, job});
        all.back().job.memory = memory;
      }
    }
  }
  if (budget) keep_within(*budget, all, err);
  return all;
}

}  // namespace scanlab
