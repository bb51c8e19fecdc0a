#include "harness/cli/simulate_compare.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "harness/cli/job_selection.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/core/median.hpp"
#include "harness/host/json_error.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/implicit_sync/concurrency.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/schedule/ordering.hpp"
#include "harness/simulator/comparison.hpp"
#include "harness/simulator/simulation.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::ordered_json;

constexpr char kComparisonSchema[] = "scanlab-comparison/1";

struct Prediction {
  double seconds = 0;             ///< as the host saw it, without collection if that was measured
  simulator::Agreement overlaps;  ///< with all repetitions that the trace tells of
};

/// The hardware queues that the driver gave streams, beside those of the model.
struct QueueAgreement {
  std::size_t copy_queues = 0;  ///< that a copy engine turned through at most; more than two have several orders
  bool shared = true;           ///< what shares a queue in one shares it in the other
  bool in_order = true;         ///< and copy engines turn to their queues in the same order
};

/// A trace, and what the model makes of its job.
struct Compared {
  std::string file;
  Json about;  ///< the trace's
  streams::ScheduledJob chosen;
  streams::Recording recording;
  streams::Timeline measured;
  double measured_seconds = 0;                          ///< as those of a prediction
  std::optional<double> spread;                         ///< of repetitions: largest less smallest, a part of the median
  std::optional<simulator::RepeatedOverlaps> repeated;  ///< if the trace tells
  simulator::Simulation simulated;
  simulator::Comparison comparison;
  Prediction predicted;
  Prediction unaided;  ///< where the model, not the driver, says which hardware queues serve a stream
  QueueAgreement queues;

  double error() const { return error(predicted); }
  double error(const Prediction& of) const { return of.seconds / measured_seconds - 1; }
};

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw CommandError(kBadInput, fmt::format("{}: {}", file, why));
}

/// The hardware queues that the device put the operations in: part of what was run, as the number of queues is.
simulator::QueueNumbers queues_of(const streams::Timeline& measured) {
  simulator::QueueNumbers queues(measured.recording->operations.size());
  for (const streams::Span& span : measured.spans) {
    if (!span.channel) return {};
    queues[span.operation] = *span.channel;
  }
  return queues;
}

/// The operations of each queue of an engine, in the order in which it turns to them, from that of the first issued on.
std::vector<std::vector<std::size_t>> turns(const streams::Recording& recording, const simulator::QueueNumbers& queues,
                                            streams::Engine engine) {
  std::map<unsigned, std::vector<std::size_t>> of_queue;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const streams::Operation& operation = recording.operations[i];
    if (streams::is_work(operation) && engine_of(operation) == engine) of_queue[queues[i]].push_back(i);
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [queue, operations] : of_queue) all.push_back(std::move(operations));
  if (!all.empty()) std::ranges::rotate(all, std::ranges::min_element(all));
  return all;
}

QueueAgreement agreement(const streams::Recording& recording, const simulator::QueueNumbers& given,
                         const simulator::QueueNumbers& modelled) {
  QueueAgreement all;
  if (given.empty()) return all;
  for (const streams::Engine engine : streams::kEngines) {
    auto a = turns(recording, given, engine);
    auto b = turns(recording, modelled, engine);
    if (engine != streams::Engine::compute) {  // kernels do not take turns
      all.copy_queues = std::max(all.copy_queues, a.size());
      all.in_order &= a == b;
    }
    std::ranges::sort(a);
    std::ranges::sort(b);
    all.shared &= a == b;
  }
  return all;
}

/// The device while activity records are collected, as they were for the trace's timeline.
simulator::DeviceProfile collected(simulator::DeviceProfile profile) {
  profile.copy_latency.in += profile.collected.in;
  profile.copy_latency.out += profile.collected.out;
  profile.latency_in_step.in += profile.collected.in;
  profile.latency_in_step.out += profile.collected.out;
  profile.latency_both.in += profile.collected_both.in;
  profile.latency_both.out += profile.collected_both.out;
  return profile;
}

