// scanlab simulate: a schedule on the engine model, printed and written as `streams trace` does it; many, in a sweep;
// or traces held against their simulation. Needs no device.
#include "harness/cli/simulate.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "harness/advice/comparison.hpp"
#include "harness/cli/options.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/simulator/sweep.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";
constexpr char kComparisonSchema[] = "scanlab-comparison/1";

struct SimulateOptions {
  OptionWords words;
  std::optional<std::string> profile;
  std::optional<int> queues;
  simulator::KnownTimes known;
  bool sweep = false;
  Words traces;
  TimelineWords timeline;
  Options options;

  SimulateOptions() {
    add_job_options(options, words, kDefaultWorkload, kDefaultItems);
    options.file("profile", File::read, profile, "select the device profile, by name or FILE.json (default didactic)")
        .number("queues", queues, 1, 1'000'000, "set the number of hardware work queues (default: the profile's)")
        .microseconds("h2d-us", known.copy_in, "set the time of the H2D copy of all items (default: the profile's)")
        .microseconds("kernel-us", known.kernel, "set the time of the kernel of all items (default: the profile's)")
        .microseconds("d2h-us", known.copy_out, "set the time of the D2H copy of all items (default: the profile's)")
        .number("threads", known.threads_per_block, 1, 1'000'000, "set the threads per block")
        .flag("sweep", sweep, "simulate every combination of the given lists, one line per combination")
        .list("ratios", "LIST", words, "set ratios of kernel time to copy time in a sweep: 0.1,1,10")
        .files("compare", File::read, traces, "compare traces of 'streams trace' with simulations of their jobs");
    timeline.add_to(options);
  }
};

int simulate_one(const streams::ScheduledJob& chosen, const simulator::DeviceProfile& profile,
                 const SimulateOptions& asked, Context& context) {
  const double shortest_gap = asked.timeline.shortest_gap();
  const streams::Recording recording = record(*chosen.schedule, chosen.job);
  std::optional<WholeFile> file = output_file(asked.timeline.out, asked.timeline.force);
  const simulator::Simulation simulation =
      simulator::simulate(recording, profile, simulator::costs(recording, profile, asked.known));
  const streams::TimelineAnalysis analysis = analyse(simulation.timeline);
  if (file && !(analysis.covered > 0)) {
    refuse("--out: nothing in it takes any time, so there is no timeline: give items and times");
  }
  fmt::print(context.out, "{}\nsimulated on {}: {}\n", describe(chosen), profile.name, profile.title);
  if (const std::string& id = chosen.schedule->about.id; chosen.schedule->about.control) {
    fmt::print(context.out, "a control, whose result is wrong: 'scanlab streams check {}' says where\n", id);
  }
  context.out << describe(simulation.timeline, analysis, shortest_gap * analysis.makespan);
  if (file) {
    measure::Facts facts = simulation_facts(profile, context);
    facts.update(facts_of(chosen));
    facts["makespan_us"] = 1e6 * analysis.makespan;
    facts["overlap"] = analysis.overlap();
    file->write(trace_events(simulation.timeline, facts).dump() + "\n");
    fmt::print(context.out, "{} operations in {}\n", simulation.timeline.spans.size(), *asked.timeline.out);
  }
  return kOk;
}

/// None: kernels take what they take.
std::vector<std::optional<double>> ratios_of(const SimulateOptions& asked) {
  std::vector<std::optional<double>> ratios;
  for (const std::string& word : words_of(asked.words, "ratios")) {
    double ratio = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ratio);
    if (error != std::errc{} || end != word.data() + word.size() || !(ratio > 0 && std::isfinite(ratio)))
      refuse(fmt::format("--ratios '{}': give numbers above 0, as in --ratios 0.1,1,10", word));
    ratios.emplace_back(ratio);
  }
  if (!ratios.empty() && asked.known.kernel)
    refuse("--ratios and --kernel-us both set the time of kernels: leave out one");
  if (ratios.empty()) ratios.emplace_back();
  return ratios;
}

