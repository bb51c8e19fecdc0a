#include "harness/replay/schedule_trace.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "harness/cuda/hardware_queues.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/host/status.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/timeline/trace_events.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/error.hpp"
#endif

namespace scanlab::streams {

namespace {

#ifdef SCANLAB_WITH_CUDA
MeasuredReplays measure_timeline(const Recording& recording, int repetitions, std::optional<HostArrays>& arrays) {
  try {
    constexpr double kWarmUp = 0.05;  // in a process's first timeline calls took 40% longer for some ten milliseconds
    return measure_replays(recording, HostArrays::of(recording.job, arrays),
                           {.repetitions = repetitions, .warm_up = kWarmUp});
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

/// depth_first-scale-items67108864-chunks16-streams4-work1-connections8.json, and what else is not as usual.
std::string file_name(const ScheduledJob& chosen) {
  const Job& job = chosen.job;
  std::string unusual;
  if (job.buffers != Job{}.buffers) unusual += fmt::format("buffers{}-", job.buffers);
  if (job.blocks != Job{}.blocks) unusual += fmt::format("blocks{}-", job.blocks);
  if (job.memory != chosen.schedule->about.memory) unusual += fmt::format("{}-", name(job.memory));
  return fmt::format("{}-{}-items{}-chunks{}-streams{}-work{}-{}connections{}.json", chosen.schedule->about.id,
                     job.workload->about.id, job.items, job.chunks, job.streams, job.work, unusual,
                     cuda::connections());
}

/// The options that choose this job alone are the facts that a trace says of it.
std::vector<std::string> words_for(const ScheduledJob& chosen, int repetitions, std::vector<std::string> words) {
  words.insert(words.end(), {kInFreshProcess, fmt::format("--repetitions={}", repetitions)});
  const nlohmann::ordered_json facts = facts_of(chosen);
  for (const auto& [option, value] : facts.items()) {
    words.push_back(fmt::format("--{}={}", option, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return words;
}

}  // namespace

int trace_all(const std::vector<ScheduledJob>& jobs, int repetitions, const std::filesystem::path& folder, bool force,
              const std::vector<std::string>& command, std::ostream& out, std::ostream& err,
              const RunProcess& run_process) {
  const InterruptGuard guard;
  Progress progress(err);
  int status = kOk;
  int written = 0;
  for (const ScheduledJob& chosen : jobs) {
    if (interrupted()) break;
    progress.show(fmt::format("{}/{} {}", written + 1, jobs.size(), describe(chosen)));
    WholeFile file(folder / file_name(chosen), force);
    const FreshProcess process = run_process(words_for(chosen, repetitions, command));
    // A wrong output fails, and has a timeline all the same; a process that was ended may have printed half of one.
    if ((process.status == kOk || process.status == kFailed) && nlohmann::ordered_json::accept(process.out)) {
      file.write(process.out);
      ++written;
      status = worse(status, process.status);
    } else if (!interrupted()) {  // Ctrl-C ends that process too
      progress.clear();
      fmt::print(err, "scanlab: {}: its process ended with status {} and no timeline\n", describe(chosen),
                 process.status);
      status = worse(status, process.status == kOutOfMemory ? kOutOfMemory : kFailed);
    }
  }
  progress.clear();
  fmt::print(out, "{} of {} timelines in {}\n", written, jobs.size(), folder.string());
  return interrupted() ? kInterrupted : status;
}

// ------------------------------------------------------------------------------------------- one, and its diagnosis

void print(const std::vector<Diagnosis>& diagnoses, std::ostream& out) {
  for (const Diagnosis& diagnosis : diagnoses) {
    fmt::print(out, "  {} ({:.3f} ms): {}\n", name(diagnosis.cause), 1e3 * diagnosis.seconds, diagnosis.evidence);
  }
  if (diagnoses.empty()) fmt::print(out, "  nothing stands out\n");
}

#ifdef SCANLAB_WITH_CUDA

ScheduleTrace::ScheduleTrace(const ScheduledJob& job, int repetitions, std::optional<HostArrays>& arrays)
    : chosen(job),
      recording(record(*job.schedule, job.job)),
      measured(measure_timeline(recording, repetitions, arrays)),
      analysis(analyse(measured.timeline())) {}

std::string ScheduleTrace::text(nlohmann::ordered_json about) const {
  about.update(facts_of(chosen));
  about["connections"] = cuda::connections();
  about.update(facts_of(measured, analysis));
  return trace_events(measured.timeline(), about).dump() + "\n";
}

Examined examine(const ScheduledJob& chosen, std::optional<HostArrays>& arrays, std::ostream& out) {
  constexpr int kRepetitions = 5;
  const ScheduleTrace trace(chosen, kRepetitions, arrays);
  const MeasuredReplays& measured = trace.measured;
  Examined examined{.chosen = chosen,
                    .seconds = measured.median_plain(),
                    .wrong = !trace.passed(),
                    .diagnoses = diagnose(measured.timeline(), trace.analysis)};
  fmt::print(out, "{}\n", describe(chosen));
  out << describe(measured.timeline(), trace.analysis, kNoGaps);
  if (!measured.wrong.empty()) {
    fmt::print(out, "  its output is wrong{}: {}\n", trace.passed() ? ", as a control's should be" : "",
               measured.wrong);
  }
  print(examined.diagnoses, out);
  fmt::print(out, "\n");
  return examined;
}

#endif

void compare(const Examined& a, const Examined& b, std::ostream& out) {
  const auto title = [&](const Examined& each, const char* other) {
    const bool same = a.chosen.schedule == b.chosen.schedule;
    return same ? std::string(other) : each.chosen.schedule->about.id;
  };
  const std::string first = title(a, "the first");
  const std::string second = title(b, "the second");
  const bool a_is_slower = a.seconds >= b.seconds;
  fmt::print(out, "{} takes {:.3f} ms, {} {:.3f} ms (medians without tracing)", first, 1e3 * a.seconds, second,
             1e3 * b.seconds);
  if (a.seconds > 0 && b.seconds > 0) {
    fmt::print(out, ": {} takes {:.2f} times as long as {}", a_is_slower ? first : second,
               std::max(a.seconds, b.seconds) / std::min(a.seconds, b.seconds), a_is_slower ? second : first);
  }
  fmt::print(out, "\n");
  const auto only = [&](const Examined& examined, const std::string& own_name, const Examined& other) {
    for (const Diagnosis& diagnosis : examined.diagnoses) {
      const bool shared =
          std::ranges::find(other.diagnoses, diagnosis.cause, &Diagnosis::cause) != other.diagnoses.end();
      if (!shared) fmt::print(out, "  only {}: {}\n", own_name, name(diagnosis.cause));
    }
  };
  only(a, first, b);
  only(b, second, a);
}

}  // namespace scanlab::streams
