// scanlab streams implicit-sync and concurrency: the formula, the verdicts and the table of claims, without a device;
// and on one, that the method answers its controls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
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
  EXPECT_TRUE(json["documented"].is_null());
  EXPECT_EQ(json["measured"], "no");
  EXPECT_EQ(json["differs"], true);
  EXPECT_EQ(json["trials"], 3);
  EXPECT_EQ(json["seconds"].size(), 3U);
  EXPECT_EQ(json["environment"]["CUDA_LAUNCH_BLOCKING"], "1");
  experiment.expected = Expected::nothing;
  experiment.name = "copy_async_to_host_pageable_large.host";
  EXPECT_EQ(to_json(Finding{&experiment, trials(3, 3)})["documented"], "may");
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
    EXPECT_FALSE(each.claim.empty()) << each.name;
    for (const auto& [work, place] : each.sources) EXPECT_FALSE(work.empty() || place.empty()) << each.name;
    EXPECT_EQ(each.sources.empty(), each.claim == "not said") << each.name;
#ifdef SCANLAB_WITH_CUDA
    EXPECT_TRUE(each.trial) << each.name;
#endif
    EXPECT_TRUE(each.environment.empty() || each.fresh_process) << each.name << ": CUDA has read its variables";
  }
}

TEST(ImplicitSync, EveryDocumentedAnswerIsAboutAnExperiment) {
  for (const std::string& name : implicit_sync::documented_experiments()) {
    EXPECT_NE(std::ranges::find(experiments(), name, &Experiment::name), experiments().end()) << name;
  }
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
