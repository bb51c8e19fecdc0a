// scanlab streams trace: the timeline of a schedule, or of many, from the device's own records.
#include "harness/cli/streams_trace.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/cli/selection.hpp"
#include "harness/cli/streams.hpp"
#include "harness/cli/streams_sweep.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/implicit_sync/concurrency.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";

constexpr char kNotes[] =
    "FILE opens in ui.perfetto.dev: a lane a stream, a lane an engine, and the host's issue. A gap's reason comes "
    "from\n"
    "what the schedule orders, when the host issued, and when what was waited for ended. Overlap is the time that\n"
    "engines worked beside each other, of what is possible: 0% if one works at a time, 100% if none works but beside\n"
    "the busiest. With several schedules or parameters, or a sweep, --out names a folder, and each has a file there,\n"
    "recorded in a process of its own: the driver gives streams their hardware queues by what the process did before,\n"
    "and only a fresh process is what a program that runs one schedule sees. Each start takes about a second.\n";

po::options_description trace_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkload, kDefaultItems);
  options.add_options()                                                              //
      ("sweep", po::value<std::string>()->value_name("NAME"), sweep_help().c_str())  //
      ("repetitions", po::value<int>()->value_name("N"), "with and without collection each (default 5)");
  add_timeline_options(options);
  return options;
}

/// Each once: schedules that take so many streams whatever is asked for come with one number of them.
std::vector<streams::ScheduledJob> jobs_of(const po::variables_map& values) {
  if (values.count("sweep") == 0) return read_job_selection(values, kDefaultWorkload, kDefaultItems).jobs();
  std::vector<streams::ScheduledJob> all;
  std::set<std::string> seen;
  for (const streams::ScheduledJob& each :
       jobs(find_named("sweep", streams_sweeps(), values["sweep"].as<std::string>()), values)) {
    if (seen.insert(facts_of(each).dump()).second) all.push_back(each);
  }
  return all;
}

#ifdef SCANLAB_WITH_CUDA

/// One schedule's timeline, and what is written of it.
struct Trace {
  Trace(const streams::ScheduledJob& job, int repetitions)
      : chosen(job), recording(record(*job.schedule, job.job)), measured(measure(repetitions)) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  streams::MeasuredReplays measure(int repetitions) const {
    std::optional<streams::HostArrays> arrays;
    return measure_timeline(recording, repetitions, arrays);
  }
  bool passed() const { return measured.wrong.empty() || chosen.schedule->about.control; }
  std::string text(measure::Facts about) const {
    about.update(facts_of(chosen));
    about["connections"] = streams::connections();
    about.update(facts_of(measured, analysis));
    return trace_events(measured.timeline(), about).dump() + "\n";
  }

  streams::ScheduledJob chosen;
  streams::Recording recording;
  streams::MeasuredReplays measured;
  streams::TimelineAnalysis analysis = analyse(measured.timeline());
};

void report_wrong(const Trace& trace, std::ostream& err) {
  if (trace.measured.wrong.empty()) return;
  fmt::print(err, "scanlab: the output was wrong{}: {}\n", trace.passed() ? ", as a control's should be" : "",
             trace.measured.wrong);
}

int trace_one(const streams::ScheduledJob& chosen, int repetitions, double shortest_gap, WholeFile* file,
              const measure::Facts& about, Context& context) {
  const Trace trace(chosen, repetitions);
  fmt::print(context.out, "{}\n", describe(chosen));
  context.out << describe(trace.measured.timeline(), trace.analysis, shortest_gap * trace.analysis.makespan);
  fmt::print(context.out, "collection: {:.3f} ms with it, {:.3f} without (medians of {}): {:+.1f}%\n",
             1e3 * trace.measured.median_collected(), 1e3 * trace.measured.median_plain(), repetitions,
             trace.measured.collection_percent());
  if (file != nullptr) {
    file->write(trace.text(about));
    fmt::print(context.out, "{} operations written\n", trace.measured.timeline().spans.size());
  }
  report_wrong(trace, context.err);
  return trace.passed() ? kOk : kFailed;
}

