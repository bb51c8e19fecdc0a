#include "harness/cli/job_selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "harness/cli/command.hpp"
#include "harness/cli/selection.hpp"
#include "harness/schedule/chunks.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

using Words = std::vector<std::string>;

/// The entries whose ids fit the patterns, each once; "all" fits every one.
template <class Entry>
std::vector<const Entry*> entries(const Words& patterns) {
  const auto& registry = RegistryOf<Entry>::instance();
  std::vector<const Entry*> chosen;
  for (const std::string& pattern : patterns) {
    bool matched = false;
    for (const auto& [id, entry] : registry.all()) {
      if (pattern != "all" && fnmatch(pattern.c_str(), id.c_str(), 0) != 0) continue;
      matched = true;
      if (std::ranges::find(chosen, &entry) == chosen.end()) chosen.push_back(&entry);
    }
    if (!matched) unknown(Entry::kNoun, pattern, registry.ids());
  }
  return chosen;
}

std::vector<int> small_counts(const po::variables_map& values, const char* option) {
  constexpr std::int64_t kMax = 1'000'000;
  const std::string flag = fmt::format("--{}", option);
  std::vector<int> counts;
  for (const std::string& word : option_words(values, option)) {
    for (const std::int64_t count : parse_items(word, flag)) {
      if (count > kMax) throw CommandError(kBadInput, fmt::format("{}: '{}' is more than {}", flag, word, kMax));
      counts.push_back(static_cast<int>(count));
    }
  }
  return counts;
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

}  // namespace

void add_job_options(po::options_description& options, const std::string& default_workloads,
                     const std::string& default_items) {
  const auto list_of = [](const char* value) { return po::value<Words>()->composing()->value_name(value); };
  const std::string workloads = fmt::format("ids or globs, or all (default {})", default_workloads);
  const std::string items =
      fmt::format("numbers of items: 1000, 2^20, 2^20+1, ranges 2^10:2^28:x4 (default {})", default_items);
  const streams::Job job;
  const auto with_default = [](const char* text, int value) { return fmt::format("{} (default {})", text, value); };
  const std::string chunks = with_default("numbers of chunks; more than items leave empty ones", job.chunks);
  const std::string streams = with_default("numbers of streams; more than chunks stay idle", job.streams);
  const std::string buffers = with_default("device buffers an array, of schedules that reuse them", job.buffers);
  const std::string work = with_default("work an item, as scanlab streams list explains it", job.work);
  options.add_options()                                                                          //
      ("schedule", list_of("GLOB"), "ids of schedules, or globs, or all")                        //
      ("workload", list_of("GLOB"), workloads.c_str())                                           //
      ("items", list_of("LIST"), items.c_str())                                                  //
      ("chunks", list_of("LIST"), chunks.c_str())                                                //
      ("streams", list_of("LIST"), streams.c_str())                                              //
      ("memory", list_of("KIND"), "pinned, pageable, or all (default: what the schedule says)")  //
      ("buffers", list_of("LIST"), buffers.c_str())                                              //
      ("budget", po::value<std::string>()->value_name("BYTES"),
       "device memory, as in 2GiB: as many buffers as fit, two chunks at least")                //
      ("blocks", list_of("LIST"), "blocks a kernel (default 0: as many as its items ask for)")  //
      ("work", list_of("LIST"), work.c_str());
}

JobSelection read_job_selection(const po::variables_map& values, const std::string& default_workloads,
                                const std::string& default_items) {
  JobSelection selection;
  const Words schedules = option_words(values, "schedule");
  selection.all = std::ranges::find(schedules, "all") != schedules.end();
  selection.schedules = entries<streams::Schedule>(schedules);
  selection.workloads = entries<streams::Workload>(or_default(option_words(values, "workload"), default_workloads));
  for (const std::string& word : or_default(option_words(values, "items"), default_items)) {
    std::ranges::copy(parse_items(word), std::back_inserter(selection.items));
  }
  selection.chunks = small_counts(values, "chunks");
  selection.streams = small_counts(values, "streams");
  selection.buffers = small_counts(values, "buffers");
  selection.blocks = small_counts(values, "blocks");
  selection.work = small_counts(values, "work");
  for (const std::string& word : option_words(values, "memory")) {
    if (word != "pinned" && word != "pageable" && word != "all") unknown("memory", word, {"pinned", "pageable", "all"});
    if (word != "pageable") selection.memories.push_back(streams::HostMemory::pinned);
    if (word != "pinned") selection.memories.push_back(streams::HostMemory::pageable);
  }
  if (values.count("budget") != 0) {
    if (values.count("buffers") != 0)
      throw CommandError(kBadInput, "--budget says how many buffers: leave out --buffers");
    selection.budget = static_cast<std::int64_t>(parse_bytes(values["budget"].as<std::string>(), "--budget"));
  }
  return selection;
}

std::vector<streams::ScheduledJob> JobSelection::jobs() const {
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
    if (const std::string why = streams::refusal(job); !why.empty()) throw CommandError(kBadInput, why);
    if (budget) job.buffers = buffers_for(job, *budget);
    for (const streams::Schedule* schedule : schedules) {
      for (const streams::HostMemory memory : or_default(memories, schedule->about.memory)) {
        all.push_back({schedule, job});
        all.back().job.memory = memory;
      }
    }
  }
  return all;
}

}  // namespace scanlab::cli
