// The engine model against closed forms, published measurements, and what must be true of any run; device profiles, and
// scanlab simulate.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/advice/comparison.hpp"
#include "harness/cli/command.hpp"
#include "harness/schedule/hazards.hpp"
#include "harness/schedule/issuer.hpp"
#include "harness/simulator/block_waves.hpp"
#include "harness/simulator/bounds.hpp"
#include "harness/simulator/simulation.hpp"
#include "harness/timeline/diagnosis.hpp"
#include "tests/growth.hpp"
#include "tests/program.hpp"
#include "tests/random_recording.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::simulator {
namespace {

using streams::Job;
using streams::Operation;
using streams::OperationKind;
using streams::Recording;
using streams::Span;
using Json = nlohmann::ordered_json;

constexpr double kMs = 1e-3;
constexpr double kExact = 1e-11;  // seconds: a femtosecond of rounding a block
/// Items of which 1, 2, 4, up to 64 chunks all fill the didactic machine a whole number of times: no kernel has a tail.
constexpr std::int64_t kWithoutTails = 6 * 256 * 64 * 40;

Job job_of(int chunks, int streams, std::int64_t items = 1 << 22, const char* workload = "scale") {
  return {.workload = streams::WorkloadRegistry::instance().find(workload),
          .items = items,
          .chunks = chunks,
          .streams = streams};
}

Recording recorded(const std::string& schedule, const Job& job) {
  return record(*streams::ScheduleRegistry::instance().find(schedule), job);
}

/// Milliseconds for all items.
KnownTimes known_of(double in, double kernel, double out) {
  return {.copy_in = in * kMs, .kernel = kernel * kMs, .copy_out = out * kMs};
}

double makespan(const Recording& recording, const DeviceProfile& device, const KnownTimes& known) {
  return simulate(recording, device, costs(recording, device, known)).timeline.makespan();
}

double makespan(const std::string& schedule, const Job& job, const DeviceProfile& device, const KnownTimes& known) {
  return makespan(recorded(schedule, job), device, known);
}

const DeviceProfile& didactic() {
  static const DeviceProfile profile = device_profile("didactic");
  return profile;
}

/// A recording by hand.
struct ByHand {
  ByHand(int chunk_count, int stream_count, std::int64_t items = 1 << 22)
      : recording{.job = job_of(chunk_count, stream_count, items)},
        streams(issuer.create_streams(stream_count)),
        chunks(issuer.chunks()) {}
  Recording recording;
  streams::Issuer issuer{recording};
  std::vector<streams::Stream> streams;
  std::vector<streams::Chunk> chunks;
};

/// Kernels alone: so many in each stream, depth-first.
Recording small_grids(const streams::SmallGrids& grids) {
  Recording recording{.job = job_of(1, 1)};
  streams::Issuer issuer(recording);
  for (const streams::Stream stream : issuer.create_streams(static_cast<int>(grids.streams))) {
    for (std::int64_t i = 0; i < grids.kernels; ++i) issuer.side_kernel(stream);
  }
  return recording;
}

double grids_makespan(const streams::SmallGrids& grids, const DeviceProfile& device, double block_seconds) {
  const Recording recording = small_grids(grids);
  Costs each{.operations = std::vector<OperationCost>(recording.operations.size())};
  for (OperationCost& cost : each.operations) cost = {.blocks = grids.blocks, .block_seconds = block_seconds};
  return simulate(recording, device, each).timeline.makespan();
}

// ---- closed forms

/// Van Werkhoven et al., Performance Models for CPU-GPU Data Transfers, CCGrid 2014: two copy engines, n streams. One
/// stream takes the sum, and equal thirds a third and two thirds of it over n.
TEST(Engines, VanWerkhovensFormula) {
  for (const char* schedule : {"depth_first", "breadth_first", "three_streams"}) {
    for (const int n : {1, 2, 4, 8, 32}) {
      for (const auto& [h, k, d] :
           std::vector<std::array<double, 3>>{{1, 1, 1}, {8, 2, 1}, {1, 8, 2}, {2, 1, 8}, {4, 4, 1}, {3, 0, 3}}) {
        const double formula = kMs * std::max({h + (k + d) / n, k + (h + d) / n, d + (h + k) / n});
        Job job = job_of(n, n);
        job.blocks = 6;  // the formula knows no tails: a kernel fills the machine once
        EXPECT_NEAR(makespan(schedule, job, didactic(), known_of(h, k, d)), formula, n * kExact)
            << schedule << ", " << n << " streams: " << h << ", " << k << ", " << d;
      }
    }
  }
}

TEST(Engines, BlocksRunInWaves) {
  constexpr double kBlock = 1 * kMs;
  for (const std::int64_t blocks : {1, 5, 6, 7, 12, 13, 6'000, 6'000'001}) {
    EXPECT_NEAR(grids_makespan({1, 1, blocks}, didactic(), kBlock * 1e-3),
                static_cast<double>(streams::waves(blocks, 6)) * kBlock * 1e-3, kExact)
        << blocks;
  }
}

/// Issued depth-first, streams that share a queue overlap only where one ends and the next begins. Kernels of one
/// stream wait for each other's tails, so that the formula is of one kernel per stream, or of room for all.
TEST(Engines, ASharedQueueAddsFalseDependencies) {
  std::mt19937 random(1);
  const auto up_to = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int i = 0; i < 300; ++i) {
    DeviceProfile device = didactic();
    device.hardware_queues = static_cast<int>(up_to(32));
    const bool flat = i % 2 == 0;
    const streams::SmallGrids grids{up_to(flat ? 40 : 16), flat ? 1 : up_to(6), up_to(flat ? 400 : 3)};
    device.multiprocessors = flat ? up_to(300) : grids.total_blocks();
    device.resident_blocks = 1;
    device.resident_grids = 1000;
    EXPECT_NEAR(grids_makespan(grids, device, kMs),
                streams::makespan_seconds(grids, device.multiprocessors, device.hardware_queues, kMs), kExact)
        << device.hardware_queues << " queues, " << grids.streams << " streams of " << grids.kernels;
  }
}

TEST(Engines, CopiesBothWaysShareTheBus) {
  DeviceProfile device = didactic();
  device.both = {0.5e9, 0.8e9};
  ByHand made(1, 2);
  made.issuer.copy_in(made.chunks[0], made.streams[0]);
  made.issuer.copy_out(made.chunks[0], made.streams[1]);
  // Out goes at 0.8 until it ends, at 5 ms; in has done 2.5 of its 6 ms by then, and does the rest at full rate.
  EXPECT_NEAR(makespan(made.recording, device, known_of(6, 1, 4)), 8.5 * kMs, kExact);
  // In goes at 0.5 until 4 ms; out has done 3.2 of its 4 ms by then.
  EXPECT_NEAR(makespan(made.recording, device, known_of(2, 1, 4)), 4.8 * kMs, kExact);
}

/// Copies of a size begin together, each way as late as in step; without that the copies out wait each time.
TEST(Engines, ShortCopiesBothWaysFallIntoStep) {
  DeviceProfile device = device_profile("didactic");
  device.both = device.alone;
  device.copy_latency = {3e-6, 3e-6};
  device.latency_both = {3e-6, 11e-6};
  device.latency_in_step = {6e-6, 6e-6};
  constexpr std::size_t kCopies = 12;
  ByHand made(2 * kCopies, 2);
  for (std::size_t i = 0; i < kCopies; ++i) {
    made.issuer.copy_in(made.chunks[i], made.streams[0]);
    made.issuer.copy_out(made.chunks[kCopies + i], made.streams[1]);
  }
  const Costs costs = simulator::costs(made.recording, device, known_of(2 * kCopies * 0.02, 1, 2 * kCopies * 0.02));
  const auto starts = [&](OperationKind kind) {
    std::vector<double> all;
    for (const Span& span : simulate(made.recording, device, costs).timeline.spans) {
      if (made.recording.operations[span.operation].kind == kind) all.push_back(span.when.start);
    }
    return all;
  };
  const std::vector<double> in = starts(OperationKind::copy_in);
  const std::vector<double> out = starts(OperationKind::copy_out);
  for (std::size_t i = kCopies / 2; i < kCopies - 1; ++i) {
    EXPECT_NEAR(in[i] - in[i - 1], 26e-6, 1e-8) << i;
    EXPECT_NEAR(out[i] - out[i - 1], 26e-6, 1e-8) << i;
  }
  device.latency_in_step = device.latency_both;
  const std::vector<double> never = starts(OperationKind::copy_out);
  for (std::size_t i = 3; i < kCopies / 2; ++i) EXPECT_NEAR(never[i] - never[i - 1], 31e-6, 1e-8) << i;
}

TEST(Engines, WithoutCopyEnginesNothingOverlaps) {
  DeviceProfile device = didactic();
  device.copy_engines.clear();
  for (const char* schedule : {"depth_first", "breadth_first", "three_streams"}) {
    EXPECT_NEAR(makespan(schedule, job_of(4, 4, kWithoutTails), device, known_of(2, 4, 3)), 9 * kMs, kExact)
        << schedule;
  }
}

TEST(Engines, CallsTakeTheHostsTime) {
  DeviceProfile device = didactic();
  const Recording recording = small_grids({1, 1000, 1});
  const OperationCost kernel{.blocks = 1, .block_seconds = 1e-9, .call_seconds = 1e-6};
  Costs each{.operations = std::vector<OperationCost>(recording.operations.size(), kernel)};
  EXPECT_NEAR(simulate(recording, device, each).timeline.makespan(), 1000e-6 + 1e-9, kExact);
}

/// Copies take their bytes at the rate of their memory and way, or, where it is given, the time of all inputs together.
TEST(Engines, CopiesGoAtTheRateOfTheirMemoryAndWay) {
  DeviceProfile device = didactic();
  device.alone = device.both = {2e9, 1e9};
  device.pageable = {0.5e9, 0.25e9};
  for (const auto& [schedule, memory, in, out] : {std::tuple("serial_pinned", streams::HostMemory::pinned, 2e9, 1e9),
                                                  {"serial", streams::HostMemory::pageable, 0.5e9, 0.25e9}}) {
    for (const auto& [workload, inputs] : {std::pair("scale", 1), {"vector_add", 2}}) {
      Job job = job_of(4, 1, 1 << 20, workload);
      job.memory = memory;
      const double bytes = 4.0 * (1 << 20);
      const Recording recording = recorded(schedule, job);
      const Parts by_rate = parts(recording, costs(recording, device));
      EXPECT_NEAR(by_rate.copy_in, inputs * bytes / in, 1e-12) << schedule << ", " << workload;
      EXPECT_NEAR(by_rate.copy_out, bytes / out, 1e-12) << schedule << ", " << workload;
      const Parts given = parts(recording, costs(recording, device, known_of(6, 5, 4)));
      EXPECT_NEAR(given.copy_in, 6 * kMs, 1e-12) << "of all inputs: " << workload;
      EXPECT_NEAR(given.copy_out, 4 * kMs, 1e-12);
      EXPECT_NEAR(given.kernel, 5 * kMs, 1e-12);
      EXPECT_NEAR(given.ratio(), 5.0 / 6, 1e-12);
    }
  }
}

/// Between operations of two kinds the device takes its time; between kernels, or copies one way, none.
TEST(Engines, AHandOverLiesBetweenOperationsOfTwoKinds) {
  DeviceProfile device = didactic();
  device.hand_over = 1 * kMs;
  const Recording pipeline = recorded("depth_first", job_of(1, 1, kWithoutTails));
  EXPECT_NEAR(makespan(pipeline, device, known_of(2, 3, 4)), (2 + 1 + 3 + 1 + 4) * kMs, kExact);
  ByHand alike(2, 1, kWithoutTails);
  alike.recording.buffer_items = kWithoutTails;
  for (const streams::Chunk& chunk : alike.chunks) alike.issuer.copy_in(chunk, alike.streams[0]);
  for (int i = 0; i < 2; ++i) alike.issuer.side_kernel(alike.streams[0]);
  EXPECT_NEAR(makespan(alike.recording, device, known_of(2, 3, 4)), (2 + 1 + 3 + 3) * kMs, kExact);
}

// ---- published measurements

/// Two kernels that each fill the device, the second issued at once: the first is not slowed, the second begins when
/// the first block of the first ends, and the device works at its full rate but for the last tail.
TEST(Engines, OlderGridsComeFirstWhereBothAskForTheDevice) {
  const DeviceProfile device = didactic();
  const Recording recording = small_grids({2, 1, 6});
  const std::int64_t slots = device.slots(256);
  OperationCost cost{.blocks = slots, .block_seconds = kMs, .share = 4, .spread = 0.5};
  const Simulation pair = simulate(recording, device, {.operations = {cost, cost}});
  ASSERT_EQ(pair.timeline.spans.size(), 2u);
  const streams::Interval first = pair.timeline.spans[0].when;
  const streams::Interval second = pair.timeline.spans[1].when;
  const Recording single = small_grids({1, 1, 6});
  const double alone = simulate(single, device, {.operations = {cost}}).timeline.makespan();
  EXPECT_NEAR(first.seconds(), alone, kExact);
  EXPECT_NEAR(alone, (4 + 0.5 / 4) * kMs, 0.07 * kMs);             // its work at the full rate, and the tail
  EXPECT_NEAR(second.start - first.start, 4 * 0.5 * kMs, kExact);  // four share: their first ends at half of the mean
  EXPECT_NEAR(second.end - first.start, (2 * 4 + 0.5 / 4) * kMs, 0.13 * kMs);

  cost.share = 0.5;  // both have what they ask for
  cost.spread = 0;
  cost.blocks = slots / 2;
  EXPECT_NEAR(simulate(recording, device, {.operations = {cost, cost}}).timeline.makespan(), kMs, kExact);
}

/// Harris, How to Overlap Data Transfers in CUDA C/C++, 2012: milliseconds of 16 MiB in 4 streams. His schematics take
/// equal thirds.
TEST(Engines, HarrissMeasurements) {
  struct Published {
    const char* device;
    const char* schedule;
    double sequential, milliseconds;
    int twelfths;
    double within;
  };
  for (const Published& published : {Published{"c1060", "depth_first", 12.92381, 13.63690, 12, 0.06},
                                     {"c1060", "breadth_first", 12.92381, 8.84588, 8, 0.06},
                                     {"c2050", "depth_first", 9.984512, 5.735584, 6, 0.14},
                                     {"c2050", "breadth_first", 9.984512, 7.597984, 9, 0.06},
                                     {"k20c", "depth_first", 7.101760, 3.974144, 6, 0.12},
                                     {"k20c", "breadth_first", 7.101760, 3.967616, 6, 0.12}}) {
    const DeviceProfile device = device_profile(published.device);
    const double third = published.sequential / 3;
    const KnownTimes thirds = known_of(third, third, third);
    const double serial = makespan("serial_pinned", job_of(1, 1), device, thirds);
    const double ratio = makespan(published.schedule, job_of(4, 4), device, thirds) / serial;
    const std::string what = std::string(published.device) + ", " + published.schedule;
    EXPECT_NEAR(ratio / (published.milliseconds / published.sequential), 1, published.within) << what;

    // As the schematics have it: no latencies, and kernels without tails and of many waves, since the rule waits for
    // the last to start.
    const Job without_tails = job_of(4, 4, 4 * 40 * 256 * device.slots(256));
    DeviceProfile bare = device;
    bare.calls = {};
    bare.kernel_latency = 0;
    bare.copy_latency = bare.latency_both = bare.latency_in_step = {};
    EXPECT_NEAR(makespan(published.schedule, without_tails, bare, known_of(12, 12, 12)), 3 * published.twelfths * kMs,
                0.1 * kMs)
        << what;
  }
}

/// The rule of compute capability 2.0 to 3.0 is what makes breadth_first slow on the C2050.
TEST(Engines, TheRuleForLaunchesHoldsCopiesBack) {
  DeviceProfile device = device_profile("c2050");
  const double with_rule = makespan("breadth_first", job_of(4, 4), device, known_of(4, 4, 4));
  device.waits_for_started_launches = false;
  EXPECT_NEAR(makespan("breadth_first", job_of(4, 4), device, known_of(4, 4, 4)) / with_rule, 6.0 / 9, 0.01);

  device = device_profile("c2050");
  const Recording recording = recorded("breadth_first", job_of(4, 4));
  const Simulation simulation = simulate(recording, device, costs(recording, device, known_of(4, 4, 4)));
  const streams::TimelineAnalysis analysis = analyse(simulation.timeline);
  EXPECT_GT(analysis.idle(streams::Engine::copy_out, streams::Idle::launches), 4.9 * kMs);
  EXPECT_EQ(analysis.path.size(), 9u);  // all copies in, the last kernel, all copies out
  const std::vector<streams::Diagnosis> diagnoses = diagnose(simulation.timeline, analysis);
  ASSERT_FALSE(diagnoses.empty());
  EXPECT_EQ(diagnoses.front().cause, streams::Cause::launch_rule) << diagnoses.front().evidence;
}

/// The host launches it by one call, and no copy holds it.
TEST(Engines, AGraphOfPageableMemoryOverlapsAsItsScheduleDoesOfPinned) {
  Job job = job_of(4, 4, kWithoutTails);
  const double pinned = makespan("depth_first", job, didactic(), known_of(4, 4, 4));
  job.memory = streams::HostMemory::pageable;
  EXPECT_NEAR(makespan("graph", job, didactic(), known_of(4, 4, 4)), pinned, kExact);
  EXPECT_NEAR(pinned, 6 * kMs, kExact);
}

TEST(Engines, TheCriticalPathGoesOnWhereTheHostWaited) {
  Job pageable = job_of(4, 4, kWithoutTails);
  pageable.memory = streams::HostMemory::pageable;
  for (const auto& [schedule, job] :
       {std::pair("serial_pinned", job_of(4, 1, kWithoutTails)), {"depth_first", pageable}}) {
    const Recording recording = recorded(schedule, job);
    const Simulation run = simulate(recording, didactic(), costs(recording, didactic(), known_of(12, 12, 12)));
    const std::string text = describe(run.timeline, analyse(run.timeline), 1);
    EXPECT_TRUE(has(text,
                    "critical path: 12 operations, copies in 12.000 ms, kernels 12.000 ms, copies out 12.000 ms, "
                    "between them 0.000 ms"))
        << schedule;
  }
  // A host that waits for a stream, and then computes.
  ByHand made(1, 2);
  made.issuer.side_kernel(made.streams[0]);
  made.issuer.synchronize(made.streams[0]);
  made.issuer.host_work(2000);
  made.issuer.side_kernel(made.streams[1]);
  const OperationCost kernel{.blocks = 6, .block_seconds = 3 * kMs};
  const Simulation run = simulate(made.recording, didactic(), {.operations = {kernel, {}, {}, kernel}});
  const streams::TimelineAnalysis analysis = analyse(run.timeline);
  ASSERT_EQ(analysis.path.size(), 2u);
  EXPECT_EQ(analysis.path[0].operation, 0u);
  EXPECT_NEAR(analysis.path[1].waited, 2 * kMs, kExact);
}

/// The second copy behind a kernel waits for the first copy, and for no launch, whichever stream the kernel is in.
TEST(Engines, TheRuleForLaunchesIsOfWhatWaitsForAKernelItself) {
  DeviceProfile device = didactic();
  device.waits_for_started_launches = true;
  const Costs each{.operations = {{.blocks = 1, .block_seconds = 1 * kMs},
                                  {.copy_seconds = 1 * kMs},
                                  {.blocks = 12, .block_seconds = 5 * kMs},  // two waves
                                  {.copy_seconds = 1 * kMs}}};
  for (const bool legacy : {false, true}) {
    ByHand made(2, 2);
    made.issuer.side_kernel(legacy ? streams::kLegacyDefault : made.streams[0]);
    made.issuer.copy_in(made.chunks[0], made.streams[0]);
    made.issuer.side_kernel(made.streams[1]);
    made.issuer.copy_in(made.chunks[1], made.streams[0]);
    EXPECT_NEAR(simulate(made.recording, device, each).timeline.spans[3].when.end, 3 * kMs, kExact) << legacy;
  }
}

// ---- what is true of any run

/// Something simulated, and what it was.
struct Run {
  std::string what;
  DeviceProfile device;
  Recording recording;
  Costs each;
  Simulation simulation;
};

/// Every schedule with several workloads on every built-in device, one after another.
template <class Visit>
void simulate_schedules(Visit visit) {
  for (const std::string& name : built_in_profile_names()) {
    const DeviceProfile device = device_profile(name);
    for (const auto& [id, schedule] : streams::ScheduleRegistry::instance().all()) {
      for (const char* workload : {"scale", "vector_add", "scan"}) {
        for (const auto& [chunks, streams] : {std::pair(1, 1), {7, 3}, {24, 40}}) {
          Job job = job_of(chunks, streams, 1'000'003, workload);
          job.memory = schedule.about.memory;
          Run run{device.name + ", " + id, device, record(schedule, job), {}, {}};
          run.each = costs(run.recording, device);
          run.simulation = simulate(run.recording, device, run.each);
          visit(run);
        }
      }
    }
  }
}

/// Random recordings, devices and costs.
template <class Visit>
void simulate_random_recordings(Visit visit) {
  std::mt19937 random(7);
  const auto any = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  for (int trial = 0; trial < 600; ++trial) {
    Run run{"trial " + std::to_string(trial), didactic(), {}, {}, {}};
    const std::vector<std::vector<CopyEngine>> engines{{},
                                                       {{true, true}},
                                                       {{true, false}, {false, true}},
                                                       {{true, true}, {true, true}},
                                                       {{true, true}, {true, false}}};
    run.device.copy_engines = engines[random() % engines.size()];
    run.device.both = {any(1.0, 0.6) * run.device.alone.in, any(1.0, 0.7) * run.device.alone.out};
    run.device.hardware_queues = any(1, 2, 3, 8);
    run.device.copy_queues = any(1, 3, 8);
    run.device.drains_queues = any(false, true);
    run.device.resident_grids = any(1, 2, 32);
    run.device.waits_for_started_launches = any(false, true);
    run.device.copy_latency = {any(0.0, 3e-6), any(0.0, 3e-6)};
    run.device.latency_both = run.device.latency_in_step = run.device.copy_latency;
    run.device.hand_over = any(0.0, 1e-6);
    run.device.host_wait = any(0.0, 1e-6);
    run.device.kernel_latency = any(0.0, 1e-6);
    Job job = job_of(3, 1, 3'000);
    job.memory = any(streams::HostMemory::pinned, streams::HostMemory::pinned, streams::HostMemory::pageable);
    run.recording = random_recording(random, job, 60, true);
    for (const Operation& operation : run.recording.operations) {
      OperationCost cost;
      if (is_work(operation) && engine_of(operation) == streams::Engine::compute) {
        cost = {.blocks = any(1, 2, 5, 6, 13, 1000), .block_seconds = any(0.0, 1e-6, 7e-6)};
      } else if (is_work(operation)) {
        cost.copy_seconds = any(0.0, 1e-6, 5e-6, 40e-6);
      }
      cost.call_seconds = any(0.0, 2e-6);
      run.each.operations.push_back(cost);
    }
    if (!check(run.recording).waits_for_nothing.empty()) {
      EXPECT_THROW(simulate(run.recording, run.device, run.each), ScheduleError) << run.what;
      continue;
    }
    run.simulation = simulate(run.recording, run.device, run.each);
    visit(run);
  }
}

void expect_one_thing_at_once(const Run& run) {
  std::map<int, std::vector<streams::Interval>> lanes;  // an engine's, and -1: what excludes all else on the device
  const auto& operations = run.recording.operations;
  for (std::size_t i = 0; i < run.simulation.timeline.spans.size(); ++i) {
    const Span& span = run.simulation.timeline.spans[i];
    const auto engine = run.simulation.copy_engine[i];
    const bool copies = engine_of(operations[span.operation]) != streams::Engine::compute;
    ASSERT_EQ(engine.has_value(), copies && !run.device.copy_engines.empty()) << run.what;
    if (engine) {
      const CopyEngine& ways = run.device.copy_engines.at(static_cast<std::size_t>(*engine));
      ASSERT_TRUE(engine_of(operations[span.operation]) == streams::Engine::copy_in ? ways.in : ways.out) << run.what;
    }
    const bool alone = run.device.copy_engines.empty() || (!copies && run.device.resident_grids == 1);
    if (engine || alone) lanes[engine.value_or(-1)].push_back(span.when);
  }
  for (auto& [engine, when] : lanes) {
    std::ranges::sort(when, {}, [](const streams::Interval& each) { return std::pair(each.start, each.end); });
    for (std::size_t i = 1; i < when.size(); ++i) {
      ASSERT_LE(when[i - 1].end, when[i].start) << run.what << ", engine " << engine;
    }
  }
}

/// Every pair of operations that `check` finds ordered, whatever they touch, runs one after the other; and none before
/// its issue.
void expect_order(const Run& run) {
  Recording conflicting = run.recording;  // all write one word, so that what nothing orders is a hazard
  for (Operation& operation : conflicting.operations) {
    if (is_work(operation)) operation.accesses = {{.place = streams::Place::carry, .items = 1, .writes = true}};
  }
  std::set<std::pair<std::size_t, std::size_t>> unordered;
  for (const streams::Hazard& hazard : check(conflicting).hazards) unordered.emplace(hazard.first, hazard.second);
  const auto& spans = run.simulation.timeline.spans;
  for (std::size_t b = 0; b < spans.size(); ++b) {
    ASSERT_GE(spans[b].when.start, run.simulation.timeline.issued[spans[b].operation].start) << run.what;
    for (std::size_t a = 0; a < b; ++a) {
      if (unordered.contains({spans[a].operation, spans[b].operation})) continue;
      ASSERT_LE(spans[a].when.end, spans[b].when.start)
          << run.what << ": " << describe(run.recording.operations[spans[a].operation]) << ", "
          << describe(run.recording.operations[spans[b].operation]);
    }
  }
}

void expect_above_bounds(const Run& run) {
  const double end = run.simulation.timeline.makespan();
  const std::int64_t slots = run.device.slots(run.each.threads_per_block);
  double block_time = 0;
  std::map<int, double> by_engine;
  std::map<std::pair<streams::StreamKind, int>, double> by_stream;
  for (std::size_t i = 0; i < run.simulation.timeline.spans.size(); ++i) {
    const std::size_t operation = run.simulation.timeline.spans[i].operation;
    const OperationCost& cost = run.each.operations[operation];
    const streams::Stream& stream = run.recording.operations[operation].stream;
    const double kernel = static_cast<double>(streams::waves(cost.blocks, slots)) * cost.block_seconds;
    block_time += static_cast<double>(cost.blocks) * cost.block_seconds;
    by_stream[{stream.kind, stream.index}] += cost.copy_seconds + kernel;
    if (const auto engine = run.simulation.copy_engine[i]) {
      const EachWay& latency = run.device.copy_latency;
      const bool in = run.recording.operations[operation].kind == streams::OperationKind::copy_in;
      by_engine[*engine] += cost.copy_seconds + (in ? latency.in : latency.out);
    }
    const streams::Interval& when = run.simulation.timeline.spans[i].when;
    ASSERT_GE(when.seconds() + kExact, cost.copy_seconds + kernel) << run.what;
  }
  const double rounding = 1e-12 * static_cast<double>(run.recording.operations.size() + 1000);
  EXPECT_GE(end + rounding, block_time / static_cast<double>(slots)) << run.what;
  for (const auto& [engine, busy] : by_engine) EXPECT_GE(end + rounding, busy) << run.what;
  for (const auto& [stream, busy] : by_stream) EXPECT_GE(end + rounding, busy) << run.what;
  for (const streams::Interval& issued : run.simulation.timeline.issued) {
    ASSERT_LE(issued.start, issued.end) << run.what;
  }
}

void expect_rules(const Run& run) {
  expect_one_thing_at_once(run);
  expect_order(run);
  expect_above_bounds(run);
}

TEST(Engines, DoOneThingAtOnceInOrderAndNoFasterThanTheirBounds) {
  simulate_schedules(expect_rules);
  simulate_random_recordings(expect_rules);
}

// ---- however a job is cut

/// Right schedules of every kind of job on every device in 1 to 64 chunks, with kernels of which the longest part is
/// made.
TEST(Engines, NoScheduleIsBelowItsPipelinesBound) {
  for (const std::string& name : built_in_profile_names()) {
    DeviceProfile device = device_profile(name);
    device.device_rate *= 1e-3;  // of no device: its memory is slower than the bus
    for (const auto& [id, schedule] : streams::ScheduleRegistry::instance().all()) {
      for (int chunks = 1; chunks <= 64; ++chunks) {
        Job job = job_of(chunks, 1 + chunks % 9, chunks % 2 == 0 ? 40'000 : 1'000'003,
                         chunks % 3 == 0 ? "vector_add" : "scale");
        job.memory = schedule.about.memory;
        job.blocks = std::array{0, 0, 4, 0, 1, 0, 200}[static_cast<std::size_t>(chunks % 7)];
        const Recording recording = record(schedule, job);
        if (!check(recording).ordered()) continue;  // copies out of a chunk before its kernel is done are no pipeline
        for (const std::optional<double>& kernel : {std::optional<double>(), std::optional(3e-3)}) {
          const Costs each = costs(recording, device, {.copy_in = {}, .kernel = kernel, .copy_out = {}});
          EXPECT_GE(simulate(recording, device, each).timeline.makespan(),
                    bounds(recording, device, each).pipeline * (1 - 1e-9))
              << name << ", " << id << ", " << chunks << " chunks, kernel " << kernel.value_or(-1);
        }
      }
    }
  }
}

/// A kernel bound by memory reads each input and writes the output at the memory's rate if it fills the device. Two in
/// two streams take as long as one after the other.
TEST(Engines, AKernelBoundByMemoryMovesItsBytesAtTheMemorysRate) {
  DeviceProfile device = didactic();
  device.device_rate = 0.5e9;
  for (const auto& [workload, bytes] : {std::pair("scale", 8.0), {"vector_add", 12.0}}) {
    for (const int blocks : {0, 3, 6}) {
      Job job = job_of(1, 1, kWithoutTails, workload);
      job.blocks = blocks;
      const double seconds = bytes * kWithoutTails / device.device_rate;
      Recording recording{.job = job};
      streams::Issuer issuer(recording);
      issuer.side_kernel(issuer.create_stream());
      recording.buffer_items = kWithoutTails;
      EXPECT_NEAR(makespan(recording, device, {}), seconds, 1e-9) << workload << ", " << blocks << " blocks";
      EXPECT_NEAR(costs(recording, device).whole_kernel, seconds, 1e-9) << workload << ", " << blocks << " blocks";
      issuer.side_kernel(issuer.create_stream());
      EXPECT_NEAR(makespan(recording, device, {}), 2 * seconds, 1e-9) << workload << ", " << blocks << " blocks";
    }
  }
}

TEST(Engines, BoundsAreTheClosedForms) {
  DeviceProfile device = didactic();
  Job job = job_of(4, 4);
  job.blocks = 6;
  const auto bounds = [&](double in, double kernel, double out) {
    const Recording recording = recorded("depth_first", job);
    return simulator::bounds(recording, device, costs(recording, device, known_of(in, kernel, out)));
  };
  const Bounds two_engines = bounds(6, 2, 4);
  EXPECT_NEAR(two_engines.serial, 12 * kMs, kExact);
  EXPECT_NEAR(two_engines.van_werkhoven, (6 + (2 + 4) / 4.0) * kMs, kExact);
  EXPECT_NEAR(two_engines.pipeline, two_engines.van_werkhoven, kExact);
  device.both = {0.5e9, 0.8e9};
  // Overlapping for x ms, copies in end after 6 + x/2, and then come a kernel and a copy out; the bus is done after
  // 10 - 0.3 x: x is 3.125.
  EXPECT_NEAR(bounds(6, 2, 4).pipeline, (10 - 0.3 * 3.125) * kMs, kExact);
  // The same where copies in hardly slow down: the bus is done later than the way in by no more than they overlap.
  device.both = {0.99e9, 0.8e9};
  EXPECT_NEAR(bounds(6, 2, 4).pipeline, (7.5 + 0.01 * 2.5 / 0.8) * kMs, kExact);
  // Where overlap gains less than it costs, none is best.
  device.both = {0.4e9, 0.5e9};
  EXPECT_NEAR(bounds(6, 2, 4).pipeline, 10 * kMs, kExact);
  device.copy_engines = {{true, true}};
  EXPECT_NEAR(bounds(6, 2, 4).pipeline, 10 * kMs, kExact);
  EXPECT_NEAR(bounds(6, 20, 4).pipeline, (20 + 10 / 4.0) * kMs, kExact);
  device.copy_engines.clear();
  EXPECT_NEAR(bounds(6, 2, 4).pipeline, 12 * kMs, kExact);
  job.items = 2;  // and so two chunks
  EXPECT_NEAR(bounds(6, 2, 4).van_werkhoven, (6 + (2 + 4) / 2.0) * kMs, kExact);
}

/// Nothing runs against the first chunk's copy in, nor against the last one's copy out: of one chunk none does.
TEST(Engines, TheFirstCopyInAndTheLastCopyOutHaveTheBusToThemselves) {
  DeviceProfile device = didactic();
  device.both = {0.9e9, 0.9e9};
  for (const auto& [chunks, together] : {std::pair(1, 0.0), {2, 0.5 / 0.9}, {4, 0.75 / 0.9}}) {
    Job job = job_of(chunks, chunks);
    job.blocks = 6;
    const Recording recording = recorded("depth_first", job);
    const Costs each = costs(recording, device, known_of(10, 0, 10));
    const double bound = (10 + 0.1 * 10 * together + 10.0 / chunks) * kMs;
    EXPECT_NEAR(bounds(recording, device, each).pipeline, bound, kExact) << chunks;
    EXPECT_NEAR(simulate(recording, device, each).timeline.makespan(), bound, kExact) << "and so it is: " << chunks;
  }
}

/// Kernels of chunks that leave slots idle run side by side: seven of a block each take as long as two on six slots,
/// and that is their bound.
TEST(Engines, KernelsOfAPipelineFillEachOthersTails) {
  const Recording recording = recorded("depth_first", job_of(7, 7, 7 * 256));
  const Costs each = costs(recording, didactic(), known_of(0, 8, 0));
  EXPECT_NEAR(simulate(recording, didactic(), each).timeline.makespan(), 8 * kMs, kExact);
  EXPECT_NEAR(bounds(recording, didactic(), each).pipeline, 8 * kMs, kExact);
}

TEST(Engines, TheTimeOfASimulationGrowsAsItsOperationsDo) {
  for (const char* name : {"didactic", "c2050", "h200"}) {
    const DeviceProfile device = device_profile(name);
    for (const char* schedule : {"depth_first", "breadth_first", "double_buffered"}) {
      const auto simulated = [&](int chunks) {
        const Recording recording = recorded(schedule, job_of(chunks, 16, 1 << 26));
        EXPECT_GE(recording.operations.size(), 3u * static_cast<unsigned>(chunks));
        return [&device, recording, each = costs(recording, device)] { simulate(recording, device, each); };
      };
      EXPECT_LT(growth(simulated, 500), kMaxGrowth) << name << ", " << schedule;
    }
  }
  // As many streams, among which is the legacy default stream.
  const auto simulated = [](int chunks) {
    const Recording recording = recorded("null_stream_trap", job_of(chunks, chunks, 1 << 20));
    return [recording, each = costs(recording, didactic())] { simulate(recording, didactic(), each); };
  };
  EXPECT_LT(growth(simulated, 250), kMaxGrowth);
}

TEST(Engines, AnEngineThatCopiedTheOtherWayIsNoSharedQueue) {
  DeviceProfile device = device_profile("c1060");
  device.hardware_queues = 32;
  const Recording recording = recorded("depth_first", job_of(4, 4));
  const Simulation simulation = simulate(recording, device, costs(recording, device, known_of(8, 3, 8)));
  const streams::TimelineAnalysis analysis = analyse(simulation.timeline);
  EXPECT_EQ(analysis.idle(streams::Engine::copy_out, streams::Idle::queue), 0);
  EXPECT_GT(analysis.idle(streams::Engine::copy_out, streams::Idle::other_way), 1 * kMs);
}

/// The rule waits for the moment when the last block starts, not for the end of something.
TEST(Engines, TheRuleForLaunchesEndsWhenTheLastBlockStarts) {
  DeviceProfile device = didactic();
  device.waits_for_started_launches = true;
  ByHand made(1, 2);
  made.issuer.side_kernel(made.streams[0]);
  made.issuer.side_kernel(made.streams[1]);
  made.issuer.copy_out(made.chunks[0], made.streams[0]);
  Costs each{.operations = {{.blocks = 6, .block_seconds = 1 * kMs},  // fills the device once
                            {.blocks = 12, .block_seconds = 2 * kMs},
                            {.copy_seconds = 1 * kMs}}};
  const Simulation simulation = simulate(made.recording, device, each);
  EXPECT_NEAR(simulation.timeline.spans[2].when.start, 3 * kMs, kExact);  // 1 + 2: the second wave of the second kernel
  EXPECT_NEAR(simulation.timeline.makespan(), 5 * kMs, kExact);
}

TEST(Engines, TheOrderInWhichAProfileListsItsEnginesSaysNothing) {
  simulate_random_recordings([](auto& run) {
    std::ranges::reverse(run.device.copy_engines);
    EXPECT_EQ(simulate(run.recording, run.device, run.each).timeline.makespan(), run.simulation.timeline.makespan())
        << run.what;
  });
}

TEST(Engines, AWaitForNothingIsRefused) {
  ByHand made(2, 2);
  const streams::Event event = made.issuer.create_event();
  made.issuer.copy_in(made.chunks[1], made.streams[0]);
  made.issuer.wait(made.streams[1], event);
  made.issuer.compute(made.chunks[1], made.streams[1]);
  made.issuer.record(event, made.streams[0]);
  try {
    simulate(made.recording, didactic(), costs(made.recording, didactic()));
    FAIL() << "it was simulated";
  } catch (const ScheduleError& error) {
    EXPECT_TRUE(has(std::string(error.what()), "the wait of stream 1 for event 0")) << error.what();
  }
}

// ---- profiles

Json didactic_json() { return Json::parse(std::ifstream(SCANLAB_SOURCE "/data/devices/didactic.json")); }

TEST(DeviceProfile, AreAllThere) {
  const std::vector<std::string> names = built_in_profile_names();
  for (const std::string& name : names) {
    EXPECT_EQ(device_profile(name).name, name);
    EXPECT_GE(device_profile(name).sources.size(), 17u) << name << ": every figure that must be there has its source";
  }
  const std::vector<std::string> ours{"a100", "b200", "c1060", "c2050", "didactic", "h200", "k20c", "l40s", "rtx4090"};
  EXPECT_TRUE(std::ranges::includes(names, ours)) << "owners of devices add theirs";
}

/// Profiles of devices that were never measured: the titles, and bounds that no figure of a data sheet may pass.
TEST(DeviceProfile, ThoseFromDataSheetsSayThatNobodyMeasuredThem) {
  for (const auto& [name, bus, memory] :
       {std::tuple{"a100", 31.5, 2039.0}, {"b200", 63.0, 8000.0}, {"l40s", 31.5, 864.0}, {"rtx4090", 31.5, 1008.0}}) {
    const DeviceProfile& profile = device_profile(name);
    EXPECT_TRUE(has(profile.title, "from its data sheet: not measured")) << name;
    EXPECT_LT(profile.alone.in, bus * 1e9) << name;
    EXPECT_LT(profile.both.in + profile.both.out, 2 * bus * 1e9) << name;
    EXPECT_LT(profile.device_rate, memory * 1e9) << name;
    for (const auto& [figure, source] : profile.sources) {
      EXPECT_FALSE(has(source, "measured by")) << name << ": " << figure;
    }
  }
}

TEST(DeviceProfile, BadFiguresAreNamed) {
  const auto expect = [](const std::string& key, const Json& value, const std::string& reason) {
    Json json = didactic_json();
    if (value.is_null()) {
      json["figures"].erase(key);
    } else {
      json["figures"][key] = {{"value", value}, {"source", "told"}};
    }
    try {
      parse_device_profile(json.dump(), "my.json");
      ADD_FAILURE() << key << " " << value << " was taken";
    } catch (const DocumentError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find("my.json: "), 0u) << text;
      EXPECT_TRUE(has(text, "key '" + key));
      EXPECT_TRUE(has(text, reason));
    }
  };
  EXPECT_NO_THROW(parse_device_profile(didactic_json().dump(), "my.json"));
  for (const auto& [key, figure] : didactic_json()["figures"].items()) expect(key, nullptr, "lacks");
  expect("copy_in_gb_per_s", 0, "expected a number above 0 to 1000000, got 0");
  expect("both_in_gb_per_s", 2, "more than copy_in_gb_per_s");
  expect("multiprocessors", 1.5, "expected a whole number from 1 to 1048576, got 1.5");
  expect("resident_blocks", 33, "more than the 32 warps");
  expect("waits_for_started_launches", 1, "expected true or false");
  expect("zebra", 1, "there is no such key");
  const Json kernel{{"workload", "scale"},   {"work", 1},    {"issue_us", 3},
                    {"items", {1024, 2048}}, {"us", {2, 3}}, {"blocks", {4, 8}}};
  const auto kernels = [&](const char* key, const Json& value) {
    Json changed = kernel;
    changed[key] = value;
    return Json::array({changed});
  };
  expect("kernel_times", kernels("us", {2}), "lists of one length");
  expect("kernel_times", kernels("us", {2, 0}), "[0].us[1]': expected a number above 0");
  expect("kernel_times", kernels("us", {3, 2}), "[0].us[1]': the last is less than the one before");
  expect("kernel_times", kernels("items", {2048, 1024}), "[0].items[1]': expected more than the 2048 before");
  expect("kernel_times", kernels("spread", 1), "[0].spread': expected a number from 0 to 0.99, got 1");
  expect("kernel_times", kernels("workload", "nosuch"), "[0].workload': expected one of ");
  expect("copy_engines", Json::array({Json::array({"in"})}), "no engine copies out");
  expect("copy_engines", Json::array({Json::array({"up"})}), "expected one of in, out");
  Json unsourced = didactic_json();
  unsourced["figures"]["issue_us"]["source"] = "";
  EXPECT_THROW(parse_device_profile(unsourced.dump(), "my.json"), DocumentError);
}

/// A multiprocessor has room for so many blocks, and for so many threads.
TEST(DeviceProfile, HoldsAsManyBlocksAsHaveRoom) {
  const DeviceProfile device = device_profile("c2050");  // 14 with 8 blocks or 1536 threads each
  EXPECT_EQ(device.slots(32), 14 * 8);
  EXPECT_EQ(device.slots(192), 14 * 8);
  EXPECT_EQ(device.slots(256), 14 * 6);
  EXPECT_EQ(device.slots(1024), 14);
  EXPECT_EQ(device.slots(2048), 0);
}

/// Rows of a table of measured kernels: its own times at its own sizes, what lies between in proportion, the slope of
/// the last two beyond, and below the first that one, since a kernel of a few items takes as long.
TEST(DeviceProfile, MeasuredKernelsAreLookedUpByTheirItems) {
  const KernelTimes times{.workload = "scale",
                          .work = 1,
                          .call = 0,
                          .rows = {{.items = 100, .seconds = 2e-6, .blocks = 2},
                                   {.items = 200, .seconds = 3e-6, .blocks = 4},
                                   {.items = 400, .seconds = 7e-6, .blocks = 8}}};
  for (const auto& [items, microseconds, blocks] : {std::tuple(100, 2.0, 2),
                                                    {200, 3.0, 4},
                                                    {400, 7.0, 8},  // as they are
                                                    {150, 2.5, 3},
                                                    {250, 4.0, 5},
                                                    {350, 6.0, 7},  // between
                                                    {500, 9.0, 10},
                                                    {800, 15.0, 16},  // beyond
                                                    {1, 2.0, 2},
                                                    {99, 2.0, 2}}) {  // below
    const KernelTimes::Row row = times.at(items);
    EXPECT_NEAR(row.seconds, 1e-6 * microseconds, 1e-15) << items;
    EXPECT_EQ(row.blocks, blocks) << items;
  }
}

/// The table of 1 and of 5 units of work: those of 2 are a quarter of the way from one to the other, size by size.
TEST(DeviceProfile, WorkBetweenTwoTablesIsBetweenTheirTimes) {
  DeviceProfile device = didactic();
  device.kernels = {{.workload = "scale",
                     .work = 1,
                     .call = 1e-6,
                     .rows = {{100, 2e-6, 2}, {200, 4e-6, 4}},
                     .together = 1e-8,
                     .spread = 0.1},
                    {.workload = "scale",
                     .work = 5,
                     .call = 1e-6,
                     .rows = {{100, 6e-6, 2}, {300, 24e-6, 6}},
                     .together = 3e-8,
                     .spread = 0.5},
                    {.workload = "scan", .work = 1, .call = 1e-6, .rows = {{100, 9e-6, 2}}}};
  EXPECT_EQ(device.kernel_times("scan", 1)->rows[0].seconds, 9e-6);
  const KernelTimes two = *device.kernel_times("scale", 2);
  EXPECT_NEAR(two.rows[0].seconds, 3e-6, 1e-15);
  EXPECT_NEAR(two.rows[1].seconds, (4 + 0.25 * (15 - 4)) * 1e-6, 1e-15)
      << "200 items of the other are between its rows";
  EXPECT_NEAR(two.together, 1.5e-8, 1e-15);
  EXPECT_NEAR(two.spread, 0.2, 1e-12);
  EXPECT_FALSE(device.kernel_times("scale", 6)) << "nothing is known of more";
  EXPECT_FALSE(device.kernel_times("vector_add", 1));
}

/// Alone a measured kernel takes what was measured of its size, also as a chunk of a longer job; beside another it
/// takes the share of the device that it leaves idle.
TEST(Engines, MeasuredKernelsTakeWhatWasMeasured) {
  DeviceProfile device = didactic();
  device.kernels = {
      {.workload = "scale",
       .work = 1,
       .call = 0,
       .rows = {{.items = 1000, .seconds = 4e-6, .blocks = 3}, {.items = 4000, .seconds = 16e-6, .blocks = 6}},
       .together = 1e-9}};
  for (const auto& [chunks, microseconds] : {std::pair(1, 16.0), {2, 8.0}, {4, 4.0}}) {
    const Recording recording = recorded("serial_pinned", job_of(chunks, 1, 4000));
    const Costs each = costs(recording, device);
    EXPECT_NEAR(each.whole_kernel, 16e-6, 1e-12) << "however it is cut";
    for (const Span& span : simulate(recording, device, each).timeline.spans) {
      if (recording.operations[span.operation].kind != OperationKind::kernel) continue;
      EXPECT_NEAR(span.when.seconds(), 1e-6 * microseconds, 1e-11) << chunks;
    }
  }
  // Four that use a quarter each, of three blocks, fill the six slots twice; four that use all of it take turns.
  for (const auto& [together, microseconds] : {std::pair(1e-9, 8.0), {4e-9, 16.0}}) {
    device.kernels[0].together = together;
    ByHand made(4, 4, 4000);
    made.recording.buffer_items = 1000;
    for (const streams::Stream stream : made.streams) made.issuer.side_kernel(stream);
    EXPECT_NEAR(makespan(made.recording, device, {}), 1e-6 * microseconds, 1e-11) << together;
  }
}

// ---- the command

cli::Result scanlab_simulate(const std::vector<std::string>& words) {
  return cli::run_program(cli::with({"simulate"}, words));
}

TEST(Simulate, AControlIsCalledSoAndIsNeverTheFastest) {
  const cli::Result control = scanlab_simulate({"three_streams_unordered", "--items", "2^22", "--chunks", "4"});
  EXPECT_EQ(control.status, scanlab::kOk) << control.err;
  EXPECT_TRUE(has(control.out, "a control, whose result is wrong"));
  const cli::Result right = scanlab_simulate({"three_streams", "--items", "2^22", "--chunks", "4"});
  EXPECT_FALSE(has(right.out, "a control"));
  const cli::Result sweep =
      scanlab_simulate({"all", "--sweep", "--chunks", "1,4", "--items", "2^22", "--ratios", "0.1,1"});
  EXPECT_EQ(sweep.status, scanlab::kOk) << sweep.err;
  EXPECT_TRUE(has(sweep.out, "fastest"));
  EXPECT_FALSE(has(sweep.out, "fastest three_streams_unordered"));
  EXPECT_FALSE(has(sweep.out, "fastest null_stream_race"));
}

TEST(Simulate, ComparesOnlyOnAGivenProfileAndWithTheTracesOwnSchedule) {
  expect_error({"simulate", "--compare", "trace.json"}, "--profile");
  expect_error({"simulate", "depth_first", "--profile", "h200", "--compare", "trace.json"},
               "--schedule would have no effect");
  expect_error({"simulate", "--profile", "h200", "--compare", "no_such_trace.json"},
               "no_such_trace.json: cannot be read");
}

TEST(Simulate, PrintsAndWritesATimeline) {
  const TestFolder folder;
  const auto path = folder / "trace.json";
  const cli::Result result =
      scanlab_simulate({"breadth_first", "--profile", "c2050", "--items", "2^22", "--chunks", "4", "--h2d-us", "4000",
                        "--kernel-us", "4000", "--d2h-us", "4000", "--out", path.string(), "--force"});
  EXPECT_EQ(result.status, scanlab::kOk) << result.err;
  EXPECT_TRUE(has(result.out, "makespan 9.07"));
  EXPECT_TRUE(has(result.out, "(launches that had not started)"));
  const Json trace = Json::parse(std::ifstream(path));
  EXPECT_EQ(trace["otherData"]["simulated_on"], "c2050");
  EXPECT_GT(trace["traceEvents"].size(), 24u);
}

TEST(Simulate, ASweepIsSummedUpInOneFile) {
  const TestFolder folder;
  const auto path = folder / "sweep.json";
  const cli::Result result =
      scanlab_simulate({"depth_first,serial_pinned", "--sweep", "--items", "2^22", "--chunks", "1,4", "--streams",
                        "1,4", "--ratios", "0.5,1,2", "--blocks", "6", "--out", path.string(), "--force"});
  ASSERT_EQ(result.status, scanlab::kOk) << result.err;
  EXPECT_TRUE(has(result.out, "24 configurations"));
  EXPECT_TRUE(has(result.out, "compute to copy 1: fastest depth_first, scale: 4194304 items in 4 chunks, 4 streams"));
  const Json sweep = Json::parse(std::ifstream(path));
  EXPECT_EQ(sweep["schema"], "scanlab-simulation-sweep/1");
  EXPECT_EQ(sweep["context"]["simulated_on"], "didactic");
  EXPECT_TRUE(sweep["context"].contains("git_commit") && sweep["context"].contains("argv"));
  ASSERT_EQ(sweep["configurations"].size(), 24u);
  for (const Json& configuration : sweep["configurations"]) {
    const double makespan = configuration["makespan_us"];
    EXPECT_GE(makespan + 1e-3, configuration["van_werkhoven_us"].get<double>()) << configuration;
    EXPECT_LE(makespan, configuration["serial_us"].get<double>() + 1e-3) << configuration;
    if (configuration["schedule"] == "depth_first" && configuration["chunks"] == configuration["streams"]) {
      EXPECT_NEAR(makespan, configuration["bound_us"].get<double>(), 1e-3) << configuration;
    }
    const double ratio = configuration["ratio"];
    const double copy = 4194304 * 4 / 1e9 * 1e6;  // an array at the didactic machine's rate
    EXPECT_NEAR(configuration["serial_us"], (2 + ratio) * copy, 1e-3);
    EXPECT_NEAR(configuration["utilisation"]["kernels"], ratio * copy / makespan, 1e-9);
    EXPECT_NEAR(configuration["utilisation"]["copies in"], copy / makespan, 1e-9);
  }
}

/// A simulated trace is never taken for a measured one, so it loses what says that it is.
void stand_in_for_a_measurement(const std::string& path) {
  std::ifstream file(path);
  Json trace = Json::parse(file);
  file.close();
  trace["otherData"].erase("simulated_on");
  std::ofstream(path) << trace;
}

TEST(Simulate, SaysHowTheDriversQueuesDifferFromTheModels) {
  const TestFolder folder;
  const std::string trace = (folder / "trace.json").string();
  const std::string both = (folder / "both.json").string();
  ASSERT_EQ(scanlab_simulate({"depth_first", "--profile", "h200", "--chunks", "8", "--out", trace, "--force"}).status,
            0);
  stand_in_for_a_measurement(trace);
  const Json original = Json::parse(std::ifstream(trace));
  const auto expect = [&](const std::function<int(const std::string&, int)>& channel, int queues, bool shared,
                          bool order) {
    Json other = original;
    for (Json& event : other["traceEvents"]) {
      if (event["ph"] != "X" || !event["args"].contains("channel")) continue;
      event["args"]["channel"] = channel(event["cat"], event["args"]["chunk"].get<int>() % 4);
    }
    std::ofstream(trace) << other;
    const cli::Result result =
        scanlab_simulate({"--profile", "h200", "--compare", trace, trace, "--out", both, "--force"});
    ASSERT_EQ(result.status, scanlab::kOk) << result.err;
    const Json compared_trace = Json::parse(std::ifstream(both))["traces"][0];
    EXPECT_EQ(compared_trace["copy_queues"], queues);
    EXPECT_EQ(compared_trace["queues_shared_as_modelled"], shared);
    EXPECT_EQ(compared_trace["queues_ordered_as_modelled"], order);
    EXPECT_TRUE(has(result.out, order ? "2 of these in the order" : "0 of these in the order"));
  };
  const int turned[] = {2, 3, 0, 1};
  const int another[] = {0, 2, 1, 3};
  expect([&](const std::string&, int stream) { return turned[stream]; }, 4, true, true);  // whichever comes first
  expect([&](const std::string& lane, int stream) { return lane == "copies out" ? another[stream] : stream; }, 4, true,
         false);
  expect([&](const std::string& lane, int stream) { return lane == "kernels" ? another[stream] : stream; }, 4, true,
         true);  // these do not take turns
  expect([](const std::string& lane, int stream) { return lane == "copies in" ? stream % 3 : stream; }, 4, false,
         false);
}

TEST(Simulate, ComparesTracesWithTheirSimulation) {
  const TestFolder folder;
  const std::string trace = (folder / "trace.json").string();
  const std::string other = (folder / "other.json").string();
  const std::string both = (folder / "both.json").string();
  for (const auto& [file, schedule] : {std::pair{trace, "depth_first"}, std::pair{other, "breadth_first"}}) {
    ASSERT_EQ(scanlab_simulate({schedule, "--profile", "k20c", "--chunks", "6", "--out", file, "--force"}).status, 0);
    stand_in_for_a_measurement(file);
  }
  const cli::Result same = scanlab_simulate({"--profile", "k20c", "--compare", trace, "--out", both, "--force"});
  ASSERT_EQ(same.status, scanlab::kOk) << same.err;
  EXPECT_TRUE(has(same.out, "+0.0%   100%"));
  const Json document = Json::parse(std::ifstream(both));
  std::set<std::string> processes;
  std::size_t errors = 0;
  for (const Json& event : document["traceEvents"]) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
    if (event["args"].contains("start_error_us")) ++errors;
  }
  EXPECT_TRUE(processes.contains("engines, measured") && processes.contains("engines, predicted"));
  EXPECT_GE(errors, 18u);
  const cli::Result apart = scanlab_simulate({"--profile", "c2050", "--compare", trace, other});
  EXPECT_EQ(apart.status, scanlab::kOk) << apart.err;
  EXPECT_TRUE(has(apart.out, "2 traces: error of the makespan"));
  EXPECT_FALSE(has(apart.out, "error of the makespan 0.0%"));

