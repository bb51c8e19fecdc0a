#include "harness/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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
    Json entry{{"nanoseconds", nanoseconds(replay.seconds)}, {"issued", to_json(replay.timeline.issued)}};
    if (!replay.timeline.spans.empty()) {
      std::vector<Interval> when;
      entry["channels"] = Json::array();
      for (const streams::Span& span : replay.timeline.spans) {
        when.push_back(span.when);
        entry["channels"].push_back(span.channel.value_or(0));
      }
      entry["ran"] = to_json(when);
    }
    all.push_back(std::move(entry));
  }
  return all;
}

/// Reads the replays of an experiment, whose work is in the order of issue. Throws DocumentError where operations are
/// others, and for times that none can have.
std::vector<TimedReplay> read_replays(const Value& experiment, const std::string& key,
                                      const streams::Recording& recording) {
  const auto refuse = [&](const char* reason) {
    experiment.fail(fmt::format("{} {}: calibrate anew", experiment.at("name").text(), reason));
  };
  const auto blocks = experiment.at("blocks").get<std::vector<std::int64_t>>();
  std::vector<std::size_t> work;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    if (is_work(recording.operations[i])) work.push_back(i);
  }
  std::vector<TimedReplay> all;
  for (const Value& repetition : experiment.at(key).items()) {
    TimedReplay replay{.seconds = repetition.at("nanoseconds").get<double>({.unit = 1e-9}),
                       .timeline = {.recording = &recording, .issued = read_intervals(repetition.at("issued"))}};
    const auto backwards = [](const Interval& when) { return !(when.end >= when.start); };
    bool possible = replay.seconds > 0 && std::ranges::none_of(replay.timeline.issued, backwards);
    bool same = replay.timeline.issued.size() == recording.operations.size();
    if (key == "traced" || repetition.has("ran")) {
      const std::vector<Interval> ran = read_intervals(repetition.at("ran"));
      const auto channels = repetition.at("channels").get<std::vector<unsigned>>();
      same = same && ran.size() == work.size() && channels.size() == work.size() && blocks.size() == work.size();
      for (std::size_t i = 0; same && i < work.size(); ++i) {
        possible = possible && ran[i].end > ran[i].start;
        replay.timeline.spans.push_back(
            {.operation = work[i], .when = ran[i], .channel = channels[i], .blocks = blocks[i]});
      }
    }
    if (!possible) refuse("has times that none can have");
    if (!same) refuse("was measured by other code than this");
    all.push_back(std::move(replay));
  }
  if (all.empty()) refuse("has no repetitions");
  return all;
}

/// None of them measured.
std::vector<MeasuredExperiment> experiments_for(const std::vector<int>& works) {
  std::vector<MeasuredExperiment> all;
  for (Microbenchmark& experiment : calibration_experiments(works)) {
    all.push_back({.experiment = std::move(experiment), .replays = {}, .failure = {}});
  }
  return all;
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
    const streams::Job& job = measured.experiment.recording.job;
    Json entry{{"name", measured.experiment.name},
               {"workload", job.workload->about.id},
               {"work", job.work},
               {"memory", name(job.memory)}};
    entry.update(measured.experiment.facts);
    if (!measured.failure.empty()) {
      entry["failure"] = measured.failure;
    } else {
      entry["blocks"] = Json::array();
      for (const streams::Span& span : measured.replays.traced.front().timeline.spans) {
        entry["blocks"].push_back(span.blocks);
      }
      entry["plain"] = to_json(measured.replays.plain);
      entry["traced"] = to_json(measured.replays.traced);
    }
    experiments.push_back(std::move(entry));
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
    const streams::Recording& recording = measured.experiment.recording;
    measured.replays = {.plain = read_replays(experiment, "plain", recording),
                        .traced = read_replays(experiment, "traced", recording)};
  }
  return calibration;
}

}  // namespace scanlab::simulator
