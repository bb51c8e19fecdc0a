// scanlab simulate: a schedule on the engine model, printed and written as `streams trace` does it; many, in a sweep;
// or traces compared with their simulation. And scanlab scenarios: the timelines of lectures, or of the user's files.
// Needs no device.
#include <list>
#include <memory>
#include <sstream>

#include "harness/advice/comparison.hpp"
#include "harness/cli/options.hpp"
#include "harness/scenarios/scenario.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/simulator/sweep.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace {

struct SimulateOptions {
  OptionWords words;
  simulator::DeviceProfile profile;
  simulator::KnownTimes known;
  TimelineWords timeline;
  Options options;
};

/// The build, the date, the command line, and which device was simulated.
measure::Facts simulation_facts(const simulator::DeviceProfile& profile, const Context& context) {
  measure::Facts facts = measure::run_facts(context.argv);
  facts["simulated_on"] = profile.name;
  facts["hardware_queues"] = profile.hardware_queues;
  return facts;
}

int simulate_one(const streams::ScheduledJob& chosen, const SimulateOptions& asked, Context& context) {
  const simulator::DeviceProfile& profile = asked.profile;
  const streams::Recording recording = record(*chosen.schedule, chosen.job);
  std::optional<WholeFile> file = asked.timeline.out.open();
  const simulator::Simulation simulation =
      simulator::simulate(recording, profile, simulator::costs(recording, profile, asked.known));
  const streams::TimelineAnalysis analysis = analyse(simulation.timeline);
  if (file && !(analysis.covered > 0))
    refuse("--out: nothing in it takes any time, so there is no timeline: give items and times");
  fmt::print(context.out, "{}\nsimulated on {}: {}\n", describe(chosen), profile.name, profile.title);
  if (const streams::ScheduleDescription& about = chosen.schedule->about; about.control)
    fmt::print(context.out, "a control, whose result is wrong: 'scanlab streams check {}' says where\n", about.id);
  context.out << describe(simulation.timeline, analysis, 0.01 * asked.timeline.gap * analysis.makespan);
  if (file) {
    measure::Facts facts = simulation_facts(profile, context);
    facts.update(facts_of(chosen));
    facts["makespan_us"] = 1e6 * analysis.makespan;
    facts["overlap"] = analysis.overlap();
    file->write(trace_events(simulation.timeline, facts).dump() + "\n");
    fmt::print(context.out, "{} operations in {}\n", simulation.timeline.spans.size(), *asked.timeline.out.path);
  }
  return kOk;
}

int simulate_sweep(const std::vector<streams::ScheduledJob>& jobs, const SimulateOptions& asked, Context& context) {
  asked.options.refuse_useless({"gap"}, "a sweep prints no gaps");
  std::vector<std::optional<double>> ratios;
  for (const std::string& word : words_of(asked.words, "ratios"))
    ratios.emplace_back(parse_number(word, "--ratios", 1e-9, std::numeric_limits<double>::max()));
  if (ratios.empty()) ratios.emplace_back();  // kernels take what they take
  std::optional<WholeFile> file = asked.timeline.out.open();
  const InterruptGuard guard;
  Progress progress(context.err);
  std::vector<simulator::SweptJob> all;
  const std::size_t count = jobs.size() * ratios.size();
  for (const streams::ScheduledJob& chosen : jobs) {
    for (const std::optional<double> ratio : ratios) {
      if (interrupted()) break;
      all.push_back(simulator::sweep(chosen, ratio, asked.profile, asked.known));
      progress.show(fmt::format("{} of {} configurations", all.size(), count));
    }
  }
  progress.clear();

  fmt::print(context.out, "{}{} configurations simulated on {}: {}\n", all.size(),
             interrupted() ? fmt::format(" of {}", count) : "", asked.profile.name, asked.profile.title);
  print(fastest(all), context.out);
  if (file) {
    measure::Facts document{{"schema", "scanlab-simulation-sweep/1"},
                            {"context", simulation_facts(asked.profile, context)},
                            {"configurations", measure::Facts::array()}};
    for (const simulator::SweptJob& each : all) document["configurations"].push_back(to_json(each));
    file->write(document.dump() + "\n");
    fmt::print(context.out, "all of them in {}\n", *asked.timeline.out.path);
  }
  end_if_interrupted("the configurations before are kept");
  return kOk;
}

int simulate_compare(const Words& traces, const SimulateOptions& asked, Context& context) {
  const simulator::DeviceProfile& profile = asked.profile;
  std::optional<WholeFile> file = asked.timeline.out.open();
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  facts["simulated_on"] = profile.name;
  std::unique_ptr<simulator::ComparedTrace> last;
  std::ostringstream lines;
  simulator::ComparisonSummary summary;
  measure::Facts compared = measure::Facts::array();
  for (const std::string& each : traces) {
    last = simulator::compare_trace(each, profile);
    summary.add(*last);
    compared.push_back(to_json(*last));
    measure::add_measured(facts, last->about);
    print(*last, lines);
  }
  measure::Facts document{{"schema", "scanlab-comparison/1"}, {"context", facts}};
  document.update(to_json(summary));
  document["traces"] = compared;
  if (traces.size() == 1) {
    facts.update(compared.front());
    document = both_timelines(*last, facts);
  }
  if (file) file->write(document.dump(traces.size() == 1 ? -1 : 1) + "\n");
  // Printed behind the file: a reader who stops after the first lines has it whole.
  fmt::print(context.out, "simulated on {}: {}\n{:>9} {:>9} {:>7}  {:>5}\n{:>9} {:>9} {:>7}  {:>5}\n", profile.name,
             profile.title, "measured", "predicted", "error", "pairs", "ms", "ms", "", "kept");
  context.out << lines.str();
  if (traces.size() == 1) {
    print_operations(*last, context.out);
  } else {
    print(summary, context.out);
  }
  return kOk;
}

}  // namespace