  EXPECT_FALSE(has(apart.out, "repetitions")) << "these traces tell of none";
  Json repeated = Json::parse(std::ifstream(trace));
  repeated["otherData"]["traced_us"] = {1.0, 1.0, 1.0};
  repeated["otherData"]["overlaps"] = {{0, 1, 3}, {1, 2, 2}, {2, 3, 1}};
  std::ofstream(other) << repeated;
  const cli::Result between = scanlab_simulate({"--profile", "k20c", "--compare", trace, other});
  EXPECT_TRUE(has(between.out, "own repetitions: 50.0% between two of them"));

  const auto refused = [&](const std::string& text, const std::string& hint) {
    std::ofstream(other) << text;
    expect_error({"simulate", "--profile", "k20c", "--compare", other, "--out", both + "2"}, hint);
    EXPECT_FALSE(std::filesystem::exists(both + "2"));
  };
  refused(R"({"schema": "scanlab-trace/2", "otherData": {}})", "of a newer Scanlab: update");
  refused(R"({"schema": "scanlab-trace/1", "otherData": {}, "traceEvents": []})", "key 'otherData': lacks the key");
  const Json original = Json::parse(std::ifstream(trace));
  const auto refused_with = [&](const Json& facts, const std::string& hint) {
    Json changed = original;
    changed["otherData"].update(facts);
    refused(changed.dump(), hint);
  };
  refused_with({{"simulated_on", "h200"}}, "key 'otherData.simulated_on': this is no measurement");
  refused_with({{"verified", false}}, "times of wrong results");
  refused_with({{"schedule", "deep_first"}}, "did you mean depth_first");
  refused_with({{"memory", "paged"}}, "key 'otherData.memory': expected one of pinned, pageable");
  refused_with({{"chunks", 3}}, "operation 9 is no copy or kernel of that job");
  refused_with({{"chunks", 7}}, "operation 18 (the copy in of chunk 6, input 0, in stream 2) has no event");
  refused_with({{"plain_us", {1.0, -1.0}}}, "key 'otherData.plain_us[1]': expected a number above 0");
  refused_with({{"traced_us", {1.0, 1.0}}, {"overlaps", {{0, 1}}}},
               "key 'otherData.overlaps[0]': expected two operations");
}

