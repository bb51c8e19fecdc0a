// scanlab streams why: the diagnosis of one schedule, of two side by side, or of a program that Nsight Systems watched.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <vector>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/replay/diagnosis_report.hpp"
#include "harness/timeline/diagnosis.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";

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
  context.out << describe(timeline, analysis, streams::kNoGaps);
  print(diagnose(timeline, analysis), context.out);
  print_unknown(imported, context.out);
  return kOk;
}

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
  for (const char* of_export : {"from", "to", "range", "gpu"}) {
    if (values.count(of_export) != 0)
      throw CommandError(kBadInput, fmt::format("--{} goes with --nsys: add --nsys FILE, or leave it out", of_export));
  }
  const std::vector<streams::ScheduledJob> jobs =
      values.count("schedule") == 0 ? std::vector<streams::ScheduledJob>{}
                                    : select_jobs(said(values), kDefaultWorkload, kDefaultItems).jobs(&context.err);
  if (jobs.empty() || jobs.size() > 2) {
    throw CommandError(kBadInput,
                       fmt::format("diagnose takes one schedule, or two to compare, and this is {} combinations; "
                                   "as in 'scanlab streams diagnose null_stream_trap depth_first'",
                                   jobs.size()));
  }
  measure::measured_on("scanlab streams diagnose", context.argv);
#ifdef SCANLAB_WITH_CUDA
  std::optional<streams::HostArrays> arrays;
  const streams::Examined a = examine(jobs.front(), arrays, context.out);
  if (jobs.size() == 1) return a.wrong ? kFailed : kOk;
  const streams::Examined b = examine(jobs.back(), arrays, context.out);
  compare(a, b, context.out);
  if (a.wrong || b.wrong) return kFailed;
#endif
  return kOk;
}

}  // namespace scanlab::cli
