// scanlab streams implicit-sync and concurrency: the formula, the verdicts and the table of claims, without a device;
// and on one, that the method answers its controls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/host/fresh_process.hpp"
#include "harness/implicit_sync/concurrency.hpp"
#include "harness/implicit_sync/findings.hpp"
#include "tests/program.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::cli {
namespace {

using implicit_sync::Answer;
using implicit_sync::Expected;
using implicit_sync::Experiment;
using implicit_sync::experiments;
using implicit_sync::Finding;
using implicit_sync::Trials;
using streams::SmallGrids;

// ---------------------------------------------------------------------------------------------------- the formula

TEST(BlockWaves, TheFluidFormulaMissesTheTail) {
  const SmallGrids grids{.streams = 2, .kernels = 1, .blocks = 50};  // 100 blocks on 40 slots: 2.5, so 3 waves
  EXPECT_DOUBLE_EQ(streams::fluid_seconds(grids, 40, 1e-3), 2.5e-3);
  EXPECT_DOUBLE_EQ(streams::makespan_seconds(grids, 40, 8, 1e-3), 3e-3);
  EXPECT_DOUBLE_EQ(streams::serial_seconds(grids, 40, 1e-3), 4e-3);  // two waves each, half empty
}

/// A device in steps of one block's time: queues hand on their first kernels while those may start, slots take blocks.
double simulated_makespan(const SmallGrids& grids, std::int64_t slots, std::int64_t connections) {
  struct Kernel {
    std::int64_t stream;
    std::int64_t waiting;  ///< blocks that have not started
  };
  std::vector<std::queue<Kernel>> queues(static_cast<std::size_t>(connections));
  for (std::int64_t stream = 0; stream < grids.streams; ++stream) {
    for (std::int64_t i = 0; i < grids.kernels; ++i) {
      queues[static_cast<std::size_t>(stream % connections)].push({stream, grids.blocks});
    }
  }
  double now = 0;
  std::vector<double> busy_until(static_cast<std::size_t>(grids.streams), 0);
  while (true) {
    std::int64_t left = slots;
    bool anything = false;
    for (auto& queue : queues) {
      while (!queue.empty() && left > 0 && busy_until[static_cast<std::size_t>(queue.front().stream)] <= now) {
        Kernel& kernel = queue.front();
        const std::int64_t started = std::min(left, kernel.waiting);
        left -= started;
        kernel.waiting -= started;
        if (kernel.waiting > 0) break;
        busy_until[static_cast<std::size_t>(kernel.stream)] = now + 1;
        queue.pop();
      }
      anything = anything || !queue.empty();
    }
    now += 1;
    if (!anything) return now;
  }
}

TEST(BlockWaves, TheFormulaIsWhatASimulatedDeviceTakes) {
  std::mt19937 random(1);
  const auto up_to = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t slots = up_to(300);
    const SmallGrids flat{.streams = up_to(40), .kernels = 1, .blocks = up_to(400)};
    const std::int64_t connections = up_to(32);
    EXPECT_DOUBLE_EQ(streams::makespan_seconds(flat, slots, connections, 1),
                     simulated_makespan(flat, slots, connections));

    const SmallGrids deep{.streams = up_to(16), .kernels = up_to(6), .blocks = up_to(3)};
    EXPECT_DOUBLE_EQ(streams::makespan_seconds(deep, deep.total_blocks(), connections, 1),
                     simulated_makespan(deep, deep.total_blocks(), connections));
    EXPECT_LE(streams::makespan_seconds(deep, slots, connections, 1), simulated_makespan(deep, slots, connections));
  }
}

TEST(BlockWaves, SharedMemoryLetsAsManyBlocksInAsAskedAndNoMore) {
  constexpr std::size_t kShared = 228 << 10;
  constexpr std::size_t kReserved = 1 << 10;
  for (std::int64_t blocks = 1; blocks <= 32; ++blocks) {
    const std::size_t taken = streams::shared_bytes_for(blocks, kShared, kReserved) + kReserved;
    EXPECT_EQ(kShared / taken, static_cast<std::size_t>(blocks));
  }
}

TEST(BlockWaves, TheStaircaseFitsTheDeviceAndItsQueues) {
  for (const std::int64_t slots : {1, 4, 132, 264}) {
    for (const SmallGrids& grids : streams::staircase(slots)) {
      EXPECT_GE(grids.blocks, 1);
      EXPECT_LE(grids.streams, streams::kMaxStreams);
      EXPECT_LE(grids.streams * grids.kernels, streams::kMaxKernels);
    }
  }
  const std::vector<SmallGrids> all = streams::staircase(132);
  EXPECT_NE(std::ranges::find(all, SmallGrids{.streams = 4, .kernels = 3, .blocks = 8}), all.end());
  EXPECT_NE(std::ranges::find(all, SmallGrids{.streams = 2, .kernels = 1, .blocks = 67}), all.end());
}

