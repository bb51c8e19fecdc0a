// scanlab simulate: one schedule on the engine model, printed and written as `streams trace` does it; or many, in a
// sweep. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "harness/cli/options.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";
constexpr char kDefaultProfile[] = "didactic";

constexpr char kNotes[] =
    "A profile is a file of data/devices/, or a FILE.json of the same form (data/README.md). Default times follow "
    "from\n"
    "the bytes and the profile's rates: a kernel reads and writes each item once.\n"
    "With --sweep every option of a job takes a list, and --out gets one line per configuration: makespan, bounds, "
    "and\n"
    "the utilisation of each engine.\n"
    "With --compare the makespan is compared with the median without tracing, and the timeline, which --out writes,\n"
    "with the traced one. Pairs kept: of the pairs of operations that overlap in prediction or measurement, the\n"
    "share that does in both, over all repetitions.\n";

po::options_description simulate_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkload, kDefaultItems);
  options.add_options()                                                                                //
      ("profile", text("NAME"), "select the device profile, by name or FILE.json (default didactic)")  //
      ("queues", po::value<int>()->value_name("N"),
       "set the number of hardware work queues (default: the profile's)")  //
      ("h2d-us", po::value<double>()->value_name("T"),
       "set the time of the H2D copy of all items, alone, in microseconds (default: from the profile)")  //
      ("kernel-us", po::value<double>()->value_name("T"),
       "set the time of the kernel of all items, in microseconds (default: from the profile)")  //
      ("d2h-us", po::value<double>()->value_name("T"),
       "set the time of the D2H copy of all items, alone, in microseconds (default: from the profile)")  //
      ("threads", po::value<int>()->value_name("N"), "set the threads per block (default 256)")          //
      ("sweep", "simulate every combination of the given lists, one line per combination")               //
      ("ratios", list_of("LIST"),
       "set the ratios of compute to copy in a sweep: kernel time over the longer copy direction, as in 0.1,1,10");
  options.add_options()("compare",
                        po::value<std::vector<std::string>>()->multitoken()->composing()->value_name("TRACE …"),
                        "compare traces of 'streams trace' with simulations of their jobs");
  add_timeline_options(options);
  return options;
}

simulator::DeviceProfile profile_of(const po::variables_map& values) {
  simulator::DeviceProfile profile =
      simulator::device_profile(values.count("profile") != 0 ? values["profile"].as<std::string>() : kDefaultProfile);
  if (values.count("queues") != 0) profile.hardware_queues = values["queues"].as<int>();
  if (profile.hardware_queues < 1)
    throw CommandError(kBadInput, fmt::format("--queues {}: give a number of 1 or more", profile.hardware_queues));
  return profile;
}

simulator::KnownTimes known_of(const po::variables_map& values) {
  simulator::KnownTimes known{.copy_in = seconds_of(values, "h2d-us"),
                              .kernel = seconds_of(values, "kernel-us"),
                              .copy_out = seconds_of(values, "d2h-us")};
  if (values.count("threads") != 0) known.threads_per_block = values["threads"].as<int>();
  return known;
}

int simulate_one(const streams::ScheduledJob& chosen, const simulator::DeviceProfile& profile,
                 const simulator::KnownTimes& known, const po::variables_map& values, Context& context) {
  const double shortest_gap = shortest_gap_of(values);
  const streams::Recording recording = record(*chosen.schedule, chosen.job);
  std::optional<WholeFile> file = output_file(values);
  const simulator::Simulation simulation =
      simulator::simulate(recording, profile, simulator::costs(recording, profile, known));
  const streams::TimelineAnalysis analysis = analyse(simulation.timeline);
  if (file && !(analysis.covered > 0)) {
    throw CommandError(kBadInput, "--out: nothing in it takes any time, so there is no timeline: give items and times");
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
    fmt::print(context.out, "{} operations in {}\n", simulation.timeline.spans.size(), values["out"].as<std::string>());
  }
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
  const std::vector<std::string> words =
      renamed(renamed(arguments, "--copy-in-us", "--h2d-us"), "--copy-out-us", "--d2h-us");
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(words, simulate_options(), positional, command("simulate"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  if (values.count("compare") != 0) {
    if (values.count("profile") == 0) {
      throw CommandError(kBadInput, "--compare needs the profile of the traced device: add --profile NAME");
    }
    if (values.count("schedule") != 0) {
      throw CommandError(kBadInput, "--compare takes no schedule, since each trace names its own: leave it out");
    }
    refuse_options(values,
                   {"workload", "items", "chunks", "streams", "memory", "buffers", "budget", "blocks", "work", "h2d-us",
                    "kernel-us", "d2h-us", "threads", "sweep", "ratios"},
                   "each trace of --compare names its own job");
    return simulate_compare(values, profile_of(values), context);
  }
  if (values.count("schedule") == 0) {
    throw CommandError(kBadInput, "simulate takes a schedule, as in 'scanlab simulate depth_first --profile c2050'");
  }
  const simulator::DeviceProfile profile = profile_of(values);
  const simulator::KnownTimes known = known_of(values);
  const std::vector<streams::ScheduledJob> jobs =
      select_jobs(said(values), kDefaultWorkload, kDefaultItems).jobs(&context.err);
  if (values.count("ratios") == 0) {  // which give the kernel's time
    for (const streams::ScheduledJob& each : jobs) {
      const std::string why = unknown_kernel_time(each.job, profile, known);
      if (!why.empty()) throw CommandError(kBadInput, why + ": give --kernel-us, or --work 1");
    }
  }
  try {
    if (values.count("sweep") != 0) return simulate_sweep(jobs, profile, known, values, context);
    if (values.count("ratios") != 0) throw CommandError(kBadInput, "--ratios goes with --sweep: add --sweep");
    if (jobs.size() != 1) {
      throw CommandError(kBadInput, fmt::format("simulate takes one schedule and one value of each parameter, and this "
                                                "is {} combinations: name one, or add --sweep",
                                                jobs.size()));
    }
    return simulate_one(jobs.front(), profile, known, values, context);
  } catch (const simulator::ScheduleError& error) {
    throw CommandError(kBadInput, error.what());
  } catch (const std::invalid_argument& error) {
    throw CommandError(kBadInput, error.what());
  }
}

}  // namespace scanlab::cli
