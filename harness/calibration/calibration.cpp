#include "harness/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/host/document.hpp"
#include "harness/schedule/ordering.hpp"

namespace scanlab::simulator {

template <class Fields>
void list_fields(Fields& fields, DeviceLimits& limits) {
  fields("name", limits.name);
  fields("compute_capability", limits.compute_capability);
  fields("multiprocessors", limits.multiprocessors);
  fields("resident_blocks", limits.resident_blocks);
  fields("resident_threads", limits.resident_threads);
}

namespace {

using Json = nlohmann::ordered_json;
using streams::Interval;
using streams::TimedReplay;

// ------------------------------------------------------------------------------------------- the file of every time

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

Json to_json(const std::vector<Interval>& intervals) {
  Json all = Json::array();
  for (const Interval& each : intervals) {
    all.push_back(nanoseconds(each.start));
    all.push_back(nanoseconds(each.end));
  }
  return all;
}

std::vector<Interval> read_intervals(const Value& value) {
  const auto times = value.get<std::vector<double>>({.unit = 1e-9});
  std::vector<Interval> all;
  for (std::size_t i = 0; i + 1 < times.size(); i += 2) all.push_back({times[i], times[i + 1]});
  return all;
}

Json to_json(const std::vector<TimedReplay>& replays) {
  Json all = Json::array();
  for (const TimedReplay& replay : replays) {
    Json one{{"nanoseconds", nanoseconds(replay.seconds)}, {"issued", to_json(replay.timeline.issued)}};
    if (!replay.timeline.spans.empty()) {
      std::vector<Interval> when;
      one["channels"] = Json::array();
      for (const streams::Span& span : replay.timeline.spans) {
        when.push_back(span.when);
        one["channels"].push_back(span.channel.value_or(0));
      }
      one["ran"] = to_json(when);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<TimedReplay> read_replays(const Value& experiment, const char* key) {
  const auto blocks = experiment.at("blocks").get<std::vector<std::int64_t>>();
  std::vector<TimedReplay> all;
  for (const Value& repetition : experiment.at(key).items()) {
    TimedReplay replay{.seconds = repetition.at("nanoseconds").get<double>({.unit = 1e-9}), .timeline = {}};
    replay.timeline.issued = read_intervals(repetition.at("issued"));
    if (repetition.has("ran")) {
      const std::vector<Interval> ran = read_intervals(repetition.at("ran"));
      const auto channels = repetition.at("channels").get<std::vector<unsigned>>();
      if (channels.size() < ran.size() || blocks.size() < ran.size())
        repetition.expect("channels and blocks of each span");
      for (std::size_t i = 0; i < ran.size(); ++i) {
        replay.timeline.spans.push_back({.operation = 0, .when = ran[i], .channel = channels[i], .blocks = blocks[i]});
      }
    }
    all.push_back(std::move(replay));
  }
  if (all.empty()) experiment.fail(fmt::format("{} has no repetitions: calibrate anew", experiment.at("name").text()));
  return all;
}

Json facts_of(const Microbenchmark& experiment) {
  const streams::Job& job = experiment.recording.job;
  Json facts{{"name", experiment.name},
             {"kind", name(experiment.kind)},
             {"workload", job.workload->about.id},
             {"work", job.work},
             {"memory", name(job.memory)}};
  if (experiment.way) facts["way"] = name(*experiment.way);
  if (experiment.bytes > 0) facts["bytes"] = experiment.bytes;
  if (experiment.streams > 0) facts["streams"] = experiment.streams;
  if (experiment.kernels > 0) facts["kernels"] = experiment.kernels;
  if (experiment.items > 0) facts["items"] = experiment.items;
  return facts;
}

/// None of them measured.
std::vector<MeasuredExperiment> experiments_for(const std::vector<int>& works) {
  std::vector<MeasuredExperiment> all;
  for (Microbenchmark& experiment : calibration_experiments(works)) {
    all.push_back({.experiment = std::move(experiment), .replays = {}, .failure = {}});
  }
  return all;
}

/// Gives each span its operation: those that are work, in the order of issue. Throws DocumentError where there are
/// others, and for times that none can have.
void assign_operations(MeasuredExperiment& measured, const Value& experiment) {
  const auto& operations = measured.experiment.recording.operations;
  std::vector<std::size_t> work;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (streams::is_work(operations[i])) work.push_back(i);
  }
  const auto refuse = [&](const char* reason) {
    experiment.fail(fmt::format("{} {}: calibrate anew", measured.experiment.name, reason));
  };
  for (auto* replays : {&measured.replays.plain, &measured.replays.traced}) {
    for (TimedReplay& replay : *replays) {
      streams::Timeline& timeline = replay.timeline;
      timeline.recording = &measured.experiment.recording;
      const auto backwards = [](const Interval& when) { return !(when.end >= when.start); };
      const auto empty = [](const streams::Span& span) { return !(span.when.end > span.when.start); };
      if (!(replay.seconds > 0) || std::ranges::any_of(timeline.issued, backwards) ||
          std::ranges::any_of(timeline.spans, empty)) {
        refuse("has times that none can have");
      }
      if (timeline.issued.size() != operations.size()) refuse("was measured by other code than this");
      if (timeline.spans.empty() && replays == &measured.replays.plain) continue;
      if (timeline.spans.size() != work.size()) refuse("was measured by other code than this");
      for (std::size_t i = 0; i < work.size(); ++i) timeline.spans[i].operation = work[i];
    }
  }
}

}  // namespace

Calibration calibrate(const DeviceLimits& limits, const std::vector<int>& works, Json context,
                      const std::function<streams::MeasuredReplays(const Microbenchmark&)>& measure) {
  Calibration calibration{
      .context = std::move(context), .limits = limits, .works = works, .experiments = experiments_for(works)};
  for (MeasuredExperiment& each : calibration.experiments) {
    try {
      each.replays = measure(each.experiment);
    } catch (const CommandError&) {
      throw;
    } catch (const std::exception& error) {  // the others may still tell enough
      each.failure = error.what();
    }
  }
  return calibration;
}

Json to_json(const Calibration& calibration) {
  Json experiments = Json::array();
  for (const MeasuredExperiment& measured : calibration.experiments) {
    Json one = facts_of(measured.experiment);
    if (!measured.failure.empty()) {
      one["failure"] = measured.failure;
    } else {
      one["blocks"] = Json::array();
      for (const streams::Span& span : measured.replays.traced.front().timeline.spans) {
        one["blocks"].push_back(span.blocks);
      }
      one["plain"] = to_json(measured.replays.plain);
      one["traced"] = to_json(measured.replays.traced);
    }
    experiments.push_back(std::move(one));
  }
  return {{"schema", kCalibrationSchema},
          {"context", calibration.context},
          {"device", to_document(calibration.limits)},
          {"works", calibration.works},
          {"experiments", std::move(experiments)}};
}

Calibration parse_calibration(const Value& document) {
  document.check_schema(kCalibrationSchema, "calibrate anew with --raw");
  document.at("context").keys();  // an object
  Calibration calibration{.context = document.at("context").json()};
  FieldReader fields(document);
  fields("device", calibration.limits);
  fields("works", calibration.works, {.low = 1, .high = 1'000'000});
  calibration.experiments = experiments_for(calibration.works);
  std::map<std::string, Value> by_name;
  for (const Value& experiment : document.at("experiments").items()) {
    by_name.emplace(experiment.at("name").text(), experiment);
  }
  for (MeasuredExperiment& measured : calibration.experiments) {
    const auto place = by_name.find(measured.experiment.name);
    if (place == by_name.end()) {
      measured.failure = "not measured";
      continue;
    }
    const Value& experiment = place->second;
    FieldReader(experiment).optional("failure", measured.failure);
    if (!measured.failure.empty()) continue;
    measured.replays = {.plain = read_replays(experiment, "plain"), .traced = read_replays(experiment, "traced")};
    assign_operations(measured, experiment);
  }
  return calibration;
}

}  // namespace scanlab::simulator