// ------------------------------------------------------------------------------------------- verdicts and findings

Trials trials(int yes, int count) {
  return {.yes = yes, .seconds = std::vector<double>(static_cast<std::size_t>(count), 1e-6), .refusal = {}};
}

Answer answer(const Trials& trials) { return Finding{nullptr, trials}.answer(); }

TEST(ImplicitSync, AnAnswerNeedsThreeQuartersOfTheTrials) {
  EXPECT_EQ(answer(trials(15, 15)), Answer::yes);
  EXPECT_EQ(answer(trials(12, 15)), Answer::yes);
  EXPECT_EQ(answer(trials(11, 15)), Answer::unclear);
  EXPECT_EQ(answer(trials(4, 15)), Answer::unclear);
  EXPECT_EQ(answer(trials(3, 15)), Answer::no);
  EXPECT_EQ(answer(trials(0, 1)), Answer::no);
  EXPECT_EQ(answer(trials(0, 0)), Answer::unclear);
  EXPECT_EQ(answer({.yes = 0, .seconds = {}, .refusal = "one device"}), Answer::not_tried);
}

TEST(ImplicitSync, OnlyAClearAnswerAgainstAStatementDiffers) {
  Experiment experiment;
  const auto differ = [&](Expected expected, int yes) {
    experiment.expected = expected;
    return Finding{&experiment, trials(yes, 15)}.differs();
  };
  EXPECT_TRUE(differ(Expected::yes, 0));
  EXPECT_TRUE(differ(Expected::no, 15));
  EXPECT_FALSE(differ(Expected::yes, 15));
  EXPECT_FALSE(differ(Expected::yes, 7));
  EXPECT_FALSE(differ(Expected::nothing, 15));
}

TEST(ImplicitSync, AFindingSaysWhatWasSaidAndKeepsEveryTrial) {
  Experiment experiment;
  experiment.name = "made_up.host";
  experiment.subject = "cudaMadeUp";
  experiment.verb = "blocks";
  experiment.object = "the host";
  experiment.expected = Expected::yes;
  experiment.environment = {{"CUDA_LAUNCH_BLOCKING", "1"}};
  const nlohmann::ordered_json json = to_json(Finding{.experiment = &experiment, .trials = trials(0, 3)});
  EXPECT_EQ(json["statement"], "cudaMadeUp blocks the host");
  EXPECT_EQ(json["stated"], "yes");
  EXPECT_EQ(json["measured"], "no");
  EXPECT_EQ(json["differs"], true);
  EXPECT_EQ(json["trials"], 3);
  EXPECT_EQ(json["seconds"].size(), 3U);
  EXPECT_EQ(json["environment"]["CUDA_LAUNCH_BLOCKING"], "1");
  experiment.expected = Expected::nothing;
  const auto untried =
      to_json(Finding{.experiment = &experiment, .trials = {.yes = 0, .seconds = {}, .refusal = "no"}});
  EXPECT_TRUE(untried["stated"].is_null());
  EXPECT_TRUE(untried["measured"].is_null());
}

// ----------------------------------------------------------------------------------------------- the table of claims

TEST(ImplicitSync, EveryExperimentHasANameAndAStatementOfItsOwnAClaimAndASource) {
  std::set<std::string> names;
  std::set<std::string> statements;
  for (const Experiment& each : experiments()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_TRUE(statements.insert(each.statement()).second) << each.statement();
    EXPECT_FALSE(each.subject.empty() || each.verb.empty() || each.object.empty()) << each.name;
    EXPECT_TRUE(std::ranges::all_of(each.name, [](char c) {
      return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '.';
    })) << each.name;
    EXPECT_FALSE(each.claim.empty()) << each.name;
    for (const auto& [work, place] : each.sources) EXPECT_FALSE(work.empty() || place.empty()) << each.name;
    EXPECT_EQ(each.sources.empty(), each.claim == "not said") << each.name;
#ifdef SCANLAB_WITH_CUDA
    EXPECT_TRUE(each.trial) << each.name;
#endif
    EXPECT_TRUE(each.environment.empty() || each.fresh_process) << each.name << ": CUDA has read its variables";
  }
}

TEST(ImplicitSync, TheControlsComeFirstAndAreStatements) {
  const std::vector<Experiment>& all = experiments();
  EXPECT_EQ(std::ranges::count_if(all, implicit_sync::is_control), 3);
  EXPECT_TRUE(std::ranges::is_partitioned(all, implicit_sync::is_control));
  for (const Experiment& each : all) EXPECT_TRUE(!is_control(each) || each.expected != Expected::nothing) << each.name;
}

// -------------------------------------------------------------------------------------------------------- the commands