int simulate_sweep(const std::vector<streams::ScheduledJob>& jobs, const simulator::DeviceProfile& profile,
                   const SimulateOptions& asked, Context& context) {
  asked.options.refuse_useless({"gap"}, "a sweep prints no gaps");
  const auto ratios = ratios_of(asked);
  std::optional<WholeFile> file = output_file(asked.timeline.out, asked.timeline.force);
  const InterruptGuard guard;
  Progress progress(context.err);
  std::vector<simulator::SweptJob> all;
  for (const streams::ScheduledJob& chosen : jobs) {
    for (const std::optional<double> ratio : ratios) {
      if (interrupted()) break;
      all.push_back(simulator::sweep(chosen, ratio, profile, asked.known));
      progress.show(fmt::format("{} of {} configurations", all.size(), jobs.size() * ratios.size()));
    }
  }
  progress.clear();

  const std::string of_all = interrupted() ? fmt::format(" of {}", jobs.size() * ratios.size()) : "";
  fmt::print(context.out, "{}{} configurations simulated on {}: {}\n", all.size(), of_all, profile.name, profile.title);
  print(fastest(all), context.out);
  if (file) {
    measure::Facts document{{"schema", "scanlab-simulation-sweep/1"},
                            {"context", simulation_facts(profile, context)},
                            {"configurations", measure::Facts::array()}};
    for (const simulator::SweptJob& one : all) document["configurations"].push_back(to_json(one));
    file->write(document.dump() + "\n");
    fmt::print(context.out, "all of them in {}\n", *asked.timeline.out);
  }
  if (!interrupted()) return kOk;
  fmt::print(context.err, "scanlab: interrupted; the configurations before are kept\n");
  return kInterrupted;
}

int simulate_compare(const SimulateOptions& asked, const simulator::DeviceProfile& profile, Context& context) {
  std::optional<WholeFile> file = output_file(asked.timeline.out, asked.timeline.force);
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  facts["simulated_on"] = profile.name;

  std::ostringstream out;  // printed behind the file: whoever reads the first lines alone still has it whole
  fmt::print(out, "simulated on {}: {}\n{:>9} {:>9} {:>7}  {:>5}\n{:>9} {:>9} {:>7}  {:>5}\n", profile.name,
             profile.title, "measured", "predicted", "error", "pairs", "ms", "ms", "", "kept");
  simulator::ComparisonSummary summary;
  measure::Facts traces = measure::Facts::array();
  std::unique_ptr<simulator::ComparedTrace> one;
  for (const std::string& each : asked.traces) {
    one = simulator::compare_trace(each, profile);
    print(*one, out);
    summary.add(*one);
    traces.push_back(to_json(*one));
    measure::add_measured(facts, one->about);
  }
  if (asked.traces.size() == 1) {
    print_operations(*one, out);
    facts.update(traces.front());
    if (file) file->write(both_timelines(*one, facts).dump() + "\n");
  } else {
    print(summary, out);
    measure::Facts document{{"schema", kComparisonSchema}, {"context", facts}};
    document.update(to_json(summary));
    document["traces"] = std::move(traces);
    if (file) file->write(document.dump(1) + "\n");
  }
  context.out << out.str();
  return kOk;
}

}  // namespace

measure::Facts simulation_facts(const simulator::DeviceProfile& profile, const Context& context) {
  measure::Facts facts = measure::run_facts(context.argv);
  facts["simulated_on"] = profile.name;
  facts["hardware_queues"] = profile.hardware_queues;
  return facts;
}

int simulate(const std::vector<std::string>& arguments, Context& context) {
  SimulateOptions asked;
  if (!asked.options.parse(arguments, context)) return kOk;
  const bool compares = !asked.traces.empty();
  if (compares) {
    if (!asked.profile) refuse("--compare needs the profile of the traced device: add --profile NAME");
    if (asked.words.contains("schedule"))
      refuse("--compare takes no schedule, since each trace names its own: leave it out");
    constexpr char kWhy[] = "each trace of --compare names its own job";
    asked.options.refuse_useless(kJobOptions, kWhy);
    asked.options.refuse_useless({"h2d-us", "kernel-us", "d2h-us", "threads", "sweep", "ratios"}, kWhy);
  } else if (!asked.words.contains("schedule")) {
    refuse("simulate takes a schedule, as in 'scanlab simulate depth_first --profile c2050'");
  }
  simulator::DeviceProfile profile = simulator::device_profile(asked.profile.value_or("didactic"));
  profile.hardware_queues = asked.queues.value_or(profile.hardware_queues);
  if (compares) return simulate_compare(asked, profile, context);
  const bool ratios = asked.words.contains("ratios");
  const std::vector<streams::ScheduledJob> jobs =
      select_jobs(asked.words, kDefaultWorkload, kDefaultItems).jobs(&context.err);
  if (!ratios) {  // which give the kernel's time
    for (const streams::ScheduledJob& each : jobs) {
      const std::string reason = unknown_kernel_time(each.job, profile, asked.known);
      if (!reason.empty()) refuse(reason + ": give --kernel-us, or --work 1");
    }
  }
  try {
    if (asked.sweep) return simulate_sweep(jobs, profile, asked, context);
    if (ratios) refuse("--ratios goes with --sweep: add --sweep");
    if (jobs.size() != 1)
      refuse(
          fmt::format("simulate takes one schedule and one value of each parameter, and this is {} combinations: "
                      "name one, or add --sweep",
                      jobs.size()));
    return simulate_one(jobs.front(), profile, asked, context);
  } catch (const simulator::ScheduleError& error) {
    refuse(error.what());
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

}  // namespace scanlab::cli
