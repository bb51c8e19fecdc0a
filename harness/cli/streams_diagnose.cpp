// scanlab streams diagnose: the diagnosis of one schedule, of two side by side, or of a program that Nsight Systems
// watched.
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

/// Diagnoses a program that Nsight Systems watched.
int why_nsight(const std::string& file, const NsightWords& nsight, Context& context) {
  const streams::NsightExport imported = nsight.read(file);
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

int streams_diagnose(const std::vector<std::string>& arguments, Context& context) {
  OptionWords words;
  std::optional<std::string> nsys;
  NsightWords nsight;
  Options options;
  add_job_options(options, words, kDefaultWorkload, kDefaultItems);
  options.file("nsys", File::read, nsys, "diagnose a program, from FILE of 'nsys export --type sqlite'; needs no GPU");
  nsight.add_to(options);
  if (!options.parse(arguments, context)) return kOk;
  if (nsys) {
    options.leave_out({"schedule"}, "--nsys says what ran");
    options.leave_out(kJobOptions, "--nsys says what ran");
    return why_nsight(*nsys, nsight, context);
  }
  for (const char* option : {"from", "to", "range", "gpu"}) {
    if (options.given(option)) refuse(fmt::format("--{} goes with --nsys: add --nsys FILE, or leave it out", option));
  }
  const std::vector<streams::ScheduledJob> jobs =
      words.contains("schedule") ? select_jobs(words, kDefaultWorkload, kDefaultItems).jobs(&context.err)
                                 : std::vector<streams::ScheduledJob>{};
  if (jobs.empty() || jobs.size() > 2) {
    refuse(
        fmt::format("diagnose takes one schedule, or two to compare, and this is {} combinations; as in 'scanlab "
                    "streams diagnose null_stream_trap depth_first'",
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
