// scanlab streams run: times schedules over workloads and parameters, and their parts by themselves.
#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/record.hpp"
#include "harness/selection/sweeps.hpp"

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
  const measure::GoogleFlags flags(arguments);
  if (flags.given("min_time")) refuse("--benchmark_min_time would have no effect: a sample is one run; leave it out");
  OptionWords words;
  std::optional<std::string> sweep_name;
  Output file_options;
  std::uint64_t seed = 1;
  Options options;
  add_job_options(options, words);
  options.output("out", file_options, "write every repetition at once: Google Benchmark's JSON, typed, with provenance")
      .text("sweep", "NAME", sweep_name, sweep_help(schedule_sweeps(), "SCHEDULE and --workload"))
      .seed(seed, "seed the contents of the host arrays")
      .note(measure::kGoogleFlagsNote);
  if (!options.parse(flags.others(), context)) return kOk;
  const ScheduleSweep* const sweep = sweep_name ? &find_named("sweep", schedule_sweeps(), *sweep_name) : nullptr;
  if (!words.contains("schedule") && sweep == nullptr)
    refuse("run takes a schedule, or all, as in 'scanlab streams run depth_first', or --sweep");

  const std::vector<streams::ScheduledJob> chosen =
      sweep != nullptr ? jobs(*sweep, words) : select_jobs(words).jobs(&context.err);
  std::vector<measure::TimedSchedule> schedules = measure::timed_schedules(chosen);
  if (schedules.empty()) refuse("no case of the sweep is left: widen the selection");
  flags.parse(sweep != nullptr ? sweep->rounds : measure::kRepetitions);
  if (!measure::choose_cases(schedules, context.out)) return kOk;

  measure::Facts provenance{{"schema", measure::kResultsSchema}, {"kind", "cuda"}};
  StreamsLab lab = open(context);
  provenance.update(lab.provenance);
  provenance["seed"] = std::to_string(seed);
  provenance["rounds"] = std::to_string(schedules.front().repetitions);
  for (const measure::TimedSchedule& timed : schedules) {
    const auto& [schedule, job] = timed.chosen;
    provenance["schedules"][schedule->about.id] = measure::described(*schedule);
    provenance["workloads"][job.workload->about.id] = measure::described(*job.workload);
  }
  std::optional<measure::ResultsFile> file = results_file(file_options.path, provenance, file_options.force);

  const InterruptGuard guard;
  measure::Engine engine(flags, &context.out, context.err, pointer(file));
  engine.add_context(provenance);
  measure::ScheduleSession session(schedules, *lab.backend, seed, engine);
  session.run();
  engine.end_table();
  std::ostream& out = flags.given("format") ? context.err : context.out;
  const int status = session.report(out);
  if (file) fmt::print(out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  return status;
}

}  // namespace scanlab::cli