/// The job that was traced, of which there is to be a measurement.
streams::ScheduledJob traced_job(const Json& about) {
  if (about.contains("simulated_on")) {
    throw std::invalid_argument(fmt::format(
        "its otherData.simulated_on is {}: that is no measurement; 'scanlab streams trace --out' writes one",
        about["simulated_on"].dump()));
  }
  const streams::ScheduledJob chosen = job_of(about);
  constexpr int kMost = 1'000'000;  // as of the options: they are counted before anything else can be checked
  if (chosen.job.chunks > kMost || chosen.job.streams > kMost) {
    throw std::invalid_argument(fmt::format("its otherData have {} chunks and {} streams: at most {} are simulated",
                                            chosen.job.chunks, chosen.job.streams, kMost));
  }
  return chosen;
}

/// CUDA_DEVICE_MAX_CONNECTIONS, where the trace says it.
int traced_connections(const Json& about, int otherwise) {
  const std::int64_t connections = about.value("connections", std::int64_t{otherwise});
  if (connections >= 1 && connections <= streams::kMostConnections) return static_cast<int>(connections);
  throw std::invalid_argument(
      fmt::format("its otherData.connections is {}: CUDA takes 1 to {}", connections, streams::kMostConnections));
}

/// Microseconds, one a repetition.
std::vector<double> repetitions(const Json& about, const char* key) {
  const std::vector<double> all = about.at(key);
  if (!all.empty() && std::ranges::all_of(all, [](double each) { return each > 0; })) return all;
  throw std::invalid_argument(
      fmt::format("its otherData.{} is {}: a time above 0 is expected of each repetition", key, about[key].dump()));
}

std::optional<simulator::RepeatedOverlaps> repeated_overlaps(const Json& about, const streams::Recording& recording) {
  if (!about.contains("overlaps")) return std::nullopt;
  simulator::RepeatedOverlaps all{.repetitions = static_cast<int>(repetitions(about, "collected_us").size()),
                                  .times = {}};
  const auto is_work = [&](std::int64_t operation) {
    return operation >= 0 && operation < std::ssize(recording.operations) &&
           streams::is_work(recording.operations[static_cast<std::size_t>(operation)]);
  };
  for (const Json& each : about["overlaps"]) {
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument(fmt::format("its otherData.overlaps have {}{}: trace it anew", each.dump(), why));
    };
    const std::int64_t first = each.at(0);
    const std::int64_t second = each.at(1);
    const std::int64_t times = each.at(2);
    if (first >= second || !is_work(first) || !is_work(second))
      refuse(", which are no two copies or kernels of its job");
    if (times < 1 || times > all.repetitions) refuse(fmt::format(", of {} repetitions", all.repetitions));
    if (!all.times.emplace(simulator::OperationPair{first, second}, static_cast<int>(times)).second) refuse(" twice");
  }
  return all;
}

