// scanlab streams trace: the timeline of a schedule, or of many, from the device's own records.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/schedule_sweeps.hpp"
#include "harness/replay/schedule_trace.hpp"
#include "harness/schedule/facts.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";

/// Each once: schedules that take so many streams whatever is asked for come with one number of them.
std::vector<streams::ScheduledJob> jobs_of(const std::optional<std::string>& sweep_name, const OptionWords& words,
                                           std::ostream& err) {
  if (!sweep_name) return select_jobs(words, kDefaultWorkload, kDefaultItems).jobs(&err);
  const measure::ScheduleSweep& sweep = find_named("sweep", measure::schedule_sweeps(), *sweep_name);
  std::vector<streams::ScheduledJob> all;
  std::set<std::string> seen;
  for (const streams::ScheduledJob& each : jobs(sweep, words)) {
    if (seen.insert(facts_of(each).dump()).second) all.push_back(each);
  }
  return all;
}

#ifdef SCANLAB_WITH_CUDA

int report_wrong(const streams::ScheduleTrace& trace, std::ostream& err) {
  if (!trace.measured.wrong.empty()) {
    fmt::print(err, "scanlab: the output was wrong{}: {}\n", trace.passed() ? ", as a control's should be" : "",
               trace.measured.wrong);
  }
  return trace.passed() ? kOk : kFailed;
}

int trace_one(const streams::ScheduledJob& chosen, int repetitions, double shortest_gap, WholeFile* file,
              const measure::Facts& about, Context& context) {
  const streams::ScheduleTrace trace(chosen, repetitions);
  fmt::print(context.out, "{}\n", describe(chosen));
  context.out << describe(trace.measured.timeline(), trace.analysis, shortest_gap * trace.analysis.makespan);
  fmt::print(context.out, "tracing overhead: {:.3f} ms with tracing, {:.3f} without (medians of {}): {:+.1f}%\n",
             1e3 * trace.measured.median_traced(), 1e3 * trace.measured.median_plain(), repetitions,
             trace.measured.tracing_overhead_percent());
  if (file != nullptr) {
    file->write(trace.text(about));
    fmt::print(context.out, "{} operations in {}\n", trace.measured.timeline().spans.size(), file->path().string());
  }
  return report_wrong(trace, context.err);
}

/// Runs in the fresh process: prints the file that trace_all() writes.
int print_trace(const streams::ScheduledJob& chosen, int repetitions, const measure::Facts& about, Context& context) {
  const streams::ScheduleTrace trace(chosen, repetitions);
  context.out << trace.text(about);
  return report_wrong(trace, context.err);
}

#endif

}  // namespace

int streams_trace(const std::vector<std::string>& arguments, Context& context) {
  const bool fresh = !arguments.empty() && arguments[0] == kInFreshProcess;
  const std::vector<std::string> own(arguments.begin() + (fresh ? 1 : 0), arguments.end());
  OptionWords words;
  std::optional<std::string> sweep;
  int repetitions = 5;
  TimelineWords timeline;
  Options options;
  add_job_options(options, words, kDefaultWorkload, kDefaultItems);
  options.text("sweep", "NAME", sweep, sweep_help(measure::schedule_sweeps(), "SCHEDULE and --workload"))
      .number("repetitions", repetitions, 1, 1000, "take N repetitions with tracing and N without");
  timeline.add_to(options);
  if (!options.parse(own, context)) return kOk;
  if (!words.contains("schedule") && !sweep)
    refuse("trace takes a schedule, as in 'scanlab streams trace depth_first', or --sweep");
  const std::vector<streams::ScheduledJob> chosen = jobs_of(sweep, words, context.err);
  const bool many = sweep || chosen.size() > 1;
  if (many && !timeline.out)
    refuse(fmt::format("these are {} timelines: give a folder for them with --out FOLDER", chosen.size()));
  [[maybe_unused]] const std::filesystem::path folder = many ? output_folder(*timeline.out) : "";
  [[maybe_unused]] const double shortest_gap = timeline.shortest_gap();  // a wrong one is refused without a device too

  std::vector<std::string> typed = context.argv;
  if (fresh) std::erase(typed, kInFreshProcess);  // what is left records the same timeline, typed by a user
  const measure::Facts about = measure::measured_on("scanlab streams trace", typed);
#ifdef SCANLAB_WITH_CUDA
  if (many) {
    return trace_all(chosen, repetitions, folder, timeline.force, {"streams", "trace"}, context.out, context.err,
                     [](const Words& words) { return run_in_fresh_process(words, {}); });
  }
  if (fresh) return print_trace(chosen.front(), repetitions, about, context);
  std::optional<WholeFile> file = output_file(timeline.out, timeline.force);
  return trace_one(chosen.front(), repetitions, shortest_gap, pointer(file), about, context);
#else
  return kNoDevice;
#endif
}

}  // namespace scanlab::cli
