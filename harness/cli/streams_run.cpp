// scanlab streams run: times schedules over workloads and parameters, and their parts by themselves.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <optional>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/cli/streams_run.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/schedule_report.hpp"
#include "harness/measure/schedule_sweeps.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultWorkloads[] = "scale";
constexpr char kDefaultItems[] = "2^26";

constexpr char kNotes[] =
    "Each schedule is timed twice per round. The host's clock counts from before the first call until the host has\n"
    "seen the end of the device's work. CUDA events count, in a replay of their own, from before the first operation\n"
    "to the end of all of them. For short schedules the two times differ by up to 10 us either way. The host's clock\n"
    "includes the launch before the first operation and the wake-up after the last; recording events takes host\n"
    "time, too.\n"
    "Memory, streams, events and graphs are created anew before each repetition, with one untimed replay. Before the\n"
    "replay by the host's clock the output and all device buffers are poisoned. After it every output item is\n"
    "compared bit by bit. A failed schedule is not timed further: status 1. A control must fail: status 1 if no\n"
    "repetition of it is wrong.\n"
    "The same rounds measure the parts: copies in one direction alone (`copy:h2d`, `copy:d2h`) and the kernel of one\n"
    "chunk (`kernel:ID`). For pinned memory they also measure copies while the other direction is busy\n"
    "(`copy:duplex_h2d`, `copy:duplex_d2h`).\n";

StreamsLab open_device(const Context& context) {
  StreamsLab lab{.provenance = measure::measured_on("scanlab streams run", context.argv), .backend = nullptr};
#ifdef SCANLAB_WITH_CUDA
  lab.backend = measure::make_cuda_schedule_backend();
#endif
  return lab;
}

po::options_description run_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkloads, kDefaultItems);
  add_loop_options(options, {}, SweepSets::rounds_and_cap);
  options.add_options()  //
      ("out", text("FILE"),
       "write results to FILE: Google Benchmark's JSON with every repetition and its provenance")                //
      ("force", "replace FILE if it exists")                                                                     //
      ("sweep", text("NAME"), sweep_help(measure::schedule_sweeps(), "SCHEDULE and --workload").c_str())         //
      ("seed", po::value<std::uint64_t>()->value_name("N"), "seed the contents of the host arrays (default 1)")  //
      ("help,h", "print this text");
  return options;
}

}  // namespace

int streams_run(const std::vector<std::string>& arguments, Context& context) {
  return streams_run(arguments, context, open_device);
}

int streams_run(const std::vector<std::string>& arguments, Context& context, const OpenLab& open) {
  const measure::GoogleFlags flags = measure::take_google_flags(arguments);
  measure::refuse_min_time(flags, "streams run", "one run per sample");
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(flags.others, run_options(), positional, streams_command("run"), context, values)) {
    context.out << "\n" << kNotes << measure::kGoogleFlagsNote;
    return kOk;
  }
  const measure::ScheduleSweep* const sweep =
      values.count("sweep") != 0 ? &find_named("sweep", measure::schedule_sweeps(), values["sweep"].as<std::string>())
                                 : nullptr;
  if (values.count("schedule") == 0 && sweep == nullptr) {
    throw CommandError(kBadInput, "run takes a schedule, or all, as in 'scanlab streams run depth_first', or --sweep");
  }
  measure::LoopOptions defaults;
  if (sweep != nullptr) {
    defaults.rounds = sweep->rounds;
    defaults.cap_seconds = sweep->cap;
  }
  const measure::LoopOptions options = read_loop_options(values, flags, defaults);
  const std::uint64_t seed = given<std::uint64_t>(values, "seed").value_or(1);
  const std::optional<std::string> out = either<std::string>(values, "out", flags.out);

  const std::vector<streams::ScheduledJob> chosen =
      sweep != nullptr ? jobs(*sweep, said(values))
                       : select_jobs(said(values), kDefaultWorkloads, kDefaultItems).jobs(&context.err);
  std::vector<measure::TimedSchedule> schedules =
      measure::timed_schedules(chosen, [&](const std::string& name) { return flags.passes(name); });
  if (flags.list) {
    for (const measure::TimedSchedule& timed : schedules) fmt::print(context.out, "{}\n", timed.name);
    return kOk;
  }
  if (schedules.empty()) {
    throw CommandError(kBadInput, sweep != nullptr ? "no case of the sweep is left: widen the selection"
                                                   : "--benchmark_filter leaves no case: widen it");
  }

  measure::Facts provenance{{"schema", measure::kResultsSchema}, {"kind", "cuda"}};
  StreamsLab lab = open(context);
  provenance.update(lab.provenance);
  provenance["seed"] = std::to_string(seed);
  add_loop_facts(options, provenance);
  provenance["schedules"] = measure::described_schedules(schedules);
  provenance["workloads"] = measure::described_workloads(schedules);
  flags.add_context(provenance);
  std::optional<measure::ResultsFile> file = results_file(out, provenance, values);

  const InterruptGuard guard;
  measure::ScheduleSession session(schedules, *lab.backend, options, seed, file ? &*file : nullptr, context.err);
  session.run();
  print(session.parts(), context.out);
  print(schedules, context.out);
  if (file) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  return status_of(schedules, session.parts());
}

}  // namespace scanlab::cli