/// Filled in place: its timelines point at its recording.
void compare(const std::string& file, simulator::DeviceProfile profile, Compared& all) {
  std::ifstream stream(file);
  if (!stream) refuse(file, "cannot be read");
  const Json trace = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (trace.is_discarded() || !trace.is_object() || !trace.contains("otherData")) {
    refuse(file, "is no trace, as 'scanlab streams trace --out' writes them; one that is compressed, gunzip first");
  }
  try {
    all.file = file;
    all.about = trace["otherData"];
    all.chosen = traced_job(all.about);
    profile.hardware_queues = traced_connections(all.about, profile.hardware_queues);
    all.recording = record(*all.chosen.schedule, all.chosen.job);
    all.measured = {.recording = &all.recording, .spans = streams::traced_spans(trace), .issued = {}};
    streams::check_traced(all.measured.spans, all.recording);
    all.repeated = repeated_overlaps(all.about, all.recording);
    const simulator::Costs costs = simulator::costs(all.recording, profile);
    const bool plain = all.about.contains("plain_us");
    all.measured_seconds = all.measured.makespan();
    all.spread.reset();
    if (plain) {
      const std::vector<double> times = repetitions(all.about, "plain_us");
      all.measured_seconds = 1e-6 * median(times);
      all.spread = (std::ranges::max(times) - std::ranges::min(times)) / median(times);
    }
    if (!(all.measured_seconds > 0))
      throw std::invalid_argument("its events take no time: there is nothing to compare");
    const auto predict = [&](const simulator::QueueNumbers& queues) {
      all.simulated = simulator::simulate(all.recording, collected(profile), costs, queues);
      all.comparison = simulator::compare(all.simulated.timeline, all.measured, simulator::kOverlapResolution);
      return Prediction{plain ? simulator::simulate(all.recording, profile, costs, queues).seconds
                              : all.simulated.timeline.makespan(),
                        all.repeated ? all.repeated->with(all.comparison.predicted) : all.comparison.overlaps};
    };
    const simulator::QueueNumbers given = queues_of(all.measured);
    all.queues = agreement(all.recording, given, simulator::modelled_queues(all.recording, profile));
    all.unaided = predict({});
    all.predicted = predict(given);
  } catch (const Json::exception& error) {
    refuse(file, fmt::format("its otherData are not those of a trace: {}", what_is_wrong(error)));
  } catch (const std::invalid_argument& error) {
    refuse(file, error.what());
  } catch (const simulator::ScheduleError& error) {
    refuse(file, error.what());
  }
}

/// Of all operations' errors of one kind, in seconds: the median and the largest, sign aside.
Json spread(const std::vector<simulator::OperationError>& errors, double simulator::OperationError::*kind) {
  std::vector<double> sizes;
  for (const simulator::OperationError& each : errors) sizes.push_back(1e6 * std::abs(each.*kind));
  return {{"median_us", median(sizes)}, {"worst_us", sizes.empty() ? 0 : std::ranges::max(sizes)}};
}

void add_overlaps(Json& json, const std::string& which, const simulator::Agreement& pairs) {
  json[which + "overlap_in_either"] = pairs.either;
  json[which + "overlap_in_both"] = pairs.both;
}

/// Behind the measured makespan: those without collection, of which it is the median, else the one of the timeline.
std::size_t repetitions(const Json& about) { return about.contains("plain_us") ? about["plain_us"].size() : 1; }

Json to_json(const Compared& one) {
  Json json{{"file", one.file}};
  json.update(facts_of(one.chosen));
  json["connections"] = one.about.value("connections", 0);
  json["repetitions"] = repetitions(one.about);
  json["measured_us"] = 1e6 * one.measured_seconds;
  if (one.spread) json["measured_spread"] = *one.spread;
  json["predicted_us"] = 1e6 * one.predicted.seconds;
  json["error"] = one.error();
  const auto& errors = one.comparison.operations;
  json["start"] = spread(errors, &simulator::OperationError::start);
  json["end"] = spread(errors, &simulator::OperationError::end);
  json["duration"] = spread(errors, &simulator::OperationError::duration);
  add_overlaps(json, "", one.predicted.overlaps);
  json["unaided_us"] = 1e6 * one.unaided.seconds;
  add_overlaps(json, "unaided_", one.unaided.overlaps);
  json["copy_queues"] = one.queues.copy_queues;
  json["queues_shared_as_modelled"] = one.queues.shared;
  json["queues_ordered_as_modelled"] = one.queues.in_order;
  const simulator::RepeatedOverlaps repeated = one.repeated.value_or(simulator::RepeatedOverlaps{});
  add_overlaps(json, "repeated_", repeated.with_themselves());
  add_overlaps(json, "best_", repeated.at_best());
  add_overlaps(json, "steady_",
               one.repeated ? repeated.where_steady(one.comparison.predicted) : simulator::Agreement{});
  return json;
}

