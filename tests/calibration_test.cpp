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
    streams::TimedReplay replay{.seconds = 0, .timeline = simulate(recording, device, asked).timeline};
    replay.seconds = replay.timeline.makespan();
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

}  // namespace
}  // namespace scanlab::engines