TEST(Simulate, BadInputIsASentence) {
  expect_error({"simulate"}, "simulate takes a schedule");
  expect_error({"simulate", "depth_first", "--profile", "c1600"}, "c1060");
  expect_error({"simulate", "depth_first", "--chunks", "2,4"}, "2 combinations");
  expect_error({"simulate", "depth_first", "--queues", "0"}, "--queues 0: give");
  expect_error({"simulate", "depth_first", "--threads", "0"}, "--threads 0: give");
  expect_error({"simulate", "depth_first", "--kernel-us", "1e30"}, "--kernel-us 1e30: give");
  expect_error({"simulate", "depth_first", "--ratios", "1"}, "add --sweep");
  expect_error({"simulate", "depth_first", "--work", "64"},
               "didactic does not say how long a kernel of scale with work 64 takes");
  expect_error({"simulate", "depth_first", "--sweep", "--work", "1,64"}, "with work 64");
  expect_error({"simulate", "depth_first", "--kernel-us", "1e9"}, "are more than the 1000 that are simulated");
  expect_error({"simulate", "serial", "--items", "2^40", "--chunks", "1"}, "seconds: a time is from 0 to 1000 seconds");
  expect_error({"simulate", "depth_first", "--sweep", "--gap", "5"}, "--gap would have no effect");
  expect_error({"simulate", "depth_first", "--sweep", "--ratios", "1", "--h2d-us", "0", "--d2h-us", "0"},
               "no copy takes time");
  expect_error({"simulate", "depth_first", "--sweep", "--ratios", "1,x"}, "--ratios x: give");
  expect_error({"simulate", "depth_first", "--sweep", "--ratios", "0"}, "--ratios 0: give");
  expect_error({"simulate", "depth_first", "--sweep", "--ratios", "1", "--kernel-us", "1"}, "leave out one");
  expect_error({"simulate", "depth_first", "--sweep", "--out", "/proc/sweep.json"}, "cannot write '/proc/sweep.json'");

  const TestFolder folder;
  const std::vector<std::string> timeless{"simulate", "depth_first", "--h2d-us", "0",     "--kernel-us",
                                          "0",        "--d2h-us",    "0",        "--out", folder / "timeless.json"};
  expect_error(timeless, "--out: nothing in it takes any time");
  expect_error({"simulate", "depth_first", "--items", "0", "--out", folder / "none.json"},
               "nothing in it takes any time");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace scanlab::simulator