/// How far the predictions of all traces are off.
struct Off {
  std::vector<double> errors;  ///< of makespans, sign aside
  simulator::Agreement overlaps;

  void add(double error, const simulator::Agreement& pairs) {
    errors.push_back(std::abs(error));
    overlaps += pairs;
  }
  double worst() const { return std::ranges::max(errors); }
};

constexpr double kRepeatable = 0.05;  ///< a spread up to which a measurement is taken to be of the job alone

struct Summary {
  Off predicted;
  Off repeatable;  ///< of these, where the repetitions lie within kRepeatable
  Off unaided;
  simulator::Agreement repeated;  ///< between repetitions of one measurement, of the traces that tell of them
  simulator::Agreement best;      ///< of any prediction
  simulator::Agreement steady;    ///< of predictions, where all repetitions agree
  int shared = 0;                 ///< traces whose queues the driver shared out as the model
  int turned = 0;                 ///< traces whose copy queues may come in several orders
  int in_order = 0;               ///< of these, those in the model's

  void add(const Compared& one) {
    predicted.add(one.error(one.predicted), one.predicted.overlaps);
    if (one.spread && *one.spread <= kRepeatable) repeatable.add(one.error(one.predicted), one.predicted.overlaps);
    unaided.add(one.error(one.unaided), one.unaided.overlaps);
    shared += one.queues.shared ? 1 : 0;
    if (one.queues.copy_queues > 2) {
      ++turned;
      in_order += one.queues.in_order ? 1 : 0;
    }
    if (!one.repeated) return;
    repeated += one.repeated->with_themselves();
    best += one.repeated->at_best();
    steady += one.repeated->where_steady(one.comparison.predicted);
  }
};

void print(const Compared& one, std::ostream& out) {
  fmt::print(out, "{:>9.3f} {:>9.3f} {:>+6.1f}%  {:>4.0f}%  connections {}, {}\n", 1e3 * one.measured_seconds,
             1e3 * one.predicted.seconds, 100 * one.error(), 100 * one.predicted.overlaps.share(),
             one.about.value("connections", 0), describe(one.chosen));
}

void print_operations(const Compared& one, std::ostream& out) {
  fmt::print(out, "\nmicroseconds, predicted less measured\n{:>10}{:>10}{:>10}\n", "start", "end", "duration");
  for (const simulator::OperationError& error : one.comparison.operations) {
    fmt::print(out, "{:>10.1f}{:>10.1f}{:>10.1f}  {}\n", 1e6 * error.start, 1e6 * error.end, 1e6 * error.duration,
               describe(one.recording.operations[error.operation]));
  }
}

/// Both in one: the lanes of the measured timeline, and below them those of the predicted.
Json both_timelines(const Compared& one, const measure::Facts& facts) {
  constexpr int kProcesses = 10;
  Json measured = trace_events(one.measured, facts);
  const Json predicted = trace_events(one.simulated.timeline, facts);
  const auto rename = [](Json& event, const char* whose) {
    if (event["name"] == "process_name")
      event["args"]["name"] = fmt::format("{}, {}", event["args"]["name"].get<std::string>(), whose);
  };
  for (Json& event : measured["traceEvents"]) rename(event, "measured");
  std::map<std::size_t, simulator::OperationError> errors;
  for (const simulator::OperationError& each : one.comparison.operations) errors[each.operation] = each;
  for (Json event : predicted["traceEvents"]) {
    if (event["ph"] == "X" && event["args"].contains("operation")) {
      const auto found = errors.find(event["args"]["operation"].get<std::size_t>());
      if (found != errors.end()) {
        event["args"]["start_error_us"] = 1e6 * found->second.start;
        event["args"]["end_error_us"] = 1e6 * found->second.end;
        event["args"]["duration_error_us"] = 1e6 * found->second.duration;
      }
    }
    event["pid"] = event["pid"].get<int>() + kProcesses;
    if (event["name"] == "process_sort_index") event["args"]["sort_index"] = event["pid"];
    rename(event, "predicted");
    measured["traceEvents"].push_back(std::move(event));
  }
  return measured;
}

}  // namespace

