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

constexpr char kNotes[] =
    "FILE opens in ui.perfetto.dev: one lane per stream, one lane per engine, and the host's calls. The reason of a\n"
    "gap follows from the schedule's order, the host's calls, and the end of the operation that was waited for.\n"
    "Overlap is the time in which engines work concurrently, as a share of the possible time. It is 0% if one engine\n"
    "works at a time, and 100% if none works outside the time of the busiest. Several schedules or parameters, or a\n"
    "sweep, need a folder in --out, with one file per schedule. A separate process records each, in about a second.\n"
    "The driver assigns hardware work queues by the history of the process; a fresh process has the assignment of a\n"
    "program with one schedule.\n";

po::options_description trace_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkload, kDefaultItems);
  options.add_options()                                                                                   //
      ("sweep", text("NAME"), sweep_help(measure::schedule_sweeps(), "SCHEDULE and --workload").c_str())  //
      ("repetitions", po::value<int>()->value_name("N"), "take N repetitions with tracing and N without (default 5)");
  add_timeline_options(options);
  return options;
}

/// Each once: schedules that take so many streams whatever is asked for come with one number of them.
std::vector<streams::ScheduledJob> jobs_of(const po::variables_map& values, std::ostream& err) {
  if (values.count("sweep") == 0) return select_jobs(said(values), kDefaultWorkload, kDefaultItems).jobs(&err);
  const measure::ScheduleSweep& sweep =
      find_named("sweep", measure::schedule_sweeps(), values["sweep"].as<std::string>());
  std::vector<streams::ScheduledJob> all;
  std::set<std::string> seen;
  for (const streams::ScheduledJob& each : jobs(sweep, said(values))) {
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
             1e3 * trace.measured.median_collected(), 1e3 * trace.measured.median_plain(), repetitions,
             trace.measured.collection_percent());
  if (file != nullptr) {
    file->write(trace.text(about));
    fmt::print(context.out, "{} operations in {}\n", trace.measured.timeline().spans.size(), file->path().string());
  }
  return report_wrong(trace, context.err);
}

/// What the fresh process does: prints the file that trace_all() writes.
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
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(own, trace_options(), positional, streams_command("trace"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  if (values.count("schedule") == 0 && values.count("sweep") == 0) {
    throw CommandError(kBadInput, "trace takes a schedule, as in 'scanlab streams trace depth_first', or --sweep");
  }
  const std::vector<streams::ScheduledJob> chosen = jobs_of(values, context.err);
  const bool many = values.count("sweep") != 0 || chosen.size() > 1;
  if (many && values.count("out") == 0) {
    throw CommandError(kBadInput,
                       fmt::format("these are {} timelines: give a folder for them with --out FOLDER", chosen.size()));
  }
  [[maybe_unused]] const std::filesystem::path folder = many ? output_folder(values) : "";
  [[maybe_unused]] const int repetitions =
      values.count("repetitions") != 0 ? option_number(values, "repetitions", 1, 1000) : 5;
  [[maybe_unused]] const double shortest_gap = shortest_gap_of(values);  // a wrong one is refused without a device too

  std::vector<std::string> typed = context.argv;
  if (fresh) std::erase(typed, kInFreshProcess);  // what is left records the same timeline, typed by a user
  const measure::Facts about = measure::measured_on("scanlab streams trace", typed);
#ifdef SCANLAB_WITH_CUDA
  if (many) {
    return trace_all(chosen, repetitions, folder, values.count("force") != 0, {"streams", "trace"}, context.out,
                     context.err, [](const Words& words) { return run_in_fresh_process(words, {}); });
  }
  if (fresh) return print_trace(chosen.front(), repetitions, about, context);
  std::optional<WholeFile> file = output_file(values);
  return trace_one(chosen.front(), repetitions, shortest_gap, file ? &*file : nullptr, about, context);
#else
  return kNoDevice;
#endif
}

}  // namespace scanlab::cli
