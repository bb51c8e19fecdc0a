// What the engine model says of programs with priorities and partitions, against closed forms.
#include "harness/features/program.hpp"

#include <gtest/gtest.h>

#include "harness/simulator/device_profile.hpp"

namespace scanlab::features {
namespace {

constexpr double kMs = 1e-3;
constexpr double kOverhead = 0.1 * kMs;  // launches, hand-overs and the wait of the host
constexpr int kWaves = 20;

/// Ten kernels of 20 µs behind one of 20 waves of a millisecond.
struct Urgent {
  Urgent(int priority, const std::vector<int>& partitions)
      : program(false, partitions),
        long_stream(program.new_stream(0, partitions.empty() ? 0 : 1)),
        urgent(program.new_stream(priority)) {
    program.kernel(long_stream, kWaves * device.slots(1024), kMs);
    for (int i = 0; i < 10; ++i) program.kernel(urgent, 8, 0.02 * kMs);
  }
  simulator::DeviceProfile device = simulator::device_profile("h200");
  Program program;
  streams::Stream long_stream, urgent;

  double of_urgent() const { return program.seconds(device, urgent); }
  double of_all() const { return program.seconds(device); }
};

TEST(FeatureProgram, UrgentKernelsWaitForTheDeviceOrAWaveEachOrForNothing) {
  const Urgent same(0, {}), high(-5, {}), apart(0, {8, 124});
  EXPECT_NEAR(same.of_urgent(), (kWaves + 0.2) * kMs, kOverhead);
  EXPECT_NEAR(high.of_urgent(), (10 + 0.02) * kMs, kOverhead)
      << "each waits for a wave: where one ends, the long kernel "
         "has started blocks before the next is there";
  EXPECT_NEAR(apart.of_urgent(), 0.2 * kMs, kOverhead);
}

TEST(FeatureProgram, APartitionCostsTheLongKernelItsMultiprocessors) {
  const Urgent same(0, {}), apart(0, {8, 124});
  EXPECT_NEAR(same.of_all(), (kWaves + 0.2) * kMs, kOverhead);
  EXPECT_NEAR(apart.of_all(), 22 * kMs, kOverhead) << "20 · 132 / 124 waves, rounded up";
}

TEST(FeatureProgram, AGraphIssuesItsOperationsByOneCall) {
  const simulator::DeviceProfile device = simulator::device_profile("h200");
  const auto seconds = [&](bool captured) {
    Program program(captured);
    const streams::Stream stream = program.new_stream();
    for (int i = 0; i < 100; ++i) program.kernel(stream, 132, 1e-6);
    return program.seconds(device);
  };
  const double one_by_one = 100 * device.calls.kernel;
  EXPECT_GT(seconds(false), one_by_one);
  EXPECT_LT(seconds(true), one_by_one);
}

}  // namespace
}  // namespace scanlab::features