TEST(ImplicitSync, WrongWordsAreNamed) {
  expect_error({"streams", "implicit-sync", "--trails", "3"}, "--trials");
  expect_error({"streams", "implicit-sync", "--trials", "0"}, "from 1 to 10000");
  expect_error({"streams", "implicit-sync", "--experiment", "stream_destory"}, "stream_destroy");
  expect_error({"streams", "implicit-sync", "in-fresh-process", "nonsense", "3"}, "says to itself");
}

TEST(Concurrency, WrongNumbersAreNamed) {
  expect_error({"streams", "concurrency", "--streams", "129"}, "from 1 to 128");
  expect_error({"streams", "concurrency", "--streams", "0"}, "from 1 to 128");
  expect_error({"streams", "concurrency", "--blocks", ""}, "--blocks is given an empty word");
  expect_error({"streams", "concurrency", "--streams", "64", "--kernels", "9"}, "576");
  expect_error({"streams", "concurrency", "--queues", "33"}, "--queues 33: give numbers from 1 to 32");
  expect_error({"streams", "concurrency", "--threads", "2000"}, "from 1 to 1024");
  expect_error({"streams", "concurrency", "--queus", "1"}, "--queues");
}

TEST(Concurrency, ACaseKeepsItsRepetitionsBesideTheFormula) {
  const streams::MeasuredGrids measured{
      .grids = {.streams = 4, .kernels = 3, .blocks = 8}, .block_seconds = 1e-3, .makespans = {3.1e-3, 3.2e-3}};
  const auto json = streams::to_json(measured, {}, {.slots = 132, .shared_bytes = 1000}, 1);
  EXPECT_EQ(json["connections"], 1);
  EXPECT_EQ(json["slots"], 132);
  EXPECT_DOUBLE_EQ(json["predicted_seconds"], 9e-3);
  EXPECT_EQ(json["makespan_seconds"].size(), 2U);
}

TEST(FreshProcess, HasItsOwnEnvironmentAndSaysHowItEnded) {
  ::setenv("SCANLAB_TEST_VARIABLE", "outer", 1);
  const auto shell = [](const std::string& script) {
    return run_in_fresh_process({"-c", script}, {{"SCANLAB_TEST_VARIABLE", "inner"}}, "/bin/sh");
  };
  const FreshProcess inner = shell("printf %s \"$SCANLAB_TEST_VARIABLE\"; exit 3");
  EXPECT_EQ(inner.out, "inner");
  EXPECT_EQ(inner.status, 3);
  EXPECT_EQ(shell("kill -9 $$").status, 128 + 9);
  EXPECT_STREQ(std::getenv("SCANLAB_TEST_VARIABLE"), "outer");
  EXPECT_THROW(run_in_fresh_process({}, {}, "/no/such/program"), CommandError);
}

#ifndef SCANLAB_WITH_CUDA
TEST(Streams, ExperimentsWithoutCudaSayWhatTheyNeed) {
  for (const char* const command : {"implicit-sync", "concurrency"}) {
    expect_error({"streams", command}, "needs a CUDA device", kNoDevice);
  }
}
#else
using NeedsGpuStreams = NeedsGpu;

void expect_as_said(const std::string& name) {
  const Experiment& experiment = *std::ranges::find(experiments(), name, &Experiment::name);
  const Finding finding{&experiment, run_experiment(experiment, 5)};
  EXPECT_NE(finding.answer(), Answer::unclear) << name;
  EXPECT_FALSE(finding.differs()) << name;
}

TEST_F(NeedsGpuStreams, TheMethodAnswersItsControls) {
  for (const Experiment& each : experiments()) {
    if (is_control(each)) expect_as_said(each.name);
  }
}

TEST_F(NeedsGpuStreams, WhatTheRuntimePromisesIsFound) {
  for (const char* name : {"kernel_launch", "stream_synchronize.host", "stream_wait_event.streams", "stream_order",
                           "default_stream_kernel.streams", "default_stream_kernel_nonblocking.streams",
                           "event_synchronize_between", "stream_query_tells", "stream_destroyed_at_once"}) {
    expect_as_said(name);
  }
}

TEST_F(NeedsGpuStreams, BlocksComeInWaves) {
  const streams::ConcurrencySettings settings{.block_seconds = 2e-3, .repetitions = 3};
  const streams::Room room = streams::room_for(settings);
  const auto best = [&](const SmallGrids& grids) {
    return std::ranges::min(streams::measure_grids(grids, settings, room).makespans) / settings.block_seconds;
  };
  EXPECT_NEAR(best({.streams = 2, .kernels = 1, .blocks = room.slots / 2}), 1, 0.15);
  EXPECT_NEAR(best({.streams = 2, .kernels = 1, .blocks = room.slots / 2 + 1}), 2, 0.3);
}
#endif

}  // namespace
}  // namespace scanlab::cli
