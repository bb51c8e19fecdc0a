// scanlab calibrate: what its microbenchmarks are, and what comes of their times. A simulated device stands in for a
// real one: the calibration must find its figures again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/calibration/calibration.hpp"
#include "harness/simulator/simulation.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::simulator {
namespace {

/// As a device of this profile would have it.
Calibration calibration_on(const DeviceProfile& device, const std::vector<int>& works) {
  const DeviceLimits limits{.name = device.title,
                            .compute_capability = "9.0",
                            .multiprocessors = device.multiprocessors,
                            .resident_blocks = device.resident_blocks,
                            .resident_threads = device.resident_threads};
  return calibrate(limits, works, {{"device", device.title}}, [&](const Microbenchmark& experiment) {
    const Costs asked = costs(experiment.recording, device);
    Simulation simulation = simulate(experiment.recording, device, asked);
    streams::TimedReplay replay{.seconds = simulation.seconds, .timeline = std::move(simulation.timeline)};
    for (streams::Span& span : replay.timeline.spans) span.blocks = asked.operations[span.operation].blocks;
    streams::MeasuredReplays replays;
    replays.traced.push_back(replay);
    replay.timeline.spans.clear();
    replays.plain.push_back(replay);
    return replays;
  });
}

TEST(Calibration, MeasurementsAreReadAsTheyWereWritten) {
  const Calibration written = calibration_on(device_profile("h200"), {1});
  const auto json = to_json(written);
  const auto parse = [](const auto& read) {
    return parse_calibration(Document{.file = "raw.json", .json = read, .lines = {}});
  };
  EXPECT_EQ(to_json(parse(json)), json);
  auto other = json;
  other["experiments"][3]["plain"][0]["issued"].push_back(0);
  other["experiments"][3]["plain"][0]["issued"].push_back(0);
  EXPECT_THROW(parse(other), DocumentError);
  other = json;
  other["schema"] = "scanlab-calibration/2";
  EXPECT_THROW(parse(other), DocumentError);
}

TEST(Calibration, FindsTheDeviceThatItWasMeasuredOn) {
  DeviceProfile device = device_profile("h200");
  device.copy_latency = {2.5e-6, 1.5e-6};
  device.latency_both = {2.5e-6, 5e-6};
  device.latency_in_step = {4.5e-6, 4e-6};
  device.hand_over = 3e-6;
  device.kernel_latency = 1e-6;
  device.host_wait = 4e-6;
  device.both = {0.94 * device.alone.in, 0.92 * device.alone.out};
  device.calls = {.copy = 1.5e-6,
                  .synchronous_copy = 1.5e-6,
                  .kernel = 3e-6,
                  .record = 0.2e-6,
                  .wait = 0.3e-6,
                  .graph = 2e-6,
                  .graph_node = 0.2e-6};
  const auto json = profile_of(calibration_on(device, {1, 64}), "found");
  const DeviceProfile profile = parse_device_profile(json.dump(), "found.json");
  constexpr double kNear = 0.5e-6;
  EXPECT_NEAR(profile.alone.in / device.alone.in, 1, 0.01);
  EXPECT_NEAR(profile.alone.out / device.alone.out, 1, 0.01);
  EXPECT_NEAR(profile.both.in / device.both.in, 1, 0.02);
  EXPECT_NEAR(profile.both.out / device.both.out, 1, 0.02);
  EXPECT_NEAR(profile.copy_latency.in, device.copy_latency.in, kNear);
  EXPECT_NEAR(profile.copy_latency.out, device.copy_latency.out, kNear);
  EXPECT_NEAR(profile.latency_both.out, device.latency_both.out, 1e-6);  // the last of a row has the bus to itself
  EXPECT_NEAR(profile.latency_in_step.in, device.latency_in_step.in, 1e-6);
  EXPECT_NEAR(profile.latency_in_step.out, device.latency_in_step.out, 1e-6);
  EXPECT_NEAR(profile.hand_over, device.hand_over, kNear);
  EXPECT_NEAR(profile.host_wait, device.host_wait, kNear);
  EXPECT_NEAR(profile.calls.copy, device.calls.copy, 0.01e-6);
  EXPECT_NEAR(profile.calls.kernel, device.calls.kernel, 0.01e-6);
  EXPECT_NEAR(profile.calls.record, device.calls.record, 0.01e-6);
  EXPECT_NEAR(profile.calls.wait, device.calls.wait, 0.01e-6);
  EXPECT_NEAR(profile.calls.graph, device.calls.graph, 0.01e-6);
  EXPECT_NEAR(profile.calls.graph_node, device.calls.graph_node, 0.001e-6);
  EXPECT_NEAR(profile.kernel_latency, device.kernel_latency, kNear);
  EXPECT_NEAR(profile.pageable.in / device.pageable.in, 1, 0.01);
  EXPECT_NEAR(profile.pageable.out / device.pageable.out, 1, 0.01);
  EXPECT_EQ(profile.copy_queues, std::min(device.copy_queues, device.hardware_queues));
  EXPECT_EQ(profile.drains_queues, device.drains_queues);
  EXPECT_NEAR(profile.traced.in, 0, kNear);
  // The gap between two copies includes the kernel's latency, and the latency that a busy bus adds to the copy.
  const double between = device.kernel_latency + device.latency_both.out - device.copy_latency.out;
  EXPECT_NEAR(profile.hand_over_busy, device.hand_over_busy + between / 2, kNear);
  EXPECT_EQ(profile.multiprocessors, device.multiprocessors);
  EXPECT_GE(profile.kernels.size(), 8u);
}

DeviceProfile with_engines(std::vector<CopyEngine> engines) {
  DeviceProfile device = device_profile("h200");
  device.copy_engines = std::move(engines);
  return device;
}

/// Not what such a device usually has: what this one did.
TEST(Calibration, CopyEnginesAreThoseThatWereSeenAtWork) {
  struct Planted {
    std::vector<CopyEngine> engines;
    const char* value;
    const char* evidence;
  };
  constexpr CopyEngine kIn{.in = true};
  constexpr CopyEngine kOut{.out = true};
  constexpr CopyEngine kBoth{.in = true, .out = true};
  const std::vector<Planted> all{
      {{kIn, kOut}, R"([["in"],["out"]])", "1 in, 1 out, 2 both ways"},
      {{kBoth}, R"([["in","out"]])", "1 in, 1 out, 1 both ways"},
      {{kIn, kIn, kOut}, R"([["in"],["in"],["out"]])", "2 in, 1 out, 3 both ways"},
      {{kIn, kOut, kOut}, R"([["in"],["out"],["out"]])", "1 in, 2 out, 3 both ways"},
      {{kBoth, kBoth}, R"([["in","out"],["in","out"]])", "2 in, 2 out, 2 both ways"},
      {{kBoth, kIn}, R"([["in","out"],["in"]])", "2 in, 1 out, 2 both ways"},
  };
  for (const Planted& planted : all) {
    const auto profile = profile_of(calibration_on(with_engines(planted.engines), {1}), "found");
    const auto& figure = profile.at("figures").at("copy_engines");
    EXPECT_EQ(figure.at("value").dump(), planted.value);
    const std::string source = figure.at("source");
    EXPECT_TRUE(source.starts_with("measured by scanlab calibrate")) << source;
    EXPECT_TRUE(has(source, planted.evidence));
    EXPECT_EQ(profile.at("figures").at("drains_queues").at("value"), true) << planted.value;
  }
}

/// An overlap of a moment is how two records touch, no second engine.
TEST(Calibration, RecordsThatTouchAreNoSecondEngine) {
  Calibration calibration = calibration_on(device_profile("h200"), {1});
  for (MeasuredExperiment& each : calibration.experiments) {
    if (!each.experiment.name.starts_with("copies_")) continue;
    for (streams::TimedReplay& replay : each.replays.traced) {
      for (streams::Span& span : replay.timeline.spans) span.when.end += 0.4e-6;
    }
  }
  EXPECT_EQ(profile_of(calibration, "mine").at("figures").at("copy_engines").at("value").dump(), R"([["in"],["out"]])");
}

/// With one engine for both ways, copies both ways at once are not measured, and their figures do not claim to be.
TEST(Calibration, WhatOneEngineCannotDoIsNotSaidToBeMeasured) {
  const auto profile = profile_of(calibration_on(with_engines({{.in = true, .out = true}}), {1}), "found");
  const auto& figures = profile.at("figures");
  for (const std::string way : {"in", "out"}) {
    const auto& both = figures.at("both_" + way + "_gb_per_s");
    EXPECT_EQ(both.at("value"), figures.at("copy_" + way + "_gb_per_s").at("value"));
    EXPECT_EQ(both.at("source"), "assumed to be copy_" + way + "_gb_per_s, because copies both ways never ran at once");
    for (const std::string key : {"copy_latency_both_", "copy_latency_in_step_", "collected_both_"}) {
      EXPECT_FALSE(figures.contains(key + way + "_us")) << key << way;
    }
  }
  const DeviceProfile parsed = parse_device_profile(profile.dump(), "found.json");
  EXPECT_NEAR(parsed.alone.in / device_profile("h200").alone.in, 1, 0.01);
}

/// cudaMemcpy returns when the copy is done: how much of what it takes comes before the copy was not measured. All of
/// it is accounted for.
TEST(Calibration, ASynchronousCallIsSplitByAnAssumptionThatIsNamed) {
  DeviceProfile device = device_profile("h200");
  device.calls.copy = 1.5e-6;
  device.calls.synchronous_copy = 4e-6;
  device.host_wait = 3e-6;
  const auto profile = profile_of(calibration_on(device, {1}), "found");
  const auto& figures = profile.at("figures");
  EXPECT_EQ(
      figures.at("issue_synchronous_copy_us").at("source"),
      "assumed to be issue_copy_us, because cudaMemcpy returns when the copy is done: of its time without the copy, "
      "host_wait_us has the rest");
  const DeviceProfile parsed = parse_device_profile(profile.dump(), "found.json");
  EXPECT_DOUBLE_EQ(parsed.calls.synchronous_copy, parsed.calls.copy);
  EXPECT_NEAR(parsed.calls.synchronous_copy + parsed.host_wait, 7e-6, 0.1e-6);
}

TEST(Calibration, EveryFigureSaysWhereItIsFrom) {
  const auto profile = profile_of(calibration_on(device_profile("h200"), {1, 64}), "found");
  const std::set<std::string> assumed{"issue_synchronous_copy_us", "hardware_queues", "resident_grids",
                                      "waits_for_started_launches"};
  const std::set<std::string> reported{"multiprocessors", "resident_blocks", "resident_threads"};
  for (const auto& [key, figure] : profile.at("figures").items()) {
    const std::string source = figure.at("source");
    const std::string how = assumed.contains(key)    ? "assumed"
                            : reported.contains(key) ? "from cudaDeviceProp"
                                                     : "measured by";
    EXPECT_TRUE(source.starts_with(how)) << key << ": " << source;
  }
}

/// A time cannot be less than nothing: what came out so is within the noise, and the figure says that it did.
TEST(Calibration, AFigureBelowZeroIsSaidToBeNone) {
  Calibration calibration = calibration_on(device_profile("h200"), {1});
  const auto figure = [&] { return profile_of(calibration, "mine").at("figures").at("hand_over_us"); };
  EXPECT_FALSE(has(figure().at("source").get<std::string>(), "less than nothing"));
  for (MeasuredExperiment& each : calibration.experiments) {
    if (!each.experiment.name.starts_with("chain/in_kernel_out")) continue;
    for (streams::TimedReplay& replay : each.replays.plain) replay.seconds /= 2;
  }
  EXPECT_EQ(figure().at("value"), 0);
  const std::string source = figure().at("source");
  EXPECT_TRUE(source.ends_with("; it came out as less than nothing")) << source;
}

/// Times by size, the host's call, what kernels take of the device side by side, and how far apart their blocks end.
TEST(Calibration, FindsTheKernelsThatItMeasured) {
  DeviceProfile device = device_profile("h200");
  constexpr double kItem = 2e-12;  // seconds, where several run at once
  for (const int work : {1, 64}) {
    KernelTimes times{.workload = "scale",
                      .work = work,
                      .call = work * 0.1e-6 + 2e-6,
                      .rows = {},
                      .together = kItem * work,
                      .spread = 0.3};
    for (std::int64_t items = 1 << 10; items <= 1 << 24; items *= 4) {
      times.rows.push_back({.items = items,
                            .seconds = 2e-6 + 1.05 * kItem * work * static_cast<double>(items),
                            .blocks = std::min<std::int64_t>(items / 256, device.slots(256))});
    }
    device.kernels.push_back(times);
  }
  const DeviceProfile profile =
      parse_device_profile(profile_of(calibration_on(device, {1, 64}), "found").dump(), "found.json");
  for (const KernelTimes& known : device.kernels) {
    const auto times = profile.kernel_times("scale", known.work);
    ASSERT_TRUE(times);
    EXPECT_NEAR(times->call, known.call, 0.002e-6);
    EXPECT_NEAR(times->together / known.together, 1, 0.03) << known.work;
    EXPECT_NEAR(times->spread, known.spread, 0.05) << known.work;
    for (const KernelTimes::Row& row : known.rows) {
      EXPECT_NEAR(times->at(row.items).seconds, row.seconds, 0.02e-6 + 0.01 * row.seconds)
          << known.work << ", " << row.items;
      EXPECT_EQ(times->at(row.items).blocks, row.blocks) << known.work << ", " << row.items;
    }
  }
  device.drains_queues = !device.drains_queues;
  device.copy_queues = 4;
  const DeviceProfile other =
      parse_device_profile(profile_of(calibration_on(device, {1}), "found").dump(), "found.json");
  EXPECT_EQ(other.drains_queues, device.drains_queues);
  EXPECT_EQ(other.copy_queues, 4);
}

/// Empty if there is one.
std::string why_no_profile(const Calibration& calibration) {
  try {
    profile_of(calibration, "mine");
    return {};
  } catch (const CalibrationError& error) {
    return error.what();
  }
}

/// Every experiment contributes to a figure, and a missing one is reported.
TEST(Calibration, EveryExperimentIsReadAndAMissingOneIsNamed) {
  Calibration calibration = calibration_on(device_profile("h200"), {1});
  for (MeasuredExperiment& each : calibration.experiments) {
    const std::string& name = each.experiment.name;
    each.failure = "no records";
    EXPECT_EQ(why_no_profile(calibration), name + ": no records; without it there is no profile: calibrate anew");
    each.failure.clear();
  }
}

/// `calibrate --from` a file that lacks experiments: status 1, and no profile.
TEST(Calibration, FromAFileThatLacksExperimentsThereIsNoProfile) {
  const TestFolder folder;
  const std::string raw = (folder / "raw.json").string();
  const std::string out = (folder / "profile.json").string();
  const auto refused = [&](const nlohmann::ordered_json& json, const std::string& hint, int status) {
    std::ofstream(raw) << json;
    expect_error({"calibrate", "--from", raw, "--out", out, "--force"}, hint, status);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  const auto whole = to_json(calibration_on(device_profile("h200"), {1}));
  const auto at = [&](const std::string& name) {
    const auto& all = whole["experiments"];
    return static_cast<std::size_t>(std::ranges::find_if(all, [&](const auto& each) { return each["name"] == name; }) -
                                    all.begin());
  };
  auto lacks = whole;
  lacks["experiments"].erase(at("copies_in/bytes:67108864"));
  refused(lacks, "copies_in/bytes:67108864: not measured; without it there is no profile", scanlab::kFailed);
  auto empty = whole;
  empty["experiments"][at("calls/kernels")]["plain"] = nlohmann::ordered_json::array();
  refused(empty, "calls/kernels has no repetitions", scanlab::kBadInput);
  for (const auto& [times, value] : {std::pair("nanoseconds", 0), {"nanoseconds", -5}, {"ran", 0}, {"issued", -5}}) {
    auto wrong = whole;
    auto& replay = wrong["experiments"][at("copies_in/bytes:65536")]["traced"][0];
    if (replay[times].is_array()) {
      replay[times].back() = value;
    } else {
      replay[times] = value;
    }
    refused(wrong, "copies_in/bytes:65536 has times that none can have", scanlab::kBadInput);
  }
}

}  // namespace
}  // namespace scanlab::simulator
