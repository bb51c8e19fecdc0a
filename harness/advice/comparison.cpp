#include "harness/advice/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/host/document.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/simulator/bounds.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;
using streams::Agreement;
using streams::OperationPair;
using streams::RepeatedOverlaps;
using streams::Timeline;

namespace {

/// Both of one recording, with the same zero: when the host began to issue.
Comparison compare(const Timeline& predicted, const Timeline& measured) {
  Comparison result;
  for (std::size_t i = 0; i < predicted.spans.size(); ++i) {
    const streams::Interval& a = predicted.spans[i].when;
    const streams::Interval& b = measured.spans[i].when;
    result.operations.push_back({.operation = predicted.spans[i].operation,
                                 .start = a.start - b.start,
                                 .end = a.end - b.end,
                                 .duration = a.seconds() - b.seconds()});
  }
  result.predicted = streams::overlapping(predicted, streams::kOverlapResolution);
  const std::set<OperationPair> in_measurement = streams::overlapping(measured, streams::kOverlapResolution);
  const auto both = static_cast<std::size_t>(std::ranges::count_if(
      result.predicted, [&](const OperationPair& pair) { return in_measurement.count(pair) != 0; }));
  result.overlaps = {.either = result.predicted.size() + in_measurement.size() - both, .both = both};
  return result;
}

/// Returns the hardware work queues to which the device assigned the operations; empty if the trace lacks one.
QueueNumbers queues_of(const streams::Timeline& measured) {
  QueueNumbers queues(measured.recording->operations.size());
  for (const streams::Span& span : measured.spans) {
    if (!span.channel) return {};
    queues[span.operation] = *span.channel;
  }
  return queues;
}

/// Returns the operations of each queue of an engine, starting with the queue of the first issued operation.
std::vector<std::vector<std::size_t>> turns(const streams::Recording& recording, const QueueNumbers& queues,
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

QueueAgreement agreement(const streams::Recording& recording, const QueueNumbers& given, const QueueNumbers& modelled) {
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

/// Returns the profile with tracing overhead, as in the trace's timeline.
DeviceProfile with_tracing(DeviceProfile profile) {
  profile.copy_latency.in += profile.traced.in;
  profile.copy_latency.out += profile.traced.out;
  profile.latency_in_step.in += profile.traced.in;
  profile.latency_in_step.out += profile.traced.out;
  profile.latency_both.in += profile.traced_both.in;
  profile.latency_both.out += profile.traced_both.out;
  return profile;
}

/// Reads the job that was traced and measured.
streams::ScheduledJob read_traced_job(const Value& about) {
  if (about.has("simulated_on")) {
    about.at("simulated_on").fail("this is no measurement; 'scanlab streams trace --out' writes one");
  }
  if (about.has("verified") && !about.at("verified").flag()) {
    about.at("verified").fail("times of wrong results are no measurement");
  }
  const streams::ScheduledJob chosen = streams::read_job(about);
  if (const std::string reason = refusal(chosen.job); !reason.empty()) about.fail(reason);
  return chosen;
}

/// Reads microseconds, one a repetition.
std::vector<double> read_repetitions(const Value& about, const char* key) {
  const auto all = about.at(key).get<std::vector<double>>({.high = 1e12, .above = 0});
  if (all.empty()) about.at(key).expect("a time of each repetition");
  return all;
}

std::optional<RepeatedOverlaps> read_overlaps(const Value& about) {
  if (!about.has("overlaps")) return std::nullopt;
  RepeatedOverlaps all{.repetitions = static_cast<int>(read_repetitions(about, "traced_us").size()), .times = {}};
  for (const Value& overlap : about.at("overlaps").items()) {
    const auto numbers = overlap.get<std::vector<std::size_t>>();
    if (numbers.size() != 3) overlap.expect("two operations, and how often they overlap");
    all.times.emplace(OperationPair{numbers[0], numbers[1]}, static_cast<int>(numbers[2]));
  }
  return all;
}

/// Filled in place: its timelines point at its recording.
void compare_job(const Value& trace, DeviceProfile profile, ComparedTrace& all) {
  const Value about = trace.at("otherData");
  all.about = about.json();
  all.chosen = read_traced_job(about);
  FieldReader(about).optional("connections", all.connections, {.low = 1, .high = 32});
  if (all.connections > 0) profile.hardware_queues = all.connections;
  if (const std::string reason = unknown_kernel_time(all.chosen.job, profile); !reason.empty()) {
    throw std::invalid_argument(reason + ": take a profile of 'scanlab calibrate' with this work");
  }
  all.recording = record(*all.chosen.schedule, all.chosen.job);
  all.measured = {.recording = &all.recording, .spans = streams::read_spans(trace), .issued = {}};
  streams::check_spans(all.measured.spans, all.recording, trace);
  all.repeated = read_overlaps(about);
  const Costs costs = simulator::costs(all.recording, profile);
  all.estimated_seconds = bounds(all.recording, profile, costs).pipeline;
  const bool plain = about.has("plain_us");
  all.measured_seconds = all.measured.makespan();
  if (plain) {
    const std::vector<double> times = read_repetitions(about, "plain_us");
    all.repetitions = times.size();
    all.measured_seconds = 1e-6 * median(times);
    all.spread = (std::ranges::max(times) - std::ranges::min(times)) / median(times);
  }
  if (!(all.measured_seconds > 0)) throw std::invalid_argument("its events take no time: there is nothing to compare");
  const auto predict = [&](const QueueNumbers& queues) {
    all.simulated = simulate(all.recording, with_tracing(profile), costs, queues);
    all.comparison = compare(all.simulated.timeline, all.measured);
    return Prediction{
        plain ? simulate(all.recording, profile, costs, queues).seconds : all.simulated.timeline.makespan(),
        all.repeated ? all.repeated->with(all.comparison.predicted) : all.comparison.overlaps};
  };
  const QueueNumbers given = queues_of(all.measured);
  all.queues = agreement(all.recording, given, modelled_queues(all.recording, profile));
  all.unaided = predict({});
  all.predicted = predict(given);
}

/// Returns the median and the largest absolute error of one kind over all operations, in seconds.
Json spread(const std::vector<OperationError>& errors, double OperationError::*kind) {
  std::vector<double> sizes;
  for (const OperationError& each : errors) sizes.push_back(1e6 * std::abs(each.*kind));
  return {{"median_us", median(sizes)}, {"worst_us", sizes.empty() ? 0 : std::ranges::max(sizes)}};
}

void add_overlaps(Json& json, const std::string& which, const Agreement& pairs) {
  json[which + "overlap_in_either"] = pairs.either;
  json[which + "overlap_in_both"] = pairs.both;
}

}  // namespace

std::unique_ptr<ComparedTrace> compare_trace(const std::string& file, DeviceProfile profile) {
  const Document trace = read_json(file);
  Value(trace).check_schema(streams::kTraceSchema, "trace it anew with 'scanlab streams trace --out'");
  auto all = std::make_unique<ComparedTrace>();
  all->file = file;
  try {
    compare_job(trace, std::move(profile), *all);
  } catch (const std::invalid_argument& error) {
    throw DocumentError(fmt::format("{}: {}", file, error.what()));
  }
  return all;
}

void PredictionErrors::add(double error, const Agreement& pairs) {
  makespans.push_back(std::abs(error));
  overlaps += pairs;
}

double PredictionErrors::worst() const { return std::ranges::max(makespans); }

void ComparisonSummary::add(const ComparedTrace& trace) {
  predicted.add(trace.error(trace.predicted), trace.predicted.overlaps);
  if (trace.spread && *trace.spread <= kRepeatable)
    repeatable.add(trace.error(trace.predicted), trace.predicted.overlaps);
  unaided.add(trace.error(trace.unaided), trace.unaided.overlaps);
  estimate_errors.push_back(std::abs(trace.estimate_error()));
  shared += trace.queues.shared ? 1 : 0;
  if (trace.queues.copy_queues > 2) {
    ++turned;
    in_order += trace.queues.in_order ? 1 : 0;
  }
  if (!trace.repeated) return;
  repeated += trace.repeated->with_themselves();
  best += trace.repeated->at_best();
  steady += trace.repeated->where_steady(trace.comparison.predicted);
}

Json to_json(const ComparedTrace& trace) {
  Json json{{"file", trace.file}};
  json.update(facts_of(trace.chosen));
  json["connections"] = trace.connections;
  json["repetitions"] = trace.repetitions;
  json["measured_us"] = 1e6 * trace.measured_seconds;
  if (trace.spread) json["measured_spread"] = *trace.spread;
  json["predicted_us"] = 1e6 * trace.predicted.seconds;
  json["error"] = trace.error();
  const auto& errors = trace.comparison.operations;
  json["start"] = spread(errors, &OperationError::start);
  json["end"] = spread(errors, &OperationError::end);
  json["duration"] = spread(errors, &OperationError::duration);
  add_overlaps(json, "", trace.predicted.overlaps);
  json["estimate_us"] = 1e6 * trace.estimated_seconds;
  json["unaided_us"] = 1e6 * trace.unaided.seconds;
  add_overlaps(json, "unaided_", trace.unaided.overlaps);
  json["copy_queues"] = trace.queues.copy_queues;
  json["queues_shared_as_modelled"] = trace.queues.shared;
  json["queues_ordered_as_modelled"] = trace.queues.in_order;
  const RepeatedOverlaps repeated = trace.repeated.value_or(RepeatedOverlaps{});
  add_overlaps(json, "repeated_", repeated.with_themselves());
  add_overlaps(json, "best_", repeated.at_best());
  add_overlaps(json, "steady_", trace.repeated ? repeated.where_steady(trace.comparison.predicted) : Agreement{});
  return json;
}

Json to_json(const ComparisonSummary& summary) {
  Json json{{"median_error", median(summary.predicted.makespans)},
            {"worst_error", summary.predicted.worst()},
            {"unaided_median_error", median(summary.unaided.makespans)},
            {"unaided_worst_error", summary.unaided.worst()}};
  add_overlaps(json, "", summary.predicted.overlaps);
  add_overlaps(json, "unaided_", summary.unaided.overlaps);
  add_overlaps(json, "repeated_", summary.repeated);
  add_overlaps(json, "best_", summary.best);
  add_overlaps(json, "steady_", summary.steady);
  return json;
}

Json both_timelines(const ComparedTrace& trace, const Json& about) {
  constexpr int kProcesses = 10;
  Json measured = streams::trace_events(trace.measured, about);
  const Json predicted = streams::trace_events(trace.simulated.timeline, about);
  const auto rename = [](Json& event, const char* whose) {
    if (event["name"] != "process_name") return;
    event["args"]["name"] = fmt::format("{}, {}", event["args"]["name"].get<std::string>(), whose);
    event["args"]["of"] = whose;
  };
  for (Json& event : measured["traceEvents"]) rename(event, "measured");
  std::map<std::size_t, OperationError> errors;
  for (const OperationError& each : trace.comparison.operations) errors[each.operation] = each;
  for (Json event : predicted["traceEvents"]) {
    if (event["ph"] == "X" && event["args"].contains("operation")) {
      const auto error = errors.find(event["args"]["operation"].get<std::size_t>());
      if (error != errors.end()) {
        event["args"]["start_error_us"] = 1e6 * error->second.start;
        event["args"]["end_error_us"] = 1e6 * error->second.end;
        event["args"]["duration_error_us"] = 1e6 * error->second.duration;
      }
    }
    event["pid"] = event["pid"].get<int>() + kProcesses;
    if (event["name"] == "process_sort_index") event["args"]["sort_index"] = event["pid"];
    rename(event, "predicted");
    measured["traceEvents"].push_back(std::move(event));
  }
  return measured;
}

void print(const ComparedTrace& trace, std::ostream& out) {
  fmt::print(out, "{:>9.3f} {:>9.3f} {:>+6.1f}%  {:>4.0f}%  hardware work queues {}, {}\n",
             1e3 * trace.measured_seconds, 1e3 * trace.predicted.seconds, 100 * trace.error(),
             100 * trace.predicted.overlaps.share(), trace.connections, describe(trace.chosen));
}

void print_operations(const ComparedTrace& trace, std::ostream& out) {
  fmt::print(out, "\nmicroseconds, predicted less measured\n{:>10}{:>10}{:>10}\n", "start", "end", "duration");
  for (const OperationError& error : trace.comparison.operations) {
    fmt::print(out, "{:>10.1f}{:>10.1f}{:>10.1f}  {}\n", 1e6 * error.start, 1e6 * error.end, 1e6 * error.duration,
               describe(trace.recording.operations[error.operation]));
  }
}

void print(const ComparisonSummary& summary, std::ostream& out) {
  const auto print_line = [&](const std::string& subject, const PredictionErrors& errors) {
    fmt::print(out,
               "{}: error of the makespan {:.1f}% in the median, {:.1f}% at worst; of {} pairs of operations that "
               "overlap in either, {:.1f}% in both\n",
               subject, 100 * median(errors.makespans), 100 * errors.worst(), errors.overlaps.either,
               100 * errors.overlaps.share());
  };
  print_line(fmt::format("{} traces", summary.predicted.makespans.size()), summary.predicted);
  if (const std::size_t traces = summary.repeatable.makespans.size(); traces > 0) {
    print_line(fmt::format("{} whose repetitions lie within {:.0f}%", traces, 100 * kRepeatable), summary.repeatable);
  }
  print_line("without their hardware work queues", summary.unaided);
  fmt::print(out, "the pipeline estimate alone: error of the makespan {:.1f}% in the median, {:.1f}% at worst\n",
             100 * median(summary.estimate_errors), 100 * std::ranges::max(summary.estimate_errors));
  fmt::print(
      out,
      "hardware work queues: shared as the model would in {} traces; {} have more than two for copies one way, {} of "
      "these in the order of the model's\n",
      summary.shared, summary.turned, summary.in_order);
  if (summary.repeated.either == 0) return;
  fmt::print(out,
             "pairs of the device's own repetitions: {:.1f}% between two of them, {:.1f}% of any prediction at most; "
             "where all agree, this one has {:.1f}% of {}\n",
             100 * summary.repeated.share(), 100 * summary.best.share(), 100 * summary.steady.share(),
             summary.steady.either);
}

}  // namespace scanlab::simulator
