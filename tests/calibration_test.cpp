// scanlab calibrate: what its microbenchmarks are, and what comes of their times. A simulated device stands in for a
// real one: what it was told must be found again.
#include <gtest/gtest.h>

#include <set>

#include "harness/engines/calibration.hpp"
#include "harness/engines/simulation.hpp"

namespace scanlab::engines {
namespace {

/// As a device of this profile would have it.
Calibration calibration_on(const DeviceProfile& device, const std::vector<int>& works) {
  Calibration calibration{.context = {{"device", device.title}},
                          .limits = {.name = device.title,
                                     .compute_capability = "9.0",
                                     .multiprocessors = device.multiprocessors,
                                     .resident_blocks = device.resident_blocks,
                                     .resident_threads = device.resident_threads},
                          .works = works,
                          .experiments = {}};
  for (Experiment& experiment : calibration_experiments(works)) {
    calibration.experiments.push_back({.experiment = std::move(experiment), .replays = {}, .failure = {}});
  }
  for (MeasuredExperiment& measured : calibration.experiments) {
    const streams::Recording& recording = measured.experiment.recording;
    const Costs asked = costs(recording, device);
    Simulation simulation = simulate(recording, device, asked);
    streams::TimedReplay replay{.seconds = simulation.seconds, .timeline = std::move(simulation.timeline)};
    for (streams::Span& span : replay.timeline.spans) span.blocks = asked.operations[span.operation].blocks;
    measured.replays.collected.push_back(replay);
    replay.timeline.spans.clear();
    measured.replays.plain.push_back(replay);
  }
  return calibration;
}

TEST(Calibration, ExperimentsHaveNamesOfTheirOwnAndAreSmall) {
  std::set<std::string> names;
  for (const Experiment& experiment : calibration_experiments({1, 64})) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_LE(experiment.recording.operations.size(), 256u) << experiment.name;
    EXPECT_GT(experiment.recording.buffer_items, 0) << experiment.name;
    for (const streams::Operation& operation : experiment.recording.operations) {
      EXPECT_LE(operation.chunk.first + operation.chunk.items, experiment.recording.job.items) << experiment.name;
      EXPECT_LT(operation.chunk.index, experiment.recording.job.chunks) << experiment.name;
    }
  }
}

TEST(Calibration, MeasurementsAreReadAsTheyWereWritten) {
  const Calibration written = calibration_on(device_profile("h200"), {1});
  const auto json = to_json(written);
  EXPECT_EQ(to_json(calibration_of(json)), json);
  auto other = json;
  other["experiments"][3]["plain"][0]["issued"].push_back(0);
  other["experiments"][3]["plain"][0]["issued"].push_back(0);
  EXPECT_THROW(calibration_of(other), CalibrationError);
}

TEST(Calibration, FindsTheDeviceThatItWasMeasuredOn) {
  DeviceProfile told = device_profile("h200");
  told.copy_latency = {2.5e-6, 1.5e-6};
  told.latency_both = {2.5e-6, 5e-6};
  told.latency_in_step = {4.5e-6, 4e-6};
  told.hand_over = 3e-6;
  told.kernel_latency = 1e-6;
  told.host_wait = 4e-6;
  told.both = {0.94 * told.alone.in, 0.92 * told.alone.out};
  told.calls = {.copy = 1.5e-6,
                .synchronous_copy = 1.5e-6,
                .kernel = 3e-6,
                .record = 0.2e-6,
                .wait = 0.3e-6,
                .graph = 2e-6,
                .graph_node = 0.2e-6};
  const auto json = profile_of(calibration_on(told, {1, 64}), "found");
  const DeviceProfile found = parse_device_profile(json.dump(), "found.json");
  constexpr double kNear = 0.5e-6;
  EXPECT_NEAR(found.alone.in / told.alone.in, 1, 0.01);
  EXPECT_NEAR(found.alone.out / told.alone.out, 1, 0.01);
  EXPECT_NEAR(found.both.in / told.both.in, 1, 0.02);
  EXPECT_NEAR(found.both.out / told.both.out, 1, 0.02);
  EXPECT_NEAR(found.copy_latency.in, told.copy_latency.in, kNear);
  EXPECT_NEAR(found.copy_latency.out, told.copy_latency.out, kNear);
  EXPECT_NEAR(found.latency_both.out, told.latency_both.out, 1e-6);  // the last of a row has the bus to itself
  EXPECT_NEAR(found.latency_in_step.in, told.latency_in_step.in, 1e-6);
  EXPECT_NEAR(found.latency_in_step.out, told.latency_in_step.out, 1e-6);
  EXPECT_NEAR(found.hand_over, told.hand_over, kNear);
  EXPECT_NEAR(found.host_wait, told.host_wait, kNear);
  EXPECT_NEAR(found.calls.copy, told.calls.copy, 0.01e-6);
  EXPECT_NEAR(found.calls.kernel, told.calls.kernel, 0.01e-6);
  EXPECT_NEAR(found.calls.record, told.calls.record, 0.01e-6);
  EXPECT_NEAR(found.calls.graph_node, told.calls.graph_node, 0.05e-6);
  EXPECT_NEAR(found.collected.in, 0, kNear);
  EXPECT_EQ(found.multiprocessors, told.multiprocessors);
  EXPECT_GE(found.kernels.size(), 8u);
}

TEST(Calibration, AMissingExperimentIsNamed) {
  Calibration calibration = calibration_on(device_profile("h200"), {1});
  for (MeasuredExperiment& each : calibration.experiments) {
    if (each.experiment.name == "calls/kernels") each.failure = "no records";
  }
  try {
    profile_of(calibration, "mine");
    FAIL();
  } catch (const CalibrationError& error) {
    EXPECT_STREQ(error.what(), "calls/kernels: no records");
  }
}

}  // namespace
}  // namespace scanlab::engines