int simulate(const Words& arguments, Context& context) {
  SimulateOptions asked;
  std::optional<std::string> profile;
  std::optional<int> queues;
  bool sweep = false;
  Words traces;
  Options& options = asked.options;
  add_job_options(options, asked.words);
  options.file("profile", File::read, profile, "select the device profile, by name or FILE.json (default didactic)")
      .number("queues", queues, 1, 1'000'000, "set the number of hardware work queues (default: the profile's)")
      .microseconds("h2d-us", asked.known.copy_in, "set the time of the H2D copy of all items (default: the profile's)")
      .microseconds("kernel-us", asked.known.kernel, "set the time of the kernel of all items (default: the profile's)")
      .microseconds("d2h-us", asked.known.copy_out,
                    "set the time of the D2H copy of all items (default: the profile's)")
      .number("threads", asked.known.threads_per_block, 1, 1'000'000, "set the threads per block")
      .flag("sweep", sweep, "simulate every combination of the given lists, one line per combination")
      .list("ratios", "LIST", asked.words, "set ratios of kernel time to copy time in a sweep: 0.1,1,10")
      .files("compare", traces, "compare traces of 'streams trace' with simulations of their jobs");
  asked.timeline.add_to(options);
  if (!options.parse(arguments, context)) return kOk;
  if (!traces.empty()) {
    if (!profile) refuse("--compare needs the profile of the traced device: add --profile NAME");
    constexpr char kWhy[] = "each trace of --compare names its own job";
    options.refuse_useless(kJobOptions, kWhy);
    options.refuse_useless({"schedule", "h2d-us", "kernel-us", "d2h-us", "threads", "sweep", "ratios"}, kWhy);
  } else if (!options.given("schedule")) {
    refuse("simulate takes a schedule, as in 'scanlab simulate depth_first --profile c2050'");
  }
  asked.profile = simulator::device_profile(profile.value_or("didactic"));
  asked.profile.hardware_queues = queues.value_or(asked.profile.hardware_queues);
  if (!traces.empty()) return simulate_compare(traces, asked, context);
  if (!sweep) options.refuse_useless({"ratios"}, "they go with --sweep: add --sweep");
  if (asked.known.kernel) options.refuse_useless({"ratios"}, "--kernel-us sets the time of kernels: leave out one");
  const std::vector<streams::ScheduledJob> jobs = select_jobs(asked.words).jobs(&context.err);
  for (const streams::ScheduledJob& each : jobs) {
    if (options.given("ratios")) break;  // which give the kernel's time
    const std::string reason = unknown_kernel_time(each.job, asked.profile, asked.known);
    if (!reason.empty()) refuse(reason + ": give --kernel-us, or --work 1");
  }
  if (sweep) return simulate_sweep(jobs, asked, context);
  if (jobs.size() != 1)
    refuse(fmt::format("simulate takes one job, and these are {} combinations: add --sweep", jobs.size()));
  return simulate_one(jobs.front(), asked, context);
}

int scenarios(const Words& arguments, Context& context) {
  Words paths;
  std::optional<std::string> out;
  bool force = false;
  Options options;
  options.files("file", paths, "simulate these TOML files; --file may be left out (default: the lectures')")
      .text("out", "DIR", out, "write each timeline to DIR/ID.json")
      .force(force)
      .positional("file", -1);
  if (!options.parse(arguments, context)) return kOk;

  const std::vector<simulator::Scenario> all =
      paths.empty() ? simulator::built_in_scenarios() : simulator::read_scenarios(paths);
  std::list<WholeFile> files;  // all of them can be written, or none is begun
  if (out) {
    const std::filesystem::path folder = output_folder(*out);
    for (const simulator::Scenario& each : all) files.emplace_back(folder / (each.id + ".json"), force);
  }
  auto file = files.begin();
  std::string source;
  for (const simulator::Scenario& each : all) {
    if (source != each.source) fmt::print(context.out, "{}{}\n", source.empty() ? "" : "\n", each.source);
    source = each.source;
    const simulator::Simulation simulation = simulator::simulate(each);
    fmt::print(context.out, "  {:<24} {:>6.2f} {:<5}  {}\n", each.id, 1e3 * simulation.timeline.makespan(), each.unit,
               each.fact);
    if (file != files.end())
      (file++)->write(trace_of(each, simulation, simulation_facts(each.device, context)).dump() + "\n");
  }
  if (!files.empty()) fmt::print(context.out, "\n{} timelines in {}\n", all.size(), *out);
  return kOk;
}

}  // namespace scanlab::cli
