// scanlab streams trace: the timeline of one schedule, from the device's own records.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/job_selection.hpp"
#include "harness/cli/provenance.hpp"
#include "harness/cli/streams.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/cli/whole_file.hpp"
#include "harness/streams/trace_events.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

constexpr char kDefaultWorkload[] = "scale";
constexpr char kDefaultItems[] = "2^26";

constexpr char kNotes[] =
    "FILE opens in ui.perfetto.dev: a lane a stream, a lane an engine, and the host's issue. A gap's reason comes "
    "from\n"
    "what the schedule orders, when the host issued, and when what was waited for ended. Overlap is the part that was\n"
    "saved of what could be: 0% if one engine works at a time, 100% if the busiest never stops.\n";

po::options_description trace_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkload, kDefaultItems);
  options.add_options()                                                                                   //
      ("out", po::value<std::string>()->value_name("FILE"), "the timeline, as trace events")              //
      ("force", "replace FILE if it holds something")                                                     //
      ("repetitions", po::value<int>()->value_name("N"), "with and without collection each (default 5)")  //
      ("gap", po::value<double>()->value_name("PERCENT"),
       "of the makespan: shorter idle gaps are summed, not listed (default 2)")  //
      ("help,h", "this text");
  return options;
}

void print_path(const streams::Recording& recording, const streams::TimelineAnalysis& analysis, std::ostream& out) {
  std::array<double, streams::kEngines.size()> on_path{};
  double waited = 0;
  for (const streams::PathStep& step : analysis.path) {
    on_path[static_cast<std::size_t>(engine_of(recording.operations[step.operation]))] += step.when.seconds();
    waited += std::max(0.0, step.waited);
  }
  fmt::print(out, "critical path: {} operations", analysis.path.size());
  for (const streams::Engine engine : streams::kEngines) {
    fmt::print(out, ", {} {:.3f} ms", name(engine), 1e3 * on_path[static_cast<std::size_t>(engine)]);
  }
  fmt::print(out, ", between them {:.3f} ms\n", 1e3 * waited);
}

}  // namespace

void print(const streams::Timeline& timeline, const streams::TimelineAnalysis& analysis, double shortest_gap,
           std::ostream& out) {
  const streams::Recording& recording = *timeline.recording;
  fmt::print(out, "makespan {:.3f} ms; engines at work {:.3f} ms in all; {}\n", 1e3 * analysis.makespan,
             1e3 * analysis.serial(), analysis.overlap_in_words());
  for (const streams::Engine engine : streams::kEngines) {
    const double busy = analysis.busy[static_cast<std::size_t>(engine)];
    fmt::print(out, "{:<10}  busy {:>9.3f} ms ({:>3.0f}%)  idle {:>9.3f} ms", name(engine), 1e3 * busy,
               analysis.makespan > 0 ? 100 * busy / analysis.makespan : 0, 1e3 * analysis.idle(engine));
    const char* separator = ": ";
    for (const streams::Idle reason : streams::kIdleReasons) {
      const double seconds = analysis.idle(engine, reason);
      if (seconds < 1e-6) continue;
      fmt::print(out, "{}{} {:.3f}", separator, name(reason), 1e3 * seconds);
      separator = ", ";
    }
    fmt::print(out, "\n");
  }
  print_path(recording, analysis, out);
  constexpr int kMost = 20;
  int left_out = 0;
  int shown = 0;
  for (const streams::Gap& gap : analysis.gaps) {
    if (gap.when.seconds() < shortest_gap) continue;
    if (++shown > kMost) {
      ++left_out;
    } else {
      fmt::print(out, "  {}\n", describe(recording, gap));
    }
  }
  if (left_out > 0) fmt::print(out, "  and {} more such gaps\n", left_out);
}

#ifdef SCANLAB_WITH_CUDA

streams::MeasuredTimeline measure_timeline(const streams::Recording& recording, int repetitions) {
  try {
    streams::HostArrays arrays(recording.job, 1);
    return streams::measure_timeline(recording, arrays, repetitions);
  } catch (const std::bad_alloc&) {
    throw CommandError(kOutOfMemory, fmt::format("out of host memory for arrays of {} items", recording.job.items));
  } catch (const cuda::OutOfMemory& lack) {
    throw CommandError(
        kOutOfMemory,
        fmt::format("{}: take fewer items, or a schedule that reuses its buffers (double_buffered)", lack.what()));
  } catch (const std::runtime_error& error) {
    throw CommandError(kFailed, error.what());
  }
}

#endif

ScheduledJob only_job(const std::string& command, const std::vector<ScheduledJob>& jobs) {
  if (jobs.size() == 1) return jobs.front();
  throw CommandError(kBadInput, fmt::format("{} takes one schedule and one value of each parameter, and this is {} "
                                            "combinations",
                                            command, jobs.size()));
}

std::string describe(const ScheduledJob& chosen) {
  const streams::Job& job = chosen.job;
  return fmt::format("{}, {}: {} items in {} chunks, {} streams, {} memory, work {}", chosen.schedule->about.id,
                     job.workload->about.id, job.items, job.chunks, job.streams, name(job.memory), job.work);
}

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
  const double shortest_gap = values.count("gap") != 0 ? values["gap"].as<double>() : 2;
  if (!(shortest_gap >= 0)) throw CommandError(kBadInput, "--gap takes a percentage, 0 or more");
  const streams::Recording recording = record(*chosen.schedule, chosen.job);

  Facts about = measured_on("scanlab streams trace", context.argv);
  std::optional<WholeFile> file;
  if (values.count("out") != 0) file.emplace(values["out"].as<std::string>(), values.count("force") != 0);
#ifdef SCANLAB_WITH_CUDA
  const streams::MeasuredTimeline measured = measure_timeline(recording, repetitions);
  const streams::TimelineAnalysis analysis = analyse(measured.timeline);
  fmt::print(context.out, "{}\n", describe(chosen));
  print(measured.timeline, analysis, 0.01 * shortest_gap * analysis.makespan, context.out);
  const double change = 100 * (measured.median_collected() / measured.median_plain() - 1);
  fmt::print(context.out, "collection: {:.3f} ms with it, {:.3f} without (medians of {}): {:+.1f}%\n",
             1e3 * measured.median_collected(), 1e3 * measured.median_plain(), repetitions, change);
  if (file) {
    const streams::Job& job = chosen.job;
    about["schedule"] = chosen.schedule->about.id;
    about["workload"] = job.workload->about.id;
    about["items"] = job.items;
    about["chunks"] = job.chunks;
    about["streams"] = job.streams;
    about["memory"] = name(job.memory);
    about["work"] = job.work;
    about["blocks"] = job.blocks;
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
