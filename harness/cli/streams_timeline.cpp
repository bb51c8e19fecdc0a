#include "harness/cli/streams_timeline.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <new>

#include "harness/cli/command.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

void print_path(const streams::Recording& recording, const streams::TimelineAnalysis& analysis, std::ostream& out) {
  std::array<double, streams::kEngines.size()> on_path{};
  double waited = 0;
  for (const streams::PathStep& step : analysis.path) {
    on_path[static_cast<std::size_t>(engine_of(recording.operations[step.operation]))] += step.when.seconds();
    waited += std::max(0.0, step.waited);
  }
  fmt::print(out, "critical path: {} operations", analysis.path.size());
  for (const streams::Engine engine : streams::kEngines) {
    fmt::print(out, ", {} {:.3f} ms", name(engine), 1e3 * on_path[static_cast<std::size_t>(engine)]);
  }
  fmt::print(out, ", between them {:.3f} ms\n", 1e3 * waited);
}

}  // namespace

void add_timeline_options(po::options_description& options) {
  options.add_options()                                                                       //
      ("out", po::value<std::string>()->value_name("FILE"), "the timeline, as trace events")  //
      ("force", "replace FILE if it holds something")                                         //
      ("gap", po::value<double>()->value_name("PERCENT"),
       "of the makespan: shorter idle gaps are summed, not listed (default 2)")  //
      ("help,h", "this text");
}

double shortest_gap_of(const po::variables_map& values) {
  const double percent = values.count("gap") != 0 ? values["gap"].as<double>() : 2;
  if (!(percent >= 0)) throw CommandError(kBadInput, "--gap takes a percentage, 0 or more");
  return 0.01 * percent;
}

measure::Facts facts_of(const streams::ScheduledJob& chosen) {
  const streams::Job& job = chosen.job;
  return {{"schedule", chosen.schedule->about.id},
          {"workload", job.workload->about.id},
          {"items", job.items},
          {"chunks", job.chunks},
          {"streams", job.streams},
          {"memory", name(job.memory)},
          {"buffers", job.buffers},
          {"work", job.work},
          {"blocks", job.blocks}};
}

namespace {

template <class Entry>
const Entry* entry(const measure::Facts& facts, const char* key) {
  const std::string id = facts.at(key);
  const Entry* const found = RegistryOf<Entry>::instance().find(id);
  if (found == nullptr) throw std::invalid_argument(fmt::format("there is no {} {}", Entry::kNoun, id));
  return found;
}

}  // namespace

streams::ScheduledJob job_of(const measure::Facts& facts) {
  const std::string memory = facts.at("memory");
  if (memory != "pinned" && memory != "pageable") {
    throw std::invalid_argument(fmt::format("its memory is {}, neither pinned nor pageable", memory));
  }
  streams::Job job{.workload = entry<streams::Workload>(facts, "workload"),
                   .items = facts.at("items"),
                   .chunks = facts.at("chunks"),
                   .streams = facts.at("streams"),
                   .memory = memory == "pageable" ? streams::HostMemory::pageable : streams::HostMemory::pinned,
                   .blocks = facts.at("blocks"),
                   .work = facts.at("work")};
  job.buffers = facts.value("buffers", job.buffers);
  return {entry<streams::Schedule>(facts, "schedule"), job};
}

void print(const streams::Timeline& timeline, const streams::TimelineAnalysis& analysis, double shortest_gap,
           std::ostream& out) {
  const streams::Recording& recording = *timeline.recording;
  fmt::print(out, "makespan {:.3f} ms; engines at work {:.3f} ms in all; {}\n", 1e3 * analysis.makespan,
             1e3 * analysis.serial(), analysis.overlap_in_words());
  for (const streams::Engine engine : streams::kEngines) {
    const double busy = analysis.busy[static_cast<std::size_t>(engine)];
    fmt::print(out, "{:<10}  busy {:>9.3f} ms ({:>3.0f}%)  idle {:>9.3f} ms", name(engine), 1e3 * busy,
               analysis.makespan > 0 ? 100 * busy / analysis.makespan : 0, 1e3 * analysis.idle(engine));
    const char* separator = ": ";
    for (const streams::Idle reason : streams::kIdleReasons) {
      const double seconds = analysis.idle(engine, reason);
      if (seconds < 1e-6) continue;
      fmt::print(out, "{}{} {:.3f}", separator, name(reason), 1e3 * seconds);
      separator = ", ";
    }
    fmt::print(out, "\n");
  }
  print_path(recording, analysis, out);
  constexpr int kMost = 20;
  int left_out = 0;
  int shown = 0;
  for (const streams::Gap& gap : analysis.gaps) {
    if (gap.when.seconds() < shortest_gap) continue;
    if (++shown > kMost) {
      ++left_out;
    } else {
      fmt::print(out, "  {}\n", describe(recording, gap));
    }
  }
  if (left_out > 0) fmt::print(out, "  and {} more such gaps\n", left_out);
}

#ifdef SCANLAB_WITH_CUDA

streams::MeasuredTimeline measure_timeline(const streams::Recording& recording, int repetitions,
                                           std::optional<streams::HostArrays>& arrays) {
  try {
    if (!arrays || !arrays->serves(recording.job)) {
      arrays.reset();
      arrays.emplace(recording.job, 1);
    }
    return streams::measure_timeline(recording, *arrays, repetitions);
  } catch (const std::bad_alloc&) {
    throw CommandError(kOutOfMemory, fmt::format("out of host memory for arrays of {} items", recording.job.items));
  } catch (const cuda::OutOfMemory& lack) {
    throw CommandError(
        kOutOfMemory,
        fmt::format("{}: take fewer items, or a schedule that reuses its buffers (double_buffered)", lack.what()));
  } catch (const std::runtime_error& error) {
    throw CommandError(kFailed, error.what());
  }
}

#endif

streams::ScheduledJob only_job(const std::string& command, const std::vector<streams::ScheduledJob>& jobs) {
  if (jobs.size() == 1) return jobs.front();
  throw CommandError(kBadInput, fmt::format("{} takes one schedule and one value of each parameter, and this is {} "
                                            "combinations",
                                            command, jobs.size()));
}

std::string describe(const streams::ScheduledJob& chosen) {
  const streams::Job& job = chosen.job;
  return fmt::format("{}, {}: {} items in {} chunks, {} streams, {} memory, work {}", chosen.schedule->about.id,
                     job.workload->about.id, job.items, job.chunks, job.streams, name(job.memory), job.work);
}

}  // namespace scanlab::cli
