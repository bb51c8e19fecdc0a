#include "harness/simulator/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "harness/host/json_error.hpp"
#include "harness/host/status.hpp"
#include "harness/host/text_file.hpp"
#include "harness/schedule/ordering.hpp"

namespace scanlab::simulator {

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

std::vector<Interval> intervals_of(const Json& json) {
  std::vector<Interval> all;
  for (std::size_t i = 0; i + 1 < json.size(); i += 2) {
    all.push_back({1e-9 * json[i].get<double>(), 1e-9 * json[i + 1].get<double>()});
  }
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

std::vector<TimedReplay> replays_of(const Json& json, const Json& blocks) {
  std::vector<TimedReplay> all;
  for (const Json& one : json) {
    TimedReplay replay{.seconds = 1e-9 * one.at("nanoseconds").get<double>(), .timeline = {}};
    replay.timeline.issued = intervals_of(one.at("issued"));
    if (one.contains("ran")) {
      const std::vector<Interval> ran = intervals_of(one.at("ran"));
      for (std::size_t i = 0; i < ran.size(); ++i) {
        replay.timeline.spans.push_back({.operation = 0,
                                         .when = ran[i],
                                         .channel = one.at("channels").at(i).get<unsigned>(),
                                         .blocks = blocks.at(i).get<std::int64_t>()});
      }
    }
    all.push_back(std::move(replay));
  }
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

/// Whose operation each span is: those that are work, in the order of issue. Throws CalibrationError, also for times
/// that are none.
void fit(MeasuredExperiment& measured) {
  const auto& operations = measured.experiment.recording.operations;
  std::vector<std::size_t> work;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (streams::is_work(operations[i])) work.push_back(i);
  }
  const auto refuse = [&] {
    throw CalibrationError(
        fmt::format("{} was measured by other code than this: calibrate anew", measured.experiment.name));
  };
  for (auto* replays : {&measured.replays.plain, &measured.replays.collected}) {
    for (TimedReplay& replay : *replays) {
      streams::Timeline& timeline = replay.timeline;
      timeline.recording = &measured.experiment.recording;
      const auto backwards = [](const Interval& when) { return !(when.end >= when.start); };
      const auto empty = [](const streams::Span& span) { return !(span.when.end > span.when.start); };
      if (!(replay.seconds > 0) || std::ranges::any_of(timeline.issued, backwards) ||
          std::ranges::any_of(timeline.spans, empty)) {
        throw CalibrationError(
            fmt::format("{} has times that none can have: calibrate anew", measured.experiment.name));
      }
      if (timeline.issued.size() != operations.size()) refuse();
      if (timeline.spans.empty() && replays == &measured.replays.plain) continue;
      if (timeline.spans.size() != work.size()) refuse();
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
      for (const streams::Span& span : measured.replays.collected.front().timeline.spans) {
        one["blocks"].push_back(span.blocks);
      }
      one["plain"] = to_json(measured.replays.plain);
      one["collected"] = to_json(measured.replays.collected);
    }
    experiments.push_back(std::move(one));
  }
  const DeviceLimits& limits = calibration.limits;
  return {{"schema", kCalibrationSchema},
          {"context", calibration.context},
          {"device",
           {{"name", limits.name},
            {"compute_capability", limits.compute_capability},
            {"multiprocessors", limits.multiprocessors},
            {"resident_blocks", limits.resident_blocks},
            {"resident_threads", limits.resident_threads}}},
          {"works", calibration.works},
          {"experiments", std::move(experiments)}};
}

Calibration calibration_of(const Json& json) {
  try {
    if (!json.is_object() || json.value("schema", "") != kCalibrationSchema) {
      throw CalibrationError(fmt::format("no file of measurements: its schema is not {}", kCalibrationSchema));
    }
    const Json& device = json.at("device");
    if (!json.at("context").is_object()) throw CalibrationError("no file of measurements: its context is no object");
    Calibration calibration{.context = json.at("context"),
                            .limits = {.name = device.at("name"),
                                       .compute_capability = device.at("compute_capability"),
                                       .multiprocessors = device.at("multiprocessors"),
                                       .resident_blocks = device.at("resident_blocks"),
                                       .resident_threads = device.at("resident_threads")},
                            .works = json.at("works"),
                            .experiments = {}};
    calibration.experiments = experiments_for(calibration.works);
    for (MeasuredExperiment& measured : calibration.experiments) {
      const auto& all = json.at("experiments");
      const auto same = [&](const Json& each) { return each.at("name") == measured.experiment.name; };
      const auto found = std::find_if(all.begin(), all.end(), same);
      measured.failure = found == all.end() ? "not measured" : found->value("failure", "");
      if (!measured.failure.empty()) continue;
      if (found->at("plain").empty() || found->at("collected").empty()) {
        throw CalibrationError(fmt::format("{} has no repetitions: calibrate anew", measured.experiment.name));
      }
      measured.replays.plain = replays_of(found->at("plain"), found->at("blocks"));
      measured.replays.collected = replays_of(found->at("collected"), found->at("blocks"));
      fit(measured);
    }
    return calibration;
  } catch (const Json::exception& error) {
    throw CalibrationError(fmt::format("no file of measurements: {}", what_is_wrong(error)));
  }
}

Calibration read_calibration(const std::string& path) {
  const std::optional<std::string> text = text_of(path);
  if (!text) throw CommandError(kBadInput, fmt::format("{}: cannot be read", path));
  try {
    return calibration_of(Json::parse(*text));
  } catch (const Json::exception& error) {
    throw CommandError(kBadInput, fmt::format("{}: is no JSON: {}", path, what_is_wrong(error, *text)));
  } catch (const CalibrationError& error) {
    throw CommandError(kBadInput, fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace scanlab::simulator
