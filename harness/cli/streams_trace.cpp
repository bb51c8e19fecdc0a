// scanlab streams trace: the timeline of one schedule, from the device's own records.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/job_selection.hpp"
#include "harness/cli/provenance.hpp"
#include "harness/cli/streams.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/cli/whole_file.hpp"
#include "harness/streams/concurrency.hpp"
#include "harness/streams/trace_events.hpp"

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
    "the busiest.\n";

po::options_description trace_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkload, kDefaultItems);
  options.add_options()  //
      ("repetitions", po::value<int>()->value_name("N"), "with and without collection each (default 5)");
  add_timeline_options(options);
  return options;
}

}  // namespace

int streams_trace(const std::vector<std::string>& arguments, Context& context) {
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(arguments, trace_options(), positional, streams_command("trace"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  if (values.count("schedule") == 0) {
    throw CommandError(kBadInput, "trace takes a schedule, as in 'scanlab streams trace depth_first'");
  }
  const ScheduledJob chosen = only_job("trace", read_job_selection(values, kDefaultWorkload, kDefaultItems).jobs());
  const int repetitions = values.count("repetitions") != 0 ? values["repetitions"].as<int>() : 5;
  if (repetitions < 1) throw CommandError(kBadInput, "--repetitions takes a number from 1 on");
  [[maybe_unused]] const double shortest_gap = shortest_gap_of(values);  // a wrong one is refused without a device too
  const streams::Recording recording = record(*chosen.schedule, chosen.job);

  Facts about = measured_on("scanlab streams trace", context.argv);
  std::optional<WholeFile> file;
  if (values.count("out") != 0) file.emplace(values["out"].as<std::string>(), values.count("force") != 0);
#ifdef SCANLAB_WITH_CUDA
  const streams::MeasuredTimeline measured = measure_timeline(recording, repetitions);
  const streams::TimelineAnalysis analysis = analyse(measured.timeline);
  fmt::print(context.out, "{}\n", describe(chosen));
  print(measured.timeline, analysis, shortest_gap * analysis.makespan, context.out);
  const double change = 100 * (measured.median_collected() / measured.median_plain() - 1);
  fmt::print(context.out, "collection: {:.3f} ms with it, {:.3f} without (medians of {}): {:+.1f}%\n",
             1e3 * measured.median_collected(), 1e3 * measured.median_plain(), repetitions, change);
  if (file) {
    about.update(facts_of(chosen));
    about["connections"] = streams::connections();
    about["makespan_us"] = 1e6 * analysis.makespan;
    about["overlap"] = analysis.overlap();
    about["collection_percent"] = change;
    about["verified"] = measured.wrong.empty();
    file->write(trace_events(measured.timeline, about).dump() + "\n");
    fmt::print(context.out, "{} operations in {}\n", measured.timeline.spans.size(), values["out"].as<std::string>());
  }
  if (measured.wrong.empty()) return kOk;
  const bool control = chosen.schedule->about.control;
  fmt::print(context.err, "scanlab: the output was wrong{}: {}\n", control ? ", as a control's should be" : "",
             measured.wrong);
  return control ? kOk : kFailed;
#else
  return kNoDevice;
#endif
}

}  // namespace scanlab::cli
