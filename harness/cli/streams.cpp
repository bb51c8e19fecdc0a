// scanlab streams: list, check, trace, diagnose and import.
#include "harness/cli/options.hpp"
#include "harness/measure/record.hpp"
#include "harness/replay/schedule_trace.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/selection/sweeps.hpp"
#include "harness/timeline/nsight_export.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace {

/// Returns the descriptions of all entries of a registry.
template <class Entry>
measure::Facts describe_all(const RegistryOf<Entry>& registry) {
  measure::Facts all = measure::Facts::array();
  for (const auto& [id, entry] : registry.all()) {
    all.push_back({{"id", id}});
    all.back().update(measure::described(entry));
  }
  return all;
}

/// A part of an export of Nsight Systems: --from, --to, --range and --gpu.
void add_part_options(Options& options, streams::NsightPart& part) {
  constexpr double kMost = 1e12;  // milliseconds: 30 years, and a number of nanoseconds that is whole
  options.number("from", part.from_ms, 0.0, kMost, "take operations issued from this time on, as Nsight shows it", "MS")
      .number("to", part.to_ms, 0.0, kMost, "take operations issued before this time", "MS")
      .text("range", "NAME", part.range, "take operations issued within the first NVTX range of this name")
      .count("gpu", part.gpu, "take the work on GPU N, as Nsight numbers them (default: the GPU of most operations)");
}

int diagnose_export(const std::string& file, const streams::NsightPart& part, Context& context) {
  const streams::NsightExport imported = streams::read_nsight_export(file, part);
  const streams::Timeline timeline = imported.timeline();
  const streams::TimelineAnalysis analysis = analyse(timeline);
  fmt::print(context.out, "{}{}: {} operations, streams: {}, {} memory\n", file,
             imported.device.empty() ? "" : ", " + imported.device, imported.times.spans.size(),
             imported.recording.job.streams, name(imported.recording.job.memory));
  context.out << describe(timeline, analysis, streams::kNoGaps);
  print(diagnose(timeline, analysis), context.out);
  for (const std::string& each : imported.unknown) fmt::print(context.out, "  of the export: {}\n", each);
  return kOk;
}

#ifdef SCANLAB_WITH_CUDA

/// In a fresh process prints the file that trace_all() writes, else what a person reads.
int trace_one(const streams::ScheduledJob& chosen, int repetitions, bool fresh, const TimelineWords& words,
              const measure::Facts& about, Context& context) {
  std::optional<WholeFile> file = words.out.open();
  std::optional<streams::HostArrays> arrays;
  const streams::ScheduleTrace trace(chosen, repetitions, arrays);
  if (fresh) {
    context.out << trace.text(about);
  } else {
    fmt::print(context.out, "{}\n", describe(chosen));
    context.out << describe(trace.measured.timeline(), trace.analysis, 0.01 * words.gap * trace.analysis.makespan);
    fmt::print(context.out, "tracing overhead: {:.3f} ms with tracing, {:.3f} without (medians of {}): {:+.1f}%\n",
               1e3 * trace.measured.median_traced(), 1e3 * trace.measured.median_plain(), repetitions,
               trace.measured.tracing_overhead_percent());
  }
  if (file) {
    file->write(trace.text(about));
    fmt::print(context.out, "{} operations in {}\n", trace.measured.timeline().spans.size(), file->path().string());
  }
  if (!trace.measured.wrong.empty()) {
    fmt::print(context.err, "scanlab: the output was wrong{}: {}\n", trace.passed() ? ", as a control's should be" : "",
               trace.measured.wrong);
  }
  return trace.passed() ? kOk : kFailed;
}

#endif

}  // namespace

int streams_list(const Words& arguments, Context& context) {
  bool json = false;
  Options options;
  options.flag("json", json, "print JSON");
  if (!options.parse(arguments, context)) return kOk;
  const measure::Facts all{{"schema", "scanlab-streams-list/1"},
                           {"schedules", describe_all(streams::ScheduleRegistry::instance())},
                           {"workloads", describe_all(streams::WorkloadRegistry::instance())}};
  if (json) {
    context.out << all.dump(2) << "\n";
    return kOk;
  }
  for (const char* kind : {"schedules", "workloads"}) {
    for (const measure::Facts& each : all[kind])
      print_facts(fmt::format("{} ({})", each["id"].get<std::string>(), kind), each, context.out);
  }
  return kOk;
}

int streams_check(const Words& arguments, Context& context) {
  constexpr char kWorkloads[] = "all", kItems[] = "2^20";
  OptionWords words;
  bool json = false;
  Options options;
  add_job_options(options, words, kWorkloads, kItems);
  options.flag("json", json, "print JSON, with every fault of every schedule");
  if (!options.parse(arguments, context)) return kOk;
  if (!words.contains("schedule")) refuse("check takes a schedule, or all, as in 'scanlab streams check depth_first'");
  const JobSelection selection = select_jobs(words, kWorkloads, kItems);
  int passed = 0, failed = 0;
  measure::Facts all = {{"schema", "scanlab-streams-check/1"}, {"checked", measure::Facts::array()}};
  for (const streams::ScheduledJob& chosen : selection.jobs(&context.err)) {
    const streams::CheckedSchedule checked(chosen);
    // Named, a control is what it is: wrong. Among all, it is as it should be when it is caught.
    ++((selection.all ? as_expected(checked) : checked.right()) ? passed : failed);
    if (json) {
      all["checked"].push_back(facts_of(checked));
    } else {
      print(checked, selection.all, context.out);
    }
  }
  if (json) {
    context.out << all.dump(1) << "\n";
  } else if (selection.all) {
    fmt::print(context.out, "{} passed, {} failed\n", passed, failed);
  }
  return failed > 0 ? kFailed : kOk;
}