/// What the fresh process does: prints the file that `trace_all` writes.
int print_trace(const streams::ScheduledJob& chosen, int repetitions, const measure::Facts& about, Context& context) {
  const Trace trace(chosen, repetitions);
  context.out << trace.text(about);
  report_wrong(trace, context.err);
  return trace.passed() ? kOk : kFailed;
}

#endif

/// depth_first-scale-items67108864-chunks16-streams4-work1-connections8.json
std::string file_name(const streams::ScheduledJob& chosen) {
  const streams::Job& job = chosen.job;
  return fmt::format("{}-{}-items{}-chunks{}-streams{}-work{}-{}connections{}.json", chosen.schedule->about.id,
                     job.workload->about.id, job.items, job.chunks, job.streams, job.work,
                     job.memory == chosen.schedule->about.memory ? "" : std::string(name(job.memory)) + "-",
                     streams::connections());
}

/// The options that choose this job alone are the facts that a trace says of it.
std::vector<std::string> words_for(const streams::ScheduledJob& chosen, int repetitions) {
  std::vector<std::string> words{"streams", "trace", kInFreshProcess, fmt::format("--repetitions={}", repetitions)};
  const measure::Facts facts = facts_of(chosen);
  for (const auto& [option, value] : facts.items()) {
    words.push_back(fmt::format("--{}={}", option, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return words;
}

}  // namespace

int trace_all(const std::vector<streams::ScheduledJob>& jobs, int repetitions, const std::filesystem::path& folder,
              bool force, Context& context, const RunProcess& run_process) {
  const InterruptGuard guard;
  Progress progress(context.err);
  int status = kOk;
  int written = 0;
  for (const streams::ScheduledJob& chosen : jobs) {
    if (interrupted()) break;
    progress.show(fmt::format("{}/{} {}", written + 1, jobs.size(), describe(chosen)));
    WholeFile file(folder / file_name(chosen), force);
    const FreshProcess process = run_process(words_for(chosen, repetitions));
    // A wrong output fails, and has a timeline all the same; a process that was ended may have printed half of one.
    if ((process.status == kOk || process.status == kFailed) && measure::Facts::accept(process.out)) {
      file.write(process.out);
      ++written;
      if (process.status != kOk) status = kFailed;
    } else if (!interrupted()) {  // Ctrl-C ends that process too
      progress.clear();
      fmt::print(context.err, "scanlab: {}: its process ended with status {} and no timeline\n", describe(chosen),
                 process.status);
      status = process.status == kOutOfMemory ? kOutOfMemory : kFailed;
    }
  }
  progress.clear();
  fmt::print(context.out, "{} of {} timelines in {}\n", written, jobs.size(), folder.string());
  return interrupted() ? kInterrupted : status;
}

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
  const std::vector<streams::ScheduledJob> chosen = jobs_of(values);
  const bool many = values.count("sweep") != 0 || chosen.size() > 1;
  if (many && values.count("out") == 0) {
    throw CommandError(kBadInput,
                       fmt::format("these are {} timelines: --out FOLDER says where to write them", chosen.size()));
  }
  const int repetitions = values.count("repetitions") != 0 ? values["repetitions"].as<int>() : 5;
  if (repetitions < 1) throw CommandError(kBadInput, "--repetitions takes a number from 1 on");
  [[maybe_unused]] const double shortest_gap = shortest_gap_of(values);  // a wrong one is refused without a device too

  std::vector<std::string> typed = context.argv;
  if (fresh) std::erase(typed, kInFreshProcess);  // what is left records the same timeline, typed by a user
  const measure::Facts about = measure::measured_on("scanlab streams trace", typed);
#ifdef SCANLAB_WITH_CUDA
  if (many) {
    return trace_all(chosen, repetitions, values["out"].as<std::string>(), values.count("force") != 0, context,
                     [](const std::vector<std::string>& words) { return run_in_fresh_process(words, {}); });
  }
  if (fresh) return print_trace(chosen.front(), repetitions, about, context);
  std::optional<WholeFile> file = output_file(values);
  return trace_one(chosen.front(), repetitions, shortest_gap, file ? &*file : nullptr, about, context);
#else
  return kNoDevice;
#endif
}

}  // namespace scanlab::cli
