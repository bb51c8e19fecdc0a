// scanlab streams why: the diagnosis of one schedule, of two side by side, or of a program that Nsight Systems watched.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/replay/schedule_trace.hpp"
#include "harness/timeline/diagnosis.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";

constexpr double kNoGaps = 1e9;

void print(const std::vector<streams::Diagnosis>& diagnoses, std::ostream& out) {
  for (const streams::Diagnosis& diagnosis : diagnoses) {
    fmt::print(out, "  {} ({:.3f} ms): {}\n", name(diagnosis.cause), 1e3 * diagnosis.seconds, diagnosis.evidence);
  }
  if (diagnoses.empty()) fmt::print(out, "  nothing stands out\n");
}

/// Of a program that Nsight Systems watched.
int why_nsight(const po::variables_map& values, Context& context) {
  for (const char* other :
       {"schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "budget", "blocks", "work"}) {
    if (values.count(other) != 0) {
      throw CommandError(kBadInput, fmt::format("--nsys says what ran: leave out --{}", other));
    }
  }
  const auto file = values["nsys"].as<std::string>();
  const streams::NsightExport imported = nsight_export(file, values);
  const streams::Timeline timeline = imported.timeline();
  const streams::TimelineAnalysis analysis = analyse(timeline);
  fmt::print(context.out, "{}{}: {} operations, streams: {}, {} memory\n", file,
             imported.device.empty() ? "" : ", " + imported.device, imported.spans.size(),
             imported.recording.job.streams, name(imported.recording.job.memory));
  context.out << describe(timeline, analysis, kNoGaps);
  print(diagnose(timeline, analysis), context.out);
  print_unknown(imported, context.out);
  return kOk;
}

#ifdef SCANLAB_WITH_CUDA

/// A schedule, measured and diagnosed.
struct Examined {
  streams::ScheduledJob chosen;
  double seconds = 0;  ///< without collection, the median
  std::vector<streams::Diagnosis> diagnoses;

  bool has(streams::Cause cause) const {
    return std::ranges::any_of(diagnoses, [&](const auto& each) { return each.cause == cause; });
  }
};

Examined examine(const streams::ScheduledJob& chosen, std::optional<streams::HostArrays>& arrays, std::ostream& out) {
  constexpr int kRepetitions = 5;
  const streams::Recording recording = record(*chosen.schedule, chosen.job);
  const streams::MeasuredReplays measured = measure_timeline(recording, kRepetitions, arrays);
  const streams::TimelineAnalysis analysis = analyse(measured.timeline());
  Examined examined{chosen, measured.median_plain(), diagnose(measured.timeline(), analysis)};
  fmt::print(out, "{}\n", describe(chosen));
  out << describe(measured.timeline(), analysis, kNoGaps);
  if (!measured.wrong.empty()) {
    fmt::print(out, "  its output is wrong{}: {}\n", chosen.schedule->about.control ? ", as a control's should be" : "",
               measured.wrong);
  }
  print(examined.diagnoses, out);
  fmt::print(out, "\n");
  return examined;
}

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
  const auto only = [&](const Examined& one, const std::string& name_of_one, const Examined& other) {
    for (const streams::Diagnosis& diagnosis : one.diagnoses) {
      if (!other.has(diagnosis.cause)) fmt::print(out, "  only {}: {}\n", name_of_one, name(diagnosis.cause));
    }
  };
  only(a, first, b);
  only(b, second, a);
}

#endif

}  // namespace

int streams_why(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkload, kDefaultItems);
  options.add_options()("nsys", text("FILE"),
                        "diagnose a program instead, from FILE of 'nsys export --type sqlite'; needs no GPU");
  add_nsight_options(options);
  options.add_options()("help,h", "print this text");
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, streams_command("diagnose"), context, values)) return kOk;
  if (values.count("nsys") != 0) return why_nsight(values, context);
  for (const char* of_export : {"from", "to", "range"}) {
    if (values.count(of_export) != 0)
      throw CommandError(kBadInput, fmt::format("--{} goes with --nsys: add --nsys FILE, or leave it out", of_export));
  }
  const std::vector<streams::ScheduledJob> jobs =
      values.count("schedule") == 0 ? std::vector<streams::ScheduledJob>{}
                                    : select_jobs(said(values), kDefaultWorkload, kDefaultItems).jobs();
  if (jobs.empty() || jobs.size() > 2) {
    throw CommandError(kBadInput,
                       fmt::format("diagnose takes one schedule, or two to compare, and this is {} combinations; "
                                   "as in 'scanlab streams diagnose null_stream_trap depth_first'",
                                   jobs.size()));
  }
  measure::measured_on("scanlab streams diagnose", context.argv);
#ifdef SCANLAB_WITH_CUDA
  std::optional<streams::HostArrays> arrays;
  const Examined a = examine(jobs.front(), arrays, context.out);
  if (jobs.size() == 1) return kOk;
  compare(a, examine(jobs.back(), arrays, context.out), context.out);
#endif
  return kOk;
}

}  // namespace scanlab::cli