int streams_trace(const Words& arguments, Context& context) {
  const bool fresh = !arguments.empty() && arguments[0] == kInFreshProcess;
  OptionWords words;
  std::optional<std::string> sweep;
  int repetitions = 5;
  TimelineWords timeline;
  Options options;
  add_job_options(options, words);
  options.text("sweep", "NAME", sweep, sweep_help(schedule_sweeps(), "SCHEDULE and --workload"))
      .number("repetitions", repetitions, 1, 1000, "take N repetitions with tracing and N without");
  timeline.add_to(options);
  if (!options.parse({arguments.begin() + (fresh ? 1 : 0), arguments.end()}, context)) return kOk;
  if (!words.contains("schedule") && !sweep)
    refuse("trace takes a schedule, as in 'scanlab streams trace depth_first', or --sweep");
  const std::vector<streams::ScheduledJob> chosen =
      sweep ? jobs(find_named("sweep", schedule_sweeps(), *sweep), words) : select_jobs(words).jobs(&context.err);
  const bool many = sweep || chosen.size() > 1;
  if (many && !timeline.out.path)
    refuse(fmt::format("these are {} timelines: give a folder for them with --out FOLDER", chosen.size()));
  [[maybe_unused]] const std::filesystem::path folder = many ? output_folder(*timeline.out.path) : "";

  if (fresh) std::erase(context.argv, kInFreshProcess);  // the rest records the same timeline, typed by a user
  const measure::Facts about = measured(/*on_device=*/true, context);
#ifdef SCANLAB_WITH_CUDA
  if (!many) return trace_one(chosen.front(), repetitions, fresh, timeline, about, context);
  return trace_all(chosen, repetitions, folder, timeline.out.force, {"streams", "trace"}, context.out, context.err,
                   [](const Words& words) { return run_in_fresh_process(words, {}); });
#else
  return kNoDevice;
#endif
}

int streams_diagnose(const Words& arguments, Context& context) {
  OptionWords words;
  std::optional<std::string> nsys;
  streams::NsightPart part;
  Options options;
  add_job_options(options, words);
  options.file("nsys", File::read, nsys, "diagnose a program, from FILE of 'nsys export --type sqlite'; needs no GPU");
  add_part_options(options, part);
  if (!options.parse(arguments, context)) return kOk;
  if (nsys) {
    options.refuse_useless({"schedule"}, "--nsys says what ran");
    options.refuse_useless(kJobOptions, "--nsys says what ran");
    return diagnose_export(*nsys, part, context);
  }
  options.refuse_useless({"from", "to", "range", "gpu"}, "it goes with --nsys FILE");
  std::vector<streams::ScheduledJob> jobs;
  if (words.contains("schedule")) jobs = select_jobs(words).jobs(&context.err);
  if (jobs.empty() || jobs.size() > 2)
    refuse(fmt::format("diagnose takes one schedule, or two to compare, and these are {} combinations", jobs.size()));
  measured(/*on_device=*/true, context);
#ifdef SCANLAB_WITH_CUDA
  std::optional<streams::HostArrays> arrays;
  std::vector<streams::Examined> all;
  for (const streams::ScheduledJob& each : jobs) all.push_back(examine(each, arrays, context.out));
  if (all.size() == 2) compare(all.front(), all.back(), context.out);
  if (std::ranges::any_of(all, &streams::Examined::wrong)) return kFailed;
#endif
  return kOk;
}

int streams_import(const Words& arguments, Context& context) {
  std::optional<std::string> exported;
  Output out;
  streams::NsightPart part;
  Options options;
  options.file("export", File::read, exported, "read FILE of 'nsys export --type sqlite'; --export may be left out")
      .output("out", out, "write the timeline to FILE, as trace events")
      .positional("export", 1);
  add_part_options(options, part);
  if (!options.parse(arguments, context)) return kOk;
  if (!exported || !out.path)
    refuse("import takes an export and a file: 'scanlab streams import report.sqlite --out report.json'");
  const streams::NsightExport imported = streams::read_nsight_export(*exported, part);
  const streams::Timeline timeline = imported.timeline();
  const streams::TimelineAnalysis analysis = analyse(timeline);
  if (!(analysis.covered > 0))
    refuse(*exported + ": nothing in it takes any time, so there is no timeline: take another part");
  measure::Facts about = measure::run_facts(context.argv);
  about["device"] = imported.device;
  about["imported_from"] = std::filesystem::path(*exported).filename().string();
  about["unknown"] = imported.unknown;
  about["memory"] = name(imported.recording.job.memory);
  about["makespan_us"] = 1e6 * analysis.makespan;
  about["overlap"] = analysis.overlap();
  out.open()->write(trace_events(timeline, about).dump() + "\n");
  fmt::print(context.out, "{} operations in {}\n", imported.times.spans.size(), *out.path);
  for (const std::string& each : imported.unknown) fmt::print(context.out, "  of the export: {}\n", each);
  return kOk;
}

}  // namespace scanlab::cli
