#include "harness/selection/job_selection.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

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

std::vector<int> small_counts(const OptionWords& stated, const char* option) {
  const std::vector<std::int64_t> counts = counts_of(stated, option, 0, streams::kMaxChunksOrStreams);
  return {counts.begin(), counts.end()};
}

/// `values`, or the one default if there are none.
template <class T>
std::vector<T> or_default(std::vector<T> values, T otherwise) {
  if (values.empty()) values.push_back(otherwise);
  return values;
}

/// The buffers that a budget holds; two at least, of each input and of the output.
int buffers_for(const streams::Job& job, std::int64_t budget) {
  const int buffers = streams::buffers_within(job, budget);
  if (buffers >= 2) return std::min(buffers, std::max(2, job.chunks));
  const streams::WorkloadDescription& workload = job.workload->about;
  const auto arrays = static_cast<std::int64_t>(workload.inputs + 1);
  const auto chunk_bytes =
      streams::longest_chunk(job.items, job.chunks) * static_cast<std::int64_t>(workload.item_bytes());
  throw CommandError(kBadInput,
                     fmt::format("--budget: {} bytes are less than two chunks of {}, which take {} bytes with "
                                 "their output: take more chunks, or a larger budget",
                                 budget, workload.id, 2 * arrays * chunk_bytes));
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
  if (jobs.empty()) {
    throw CommandError(kBadInput, first + ": take a schedule that reuses buffers, or a larger budget");
  }
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
  selection.items = counts_of(stated, "items");
  selection.chunks = small_counts(stated, "chunks");
  selection.streams = small_counts(stated, "streams");
  selection.buffers = small_counts(stated, "buffers");
  selection.blocks = small_counts(stated, "blocks");
  selection.work = small_counts(stated, "work");
  for (const std::string& word : words_of(stated, "memory")) {
    if (word != "pinned" && word != "pageable" && word != "all") unknown("memory", word, {"pinned", "pageable", "all"});
    if (word != "pageable") selection.memories.push_back(streams::HostMemory::pinned);
    if (word != "pinned") selection.memories.push_back(streams::HostMemory::pageable);
  }
  if (const auto budget = stated.find("budget"); budget != stated.end()) {
    if (stated.contains("buffers"))
      throw CommandError(kBadInput, "--budget says how many buffers: leave out --buffers");
    selection.budget = static_cast<std::int64_t>(parse_bytes(budget->second.front(), "--budget"));
  }
  return selection;
}

std::vector<streams::ScheduledJob> JobSelection::jobs(std::ostream* err) const {
  const streams::Job plain;
  // A list of everything that may vary, and what it changes in the job: the combinations are built one by one.
  std::vector<streams::Job> combinations{plain};
  const auto vary = [&](const auto& values, auto streams::Job::*member) {
    std::vector<streams::Job> wider;
    for (const streams::Job& job : combinations) {
      for (const auto& value : values) {
        wider.push_back(job);
        wider.back().*member = value;
      }
    }
    combinations = std::move(wider);
  };
  vary(workloads, &streams::Job::workload);
  vary(items, &streams::Job::items);
  vary(or_default(chunks, plain.chunks), &streams::Job::chunks);
  vary(or_default(streams, plain.streams), &streams::Job::streams);
  vary(or_default(buffers, plain.buffers), &streams::Job::buffers);
  vary(or_default(blocks, plain.blocks), &streams::Job::blocks);
  vary(or_default(work, plain.work), &streams::Job::work);

  std::vector<streams::ScheduledJob> all;
  for (streams::Job& job : combinations) {
    if (const std::string reason = streams::refusal(job); !reason.empty()) throw CommandError(kBadInput, reason);
    if (budget) job.buffers = buffers_for(job, *budget);
    for (const streams::Schedule* schedule : schedules) {
      for (const streams::HostMemory memory : or_default(memories, schedule->about.memory)) {
        all.push_back({schedule, job});
        all.back().job.memory = memory;
      }
    }
  }
  if (budget) keep_within(*budget, all, err);
  return all;
}

}  // namespace scanlab
