// scanlab streams run: times schedules over workloads and parameters, and their parts by themselves.
#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/schedule_report.hpp"
#include "harness/measure/schedule_sweeps.hpp"

namespace scanlab::cli {

namespace {

StreamsLab open_device(const Context& context) {
  StreamsLab lab{.provenance = measured(/*on_device=*/true, context), .backend = nullptr};
#ifdef SCANLAB_WITH_CUDA
  lab.backend = measure::make_cuda_schedule_backend();
#endif
  return lab;
}

}  // namespace

int streams_run(const Words& arguments, Context& context) { return streams_run(arguments, context, open_device); }

int streams_run(const Words& arguments, Context& context, const OpenLab& open) {
  const measure::GoogleFlags flags = measure::take_google_flags(arguments);
  measure::refuse_min_time(flags, "streams run", "one run per sample");
  OptionWords words;
  LoopWords loop;
  std::optional<std::string> out, sweep_name;
  bool force = false;
  std::uint64_t seed = 1;
  Options options;
  add_job_options(options, words);
  loop.add_to(options, {});
  options.file("out", File::written, out, "write results: Google Benchmark's JSON, every repetition, provenance")
      .force(force)
      .text("sweep", "NAME", sweep_name, sweep_help(measure::schedule_sweeps(), "SCHEDULE and --workload"))
      .seed(seed, "seed the contents of the host arrays")
      .note(measure::kGoogleFlagsNote);
  if (!options.parse(flags.others, context)) return kOk;
  const measure::ScheduleSweep* const sweep =
      sweep_name ? &find_named("sweep", measure::schedule_sweeps(), *sweep_name) : nullptr;
  if (!words.contains("schedule") && sweep == nullptr)
    refuse("run takes a schedule, or all, as in 'scanlab streams run depth_first', or --sweep");
  measure::LoopOptions defaults;
  if (sweep != nullptr) {
    defaults.rounds = sweep->rounds;
    defaults.cap_seconds = sweep->cap;
  }
  const measure::LoopOptions loop_options = loop.over(defaults, flags);
  out = either("out", out, flags.out);

  const std::vector<streams::ScheduledJob> chosen =
      sweep != nullptr ? jobs(*sweep, words) : select_jobs(words).jobs(&context.err);
  std::vector<measure::TimedSchedule> schedules =
      measure::timed_schedules(chosen, [&](const std::string& name) { return flags.passes(name); });
  if (flags.list) {
    for (const measure::TimedSchedule& timed : schedules) fmt::print(context.out, "{}\n", timed.name);
    return kOk;
  }
  if (schedules.empty()) {
    refuse(sweep != nullptr ? "no case of the sweep is left: widen the selection"
                            : "--benchmark_filter leaves no case: widen it");
  }

  measure::Facts provenance{{"schema", measure::kResultsSchema}, {"kind", "cuda"}};
  StreamsLab lab = open(context);
  provenance.update(lab.provenance);
  provenance["seed"] = std::to_string(seed);
  add_loop_facts(loop_options, provenance);
  provenance["schedules"] = measure::described_schedules(schedules);
  provenance["workloads"] = measure::described_workloads(schedules);
  flags.add_context(provenance);
  std::optional<measure::ResultsFile> file = results_file(out, provenance, force);

  const InterruptGuard guard;
  measure::ScheduleSession session(schedules, *lab.backend, loop_options, seed, pointer(file), context.err);
  session.run();
  print(session.parts(), context.out);
  print(schedules, context.out);
  if (file) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  return status_of(schedules, session.parts());
}

}  // namespace scanlab::cli
