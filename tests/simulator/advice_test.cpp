// scanlab advise: what it says is what simulating every choice says, and when streams are not worth it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "harness/advice/advice.hpp"
#include "harness/cli/command.hpp"
#include "harness/results/provenance.hpp"
#include "harness/schedule/issuer.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::simulator {
namespace {

using streams::Job;

Job scale(std::int64_t items) {
  return {.workload = streams::WorkloadRegistry::instance().find("scale"), .items = items};
}

double simulated(const streams::Schedule& schedule, Job job, int chunks, int streams, const DeviceProfile& device,
                 const KnownTimes& known) {
  job.chunks = chunks;
  job.streams = streams;
  const streams::Recording recording = record(schedule, job);
  return simulate(recording, device, costs(recording, device, known)).seconds;
}

TEST(Advice, IsTheFastestOfAllChoices) {
  std::mt19937 random(3);
  const auto some_ms = [&] { return 1e-3 * static_cast<double>(random() % 20); };
  const SearchSpace space = usual_choices();
  ASSERT_GE(space.schedules.size(), 4u);
  for (const char* name : {"c1060", "c2050", "k20c", "h200", "rtx4090"}) {
    const DeviceProfile device = device_profile(name);
    const KnownTimes known{.copy_in = some_ms(), .kernel = some_ms(), .copy_out = some_ms()};
    const Advice advice = advise(scale(1 << 22), device, known, space);
    double least = std::numeric_limits<double>::infinity();
    for (const streams::Schedule* schedule : space.schedules) {
      for (const int chunks : space.chunks) {
        for (const int streams : space.streams) {
          least = std::min(least, simulated(*schedule, scale(1 << 22), chunks, streams, device, known));
        }
      }
    }
    EXPECT_EQ(advice.best().seconds, least) << name;
    std::set<std::tuple<const streams::Schedule*, int, int>> different;
    std::size_t double_buffered = 0;
    for (const ScheduleChoice& choice : advice.choices) {
      different.emplace(choice.schedule, choice.chunks, choice.streams);
      if (choice.schedule->about.id != "double_buffered") continue;
      ++double_buffered;
      EXPECT_EQ(choice.streams, 3) << "whatever is asked for";
    }
    EXPECT_EQ(different.size(), advice.choices.size()) << "each once";
    EXPECT_EQ(double_buffered, space.chunks.size());
    EXPECT_GE(advice.best().seconds, advice.bound) << name;
    EXPECT_EQ(advice.serial.seconds, simulated(*streams::ScheduleRegistry::instance().find("serial_pinned"),
                                               scale(1 << 22), 1, 1, device, known));
  }
}

/// Equal thirds on two copy engines gain; a kernel that outlasts its copies, a device that overlaps nothing, and a
/// problem of a few kilobytes do not.
TEST(Advice, SaysWhenStreamsAreNotWorthIt) {
  const DeviceProfile h200 = device_profile("h200");
  const SearchSpace space = usual_choices();
  const auto advised = [&](const DeviceProfile& device, std::int64_t items, double in, double kernel, double out) {
    return advise(scale(items), device, {.copy_in = in, .kernel = kernel, .copy_out = out}, space);
  };
  const Advice thirds = advised(h200, 1 << 26, 5e-3, 5e-3, 5e-3);
  EXPECT_TRUE(thirds.worth_it());
  EXPECT_GT(thirds.gain(), 2);
  EXPECT_GT(thirds.best().chunks, 4);
  EXPECT_FALSE(advised(h200, 1 << 26, 1e-4, 50e-3, 1e-4).worth_it());
  // A gain of 2.5% is less than the difference between two runs.
  const Advice little = advised(h200, 1 << 26, 1e-3, 40e-3, 1e-3);
  EXPECT_LT(little.best().seconds, 0.98 * little.whole.seconds);
  EXPECT_FALSE(little.worth_it());
  EXPECT_EQ(little.advised().chunks, 1);
  EXPECT_EQ(little.advised().seconds, little.whole.seconds);
  for (const streams::Schedule* schedule : space.schedules) EXPECT_FALSE(schedule->about.control) << schedule->about.id;
  EXPECT_FALSE(advised(h200, 1 << 10, 1e-7, 1e-6, 1e-7).worth_it());
  DeviceProfile alone = h200;
  alone.copy_engines.clear();
  EXPECT_FALSE(advised(alone, 1 << 26, 5e-3, 5e-3, 5e-3).worth_it());
}

cli::Result scanlab_advise(const std::vector<std::string>& words) {
  return cli::run_program(cli::with({"advise"}, words));
}

/// An entry of `streams run`: a choice for 2^24 items.
nlohmann::ordered_json a_run(const nlohmann::ordered_json& choice, double nanoseconds) {
  return {{"run_name", "any"},
          {"schedule", choice["schedule"]},
          {"workload", "scale"},
          {"items", 1 << 24},
          {"chunks", choice["chunks"]},
          {"streams", choice["streams"]},
          {"memory", "pinned"},
          {"work", 1},
          {"blocks", 0},
          {"real_time", nanoseconds},
          {"verified", true}};
}

/// A sweep of two choices; the model prefers the first, whatever was measured.
nlohmann::ordered_json measured(double deep_ns, double serial_ns) {
  const auto run = [](const std::string& schedule, int chunks, double nanoseconds) {
    return a_run({{"schedule", schedule}, {"chunks", chunks}, {"streams", 4}}, nanoseconds);
  };
  return {{"benchmarks", {run("depth_first", 16, deep_ns), run("serial_pinned", 1, serial_ns)}}};
}

/// Advice leaves out schedules that do not copy, compute and copy back.
TEST(Advice, IsNoScheduleThatDoesNotDoTheJob) {
  EXPECT_TRUE(does_the_job_alone(*streams::ScheduleRegistry::instance().find("depth_first")));
  const auto without_copies_in = [](streams::Issuer& issuer, const streams::Job&) {
    const streams::Stream stream = issuer.create_stream();
    for (const streams::Chunk& chunk : issuer.chunks()) {
      issuer.compute(chunk, stream);
      issuer.copy_out(chunk, stream);
    }
  };
  EXPECT_FALSE(does_the_job_alone({.issue = without_copies_in}));
}

TEST(Advise, NamesNoScheduleWhereNoneIsWorthIt) {
  const cli::Result large = scanlab_advise(
      {"--profile", "h200", "--bytes-in", "2^26", "--bytes-out", "2^20", "--kernel-us", "100000", "--show", "0"});
  ASSERT_EQ(large.status, scanlab::kOk) << large.err;
  EXPECT_TRUE(has(large.out, "kernel 100.000 ms;")) << "as it was given";
  EXPECT_TRUE(has(large.out, "\nstreams are not worth it, leave it in one piece: 101."));
  EXPECT_TRUE(has(large.out, "the kernel is 99% of the work"));
  EXPECT_FALSE(has(large.out, "chunk"));

  const cli::Result small =
      scanlab_advise({"--profile", "h200", "--bytes-in", "2^10", "--bytes-out", "2^10", "--kernel-us", "3"});
  EXPECT_TRUE(has(small.out, "kernel 3.000 µs;"));
  EXPECT_FALSE(has(small.out, "0.000 ms"));
  EXPECT_TRUE(has(small.out, "calls and latencies take most of the time"));

  const cli::Result worth = scanlab_advise(
      {"--profile", "h200", "--bytes-in", "2^28", "--bytes-out", "2^28", "--kernel-us", "4000", "--show", "0"});
  EXPECT_TRUE(has(worth.out, " chunks, "));
}

/// The advised choice has chunks if they are worth it, and is the whole otherwise. The bound is at least the work of
/// each engine, where one engine copies both ways one after another.
TEST(Advice, ItsBoundHasEveryEngineDoOneThingAtOnce) {
  const SearchSpace space = usual_choices();
  const auto advised = [&](const std::vector<CopyEngine>& engines, double in, double kernel, double out) {
    DeviceProfile device = device_profile("h200");
    device.copy_engines = engines;
    return advise(scale(1 << 26), device, {.copy_in = in, .kernel = kernel, .copy_out = out}, space);
  };
  const std::vector<CopyEngine> shared_engine{{true, true}};
  const std::vector<CopyEngine> separate_engines{{true, false}, {false, true}};
  EXPECT_GE(advised(shared_engine, 5e-3, 1e-3, 4e-3).bound, 9e-3 * (1 - 1e-9));
  EXPECT_LT(advised(separate_engines, 5e-3, 1e-3, 4e-3).bound, 7e-3);
  EXPECT_GE(advised(separate_engines, 5e-3, 1e-3, 4e-3).bound, 5e-3 * (1 - 1e-9));
  EXPECT_GE(advised(separate_engines, 1e-3, 8e-3, 1e-3).bound, 8e-3 * (1 - 1e-9));
  EXPECT_GE(advised({}, 5e-3, 1e-3, 4e-3).bound, 10e-3 - 1e-9);
  // Two chunks may take less than 256 of a block each, which six slots have to take in turns.
  const Advice few =
      advise(scale(1 << 12), device_profile("didactic"), {.copy_in = 1e-3, .kernel = 9e-3, .copy_out = 1e-3}, space);
  EXPECT_GE(few.best().seconds, few.bound);
  EXPECT_GE(few.bound, 9e-3 * (1 - 1e-9));
  for (const auto& engines : {shared_engine, separate_engines}) {
    for (const auto& [in, kernel, out] : {std::array{5e-3, 1e-3, 4e-3}, {1e-3, 8e-3, 1e-3}, {2e-3, 2e-3, 2e-3}}) {
      const Advice advice = advised(engines, in, kernel, out);
      EXPECT_GE(advice.best().seconds, advice.bound);
      EXPECT_LT(advice.best().seconds, 1.15 * advice.bound) << "or the bound says little";
      EXPECT_EQ(advice.advised().chunks > 1, advice.worth_it());
      EXPECT_NEAR(advice.parts.kernel, kernel, 1e-9);
      EXPECT_NEAR(advice.parts.copy_in + advice.parts.copy_out, in + out, 1e-9);
    }
  }
}

TEST(Advise, IsHeldAgainstASweep) {
  const TestFolder folder;
  const auto path = folder / "sweep.json";
  const auto against = [&](const nlohmann::ordered_json& sweep) {
    std::ofstream(path) << sweep;
    return scanlab_advise({"--profile", "h200", "--against", path.string()});
  };
  EXPECT_TRUE(has(against(measured(1e6, 2e6)).out, "1 problems: what is advised took 0.0% longer"));
  const cli::Result wrong = against(measured(3e6, 2e6));
  EXPECT_EQ(wrong.status, scanlab::kOk) << wrong.err;
  EXPECT_TRUE(has(wrong.out, "took 50.0% longer than the fastest in the median"));
  EXPECT_TRUE(has(wrong.out, "2 configurations: error of the prediction"));
  // A schedule that makes three streams was measured once for each number that was asked for: it is one choice.
  auto sweep = measured(1e6, 2e6);
  for (const int streams : {2, 4, 8}) {
    sweep["benchmarks"].push_back(sweep["benchmarks"][0]);
    sweep["benchmarks"].back().update({{"schedule", "double_buffered"}, {"streams", streams}, {"buffers", 2}});
  }
  EXPECT_TRUE(has(against(sweep).out, "3 configurations: error of the prediction"));
  EXPECT_EQ(against({{"benchmarks", nlohmann::ordered_json::array()}}).status, scanlab::kBadInput);
  auto unverified = measured(1, 1);
  for (auto& entry : unverified["benchmarks"]) entry["verified"] = false;
  EXPECT_TRUE(has(against(unverified).err, "no schedule was measured from pinned memory"));
}

/// The score is that of the advised choice, not of the first one that ties with it; a missing measurement is reported.
TEST(Advise, WhatIsScoredIsWhatIsSaid) {
  const TestFolder folder;
  const std::string sweep = (folder / "sweep.json").string();
  const std::string json_file = (folder / "advice.json").string();
  using Json = nlohmann::ordered_json;
  const auto read = [&] { return Json::parse(std::ifstream(json_file)); };
  ASSERT_EQ(scanlab_advise({"--profile", "h200", "--workload", "scale", "--items", "2^24", "--json", json_file}).status,
            0);
  const Json choices = read()["choices"];
  const auto same_time = [&](const Json& choice) {
    return std::abs(choice["predicted_us"].get<double>() / choices[0]["predicted_us"].get<double>() - 1) < 1e-9;
  };
  const auto last = std::find_if_not(choices.begin(), choices.end(), same_time);
  ASSERT_GE(last - choices.begin(), 2) << "the test wants choices that tie";
  const auto against = [&](const Json& runs) {
    std::ofstream(sweep) << Json{{"benchmarks", runs}};
    return scanlab_advise({"--profile", "h200", "--against", sweep, "--json", json_file, "--force"});
  };

  Json runs{a_run(*last, 9e6), a_run(choices[1], 1e6), a_run(choices[0], 1.5e6)};
  const cli::Result measured = against(runs);
  ASSERT_EQ(measured.status, scanlab::kOk) << measured.err;
  EXPECT_TRUE(has(measured.out, "2 that were measured tie by the prediction: 0.0% to 50.0% slower"));
  EXPECT_FALSE(has(measured.out, "was not measured"));
  Json problem = read()["problems"][0];
  EXPECT_EQ(problem["stated_was_measured"], true);
  for (const char* key : {"schedule", "chunks", "streams"}) EXPECT_EQ(problem["advised"][key], choices[0][key]);
  EXPECT_NEAR(problem["slower"], 0.5, 1e-9);
  EXPECT_EQ(problem["copied_bytes"], 2.0 * (1 << 26));
  EXPECT_GE(problem["worst_error"], problem["median_error"]);

  runs.erase(2);
  const cli::Result tie = against(runs);
  EXPECT_TRUE(has(tie.out, "which was not measured: this ties with it"));
  EXPECT_EQ(read()["problems"][0]["stated_was_measured"], false);
  runs.erase(1);
  const cli::Result other = against(runs);
  EXPECT_TRUE(has(other.out, "which was not measured: this is the best that was, predicted"));
}

TEST(Advise, BadInputIsASentence) {
  expect_error({"advise"}, "advise takes --bytes-in");
  expect_error({"advise", "--profile", "h2000", "--bytes-in", "2^20", "--kernel-us", "0"}, "h200");
  expect_error({"advise", "--profile", "h200", "--bytes-in", "2^20", "--workload", "scale"}, "advise takes --bytes-in");
  expect_error({"advise", "--profile", "h200", "--kernel-us", "10"}, "nothing to copy");
  expect_error({"advise", "--profile", "h200", "--bytes-in", "2^20"}, "--kernel-us is missing: give");
  EXPECT_EQ(scanlab_advise({"--profile", "h200", "--bytes-in", "3", "--kernel-us", "0"}).status, scanlab::kOk);
  expect_error({"advise", "--profile", "h200", "--bytes-in", "2^20", "--kernel-us", "-1"}, "--kernel-us -1: give");
  expect_error({"advise", "--profile", "h200", "--bytes-in", "2^20", "--kernel-us", "1e30"}, "--kernel-us 1e30: give");
  expect_error({"advise", "--profile", "h200", "--workload", "skale", "--items", "2^20"}, "scale");
  expect_error(
      {"advise", "--profile", "h200", "--workload", "scale", "--items", "2^20", "--work", "512"},
      "h200 does not say how long a kernel of scale with work 512 takes: take a profile of 'scanlab calibrate'");
  expect_error({"advise", "--profile", "h200", "--bytes-in", "2^20", "--work", "9"}, "--work would have no effect");
}

TEST(Advise, WithoutAProfileMeasuresTheDeviceAndSaysWithoutOneThatItNeedsOne) {
  std::string refusal;
  if (measure::device_facts(refusal)) GTEST_SKIP() << "here it would measure";
  expect_error({"advise", "--bytes-in", "2^28", "--kernel-us", "9"}, "--profile", scanlab::kNoDevice);
}

TEST(Advise, SaysAndWritesTheChoice) {
  const TestFolder folder;
  const auto path = folder / "advice.json";
  const cli::Result result = scanlab_advise({"--profile", "h200", "--bytes-in", "2^28", "--bytes-out", "2^28",
                                             "--kernel-us", "4000", "--json", path.string(), "--force"});
  ASSERT_EQ(result.status, scanlab::kOk) << result.err;
  EXPECT_TRUE(has(result.out, "times as fast as serial"));
  EXPECT_TRUE(has(result.out, "device memory that it takes: 0.5 GiB")) << "2^29 bytes\n";
  const auto json = nlohmann::json::parse(std::ifstream(path));
  EXPECT_EQ(json["worth_it"], true);
  EXPECT_LE(json["choices"][0]["predicted_us"], json["choices"][1]["predicted_us"]);
  EXPECT_GE(json["choices"][0]["predicted_us"], json["bound_us"]);
  EXPECT_EQ(json["bytes_in"], 1 << 28);
  for (const char* field : {"schedule", "workload", "items", "chunks", "streams", "memory", "work", "blocks"}) {
    EXPECT_TRUE(json["advised"].contains(field)) << field;
  }
}

}  // namespace
}  // namespace scanlab::simulator