void add_compare_options(po::options_description& options) {
  options.add_options()("compare",
                        po::value<std::vector<std::string>>()->multitoken()->composing()->value_name("TRACE …"),
                        "traces of 'streams trace', each held against the simulation of its job");
}

namespace {

int compare_all(const po::variables_map& values, const simulator::DeviceProfile& profile, Context& context) {
  const auto& files = values["compare"].as<std::vector<std::string>>();
  std::optional<WholeFile> file;
  if (values.count("out") != 0) file.emplace(values["out"].as<std::string>(), values.count("force") != 0);
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  facts["simulated_on"] = profile.name;

  fmt::print(context.out, "simulated on {}: {}\n{:>9} {:>9} {:>7}  {:>5}\n{:>9} {:>9} {:>7}  {:>5}\n", profile.name,
             profile.title, "measured", "predicted", "error", "pairs", "ms", "ms", "", "kept");
  Summary summary;
  Json traces = Json::array();
  Compared one;
  for (const std::string& each : files) {
    compare(each, profile, one);
    print(one, context.out);
    summary.add(one);
    traces.push_back(to_json(one));
    measure::add_measured(facts, one.about);
  }
  if (files.size() == 1) {
    print_operations(one, context.out);
    facts.update(traces.front());
    if (file) file->write(both_timelines(one, facts).dump() + "\n");
    return kOk;
  }
  const auto print_line = [&](const std::string& of, const Off& off) {
    fmt::print(context.out,
               "{}: error of the makespan {:.1f}% in the median, {:.1f}% at worst; of {} pairs of operations that "
               "overlap in either, {:.1f}% in both\n",
               of, 100 * median(off.errors), 100 * off.worst(), off.overlaps.either, 100 * off.overlaps.share());
  };
  print_line(fmt::format("{} traces", files.size()), summary.predicted);
  if (!summary.repeatable.errors.empty()) {
    print_line(
        fmt::format("{} whose repetitions lie within {:.0f}%", summary.repeatable.errors.size(), 100 * kRepeatable),
        summary.repeatable);
  }
  print_line("without their hardware queues", summary.unaided);
  fmt::print(context.out,
             "hardware queues: shared as the model would in {} traces; {} have more than two for copies one way, {} of "
             "these in the order of the model's\n",
             summary.shared, summary.turned, summary.in_order);
  if (summary.repeated.either > 0) {
    fmt::print(context.out,
               "pairs of the device's own repetitions: {:.1f}% between two of them, {:.1f}% of any prediction at most; "
               "where all agree, this one has {:.1f}% of {}\n",
               100 * summary.repeated.share(), 100 * summary.best.share(), 100 * summary.steady.share(),
               summary.steady.either);
  }
  if (file) {
    Json document{{"schema", kComparisonSchema},
                  {"context", facts},
                  {"median_error", median(summary.predicted.errors)},
                  {"worst_error", summary.predicted.worst()},
                  {"unaided_median_error", median(summary.unaided.errors)},
                  {"unaided_worst_error", summary.unaided.worst()}};
    add_overlaps(document, "", summary.predicted.overlaps);
    add_overlaps(document, "unaided_", summary.unaided.overlaps);
    add_overlaps(document, "repeated_", summary.repeated);
    add_overlaps(document, "best_", summary.best);
    add_overlaps(document, "steady_", summary.steady);
    document["traces"] = std::move(traces);
    file->write(document.dump(1) + "\n");
  }
  return kOk;
}

}  // namespace

int simulate_compare(const po::variables_map& values, const simulator::DeviceProfile& profile, Context& context) {
  std::ostringstream said;  // behind the file: whoever reads the first lines alone still has it whole
  Context later{said, context.err, context.argv};
  const int status = compare_all(values, profile, later);
  context.out << said.str();
  return status;
}

}  // namespace scanlab::cli
