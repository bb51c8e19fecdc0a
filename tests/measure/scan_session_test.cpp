// Tests how `bench` verifies, calibrates and times in rounds, on a planted backend that records its calls.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/host/interrupt.hpp"
#include "harness/measure/scan_session.hpp"

namespace scanlab::measure {
namespace {

using Outcome = verify::Outcome;

Outcome wrong(const std::string& message) { return {.status = Outcome::Status::failed, .message = message}; }

/// The answers of the planted backend and its recorded calls, by number of items.
struct Planted {
  std::function<double(std::int64_t items, std::int64_t runs)> seconds = [](std::int64_t, std::int64_t) {
    return 1e-3;
  };
  std::function<Outcome(std::int64_t items)> before = [](std::int64_t) { return Outcome{}; };
  std::function<Outcome(std::int64_t items)> after = [](std::int64_t) { return Outcome{}; };

  int verified = 0;
  std::map<std::int64_t, std::vector<std::int64_t>> runs{};  ///< runs of each repetition, the calibration first
};

class PlantedMachine : public ScanBackend {
 public:
  explicit PlantedMachine(Planted& planted) : planted_(planted) {}
  Outcome verify(const TimedCase& timed) override {
    ++planted_.verified;
    return planted_.before(timed.problem().items);
  }
  void inspect(TimedCase& timed) override { timed.kernels = {.launches = 2, .threads = 64, .registers = 40}; }
  Sample time(const TimedCase& timed, std::int64_t runs) override {
    planted_.runs[timed.problem().items].push_back(runs);
    return {.seconds = planted_.seconds(timed.problem().items, runs), .runs = runs, .sm_clock_mhz = 1755};
  }
  Outcome verify_last_run(const TimedCase& timed) override { return planted_.after(timed.problem().items); }
  void run_once(const TimedCase&) override {}

 private:
  Planted& planted_;
};

class ScanSessionOn : public testing::Test {
 protected:
  ScanSessionOn() {
    device_.about.id = "planted";
    device_.backends.cuda = true;
    host_.about.id = "planted_host";
    host_.backends.host = true;
  }
  ~ScanSessionOn() override { std::filesystem::remove(file_); }

  TimedCase timed(const Variant& variant, std::int64_t items, Cache cache = Cache::warm,
                  Launch launch = Launch::stream) const {
    TimedCase each({.variant = &variant, .problem = {}}, cache, launch);
    each.scan.problem.items = items;
    each.name = variant.about.id + "/" + std::to_string(items);
    return each;
  }

  /// Runs a session and returns its cases; `entries_` holds the saved entries.
  std::vector<TimedCase> run(std::vector<TimedCase> cases, int repetitions, const ScanOptions& options) {
    planted_.runs.clear();
    planted_.verified = 0;
    ResultsFile file(file_, {}, true);
    const Backends backends{std::make_unique<PlantedMachine>(planted_), std::make_unique<PlantedMachine>(planted_)};
    Engine engine({}, nullptr, err_, &file);
    for (TimedCase& each : cases) each.repetitions = repetitions;
    ScanSession session(std::move(cases), backends, options, engine);
    session.run();
    entries_ = nlohmann::json::parse(std::ifstream(file_)).at("benchmarks");
    return session.cases();
  }

  InterruptGuard guard_;  // clears an interrupt of an earlier test
  Planted planted_;
  Variant device_;
  Variant host_;
  nlohmann::json entries_;
  std::ostringstream err_;
  std::string file_ =
      (std::filesystem::path(testing::TempDir()) / ("scanlab-session-" + std::to_string(getpid()) + ".json")).string();
};

TEST_F(ScanSessionOn, ATimeIsThatOfOneRun) {
  planted_.seconds = [](std::int64_t, std::int64_t) { return 250e-6; };
  run({timed(device_, 10)}, 2, {.runs = 7});
  ASSERT_EQ(entries_.size(), 2u);
  for (const auto& each : entries_) {
    EXPECT_NEAR(each.at("real_time"), 250e3, 1) << "nanoseconds";
    EXPECT_EQ(each.at("iterations"), 7);
    EXPECT_EQ(each.at("sm_clock_mhz"), 1755);
    EXPECT_EQ(each.at("launches"), 2);
    EXPECT_EQ(each.at("registers"), 40);
    EXPECT_EQ(each.at("verified"), true);
    EXPECT_EQ(each.at("kind"), "scan");
    EXPECT_EQ(each.at("variant"), "planted");
    EXPECT_EQ(each.at("outcome"), "timed");
  }
}

/// As many runs as fill the time that a repetition aims at, and enough of them for a mean.
TEST_F(ScanSessionOn, ARepetitionHasAsManyRunsAsItsTimeAsksFor) {
  const auto runs = [&](const TimedCase& each, double seconds, const ScanOptions& options = {}) {
    planted_.seconds = [=](std::int64_t, std::int64_t) { return seconds; };
    run({each}, 1, options);
    return planted_.runs.at(10).back();
  };
  const TimedCase warm = timed(device_, 10);
  // The baselines of Python are held against the same examples.
  const std::string examples = SCANLAB_SOURCE "/tests/measure/runs_per_sample.json";
  for (const auto& example : nlohmann::json::parse(std::ifstream(examples))) {
    const Cache cache = example.at("cache") == "cold" ? Cache::cold : Cache::warm;
    EXPECT_EQ(runs(timed(device_, 10, cache), example.at("seconds")), example.at("runs")) << example.at("why");
  }
  EXPECT_EQ(runs(warm, 19e-6, {.device_seconds = 1e-3}), 100) << "short ones in hundreds";
  EXPECT_EQ(runs(timed(device_, 10, Cache::warm, Launch::graph), 1e-6), 200) << "a graph holds them all";
  EXPECT_EQ(runs(timed(host_, 10), 1e-3), 50) << "of the host 50 ms";
  EXPECT_EQ(runs(warm, 100e-6, {.seconds = 1e-3}), 10) << "as was asked for";
  EXPECT_EQ(runs(warm, 100e-6, {.runs = 9}), 9) << "as was asked for";
}

TEST_F(ScanSessionOn, ACaseOfLongRunsHasFewRepetitions) {
  planted_.seconds = [](std::int64_t, std::int64_t) { return 1.5; };
  run({timed(device_, 10)}, kRepetitions, {});
  ASSERT_EQ(entries_.size(), static_cast<std::size_t>(kFewRepetitions));
  EXPECT_EQ(entries_[0].at("repetitions"), kFewRepetitions);
  EXPECT_EQ(entries_.back().at("verified"), true);
  run({timed(device_, 10)}, kRepetitions, {.fixed_repetitions = true});
  EXPECT_EQ(entries_.size(), static_cast<std::size_t>(kRepetitions)) << "as was asked for";
}

TEST_F(ScanSessionOn, WhatIsWrongOrImpossibleIsNotTimed) {
  planted_.before = [](std::int64_t items) {
    if (items == 10) return wrong("item 3 is 5");
    if (items == 20) return Outcome{.status = Outcome::Status::skipped, .message = "no room", .out_of_memory = true};
    return Outcome{};
  };
  std::vector<TimedCase> cases{timed(device_, 10), timed(device_, 20), timed(device_, 30), timed(device_, 40)};
  cases[2].bound.plan = Plan::refuse("takes no 30");
  const auto all = run(cases, 2, {.runs = 1});
  EXPECT_EQ(all[0].state, TimedCase::State::failed);
  EXPECT_EQ(all[1].state, TimedCase::State::skipped);
  EXPECT_TRUE(all[1].out_of_memory);
  EXPECT_EQ(all[2].state, TimedCase::State::skipped);
  EXPECT_FALSE(all[2].out_of_memory);
  EXPECT_EQ(all[3].state, TimedCase::State::timed);
  EXPECT_EQ(planted_.verified, 3) << "what it refuses is not run";
  ASSERT_EQ(planted_.runs.size(), 1u);
  ASSERT_EQ(entries_.size(), 5u) << "problem by problem";
  EXPECT_EQ(entries_[0].at("error_message"), "verification failed: item 3 is 5");
  EXPECT_EQ(entries_[1].at("error_message"), "no room");
  EXPECT_EQ(entries_[2].at("error_message"), "takes no 30");
  for (const int untimed : {0, 1, 2}) EXPECT_EQ(entries_[untimed].at("verified"), false);
  EXPECT_EQ(entries_[0].at("outcome"), "failed");
  EXPECT_EQ(entries_[1].at("outcome"), "skipped");
  EXPECT_NE(err_.str().find("planted/10 failed: verification failed: item 3 is 5"), std::string::npos) << err_.str();
}

TEST_F(ScanSessionOn, TheLastRunOfACaseIsVerifiedWhicheverThatIs) {
  planted_.after = [](std::int64_t items) { return items == 10 ? wrong("item 4 is 6") : Outcome{}; };
  const auto all = run({timed(device_, 10), timed(device_, 20)}, 6, {.runs = 1});
  EXPECT_EQ(all[0].state, TimedCase::State::failed);
  EXPECT_EQ(all[0].reason, "after its last timed run: item 4 is 6");
  EXPECT_EQ(entries_.size(), 12u) << "of each six";
  EXPECT_EQ(all[1].state, TimedCase::State::timed);
  EXPECT_TRUE(all[1].verified);
}

TEST_F(ScanSessionOn, WhatACaseLacksOrThrowsEndsNoOther) {
  planted_.seconds = [](std::int64_t items, std::int64_t) {
    if (items == 10) throw LacksMemory("out of GPU memory");
    if (items == 20) throw std::runtime_error("launching: no");
    return 1e-3;
  };
  const auto all = run({timed(device_, 10), timed(device_, 20), timed(device_, 30)}, 2, {.runs = 1});
  EXPECT_EQ(all[0].state, TimedCase::State::skipped);
  EXPECT_TRUE(all[0].out_of_memory);
  EXPECT_EQ(all[1].state, TimedCase::State::failed);
  EXPECT_EQ(all[1].reason, "launching: no");
  EXPECT_EQ(all[2].nanoseconds.size(), 2u);
}

TEST_F(ScanSessionOn, ALostDeviceEndsTheRunAndItsRepetitionIsKept) {
  planted_.seconds = [](std::int64_t, std::int64_t runs) -> double {
    if (runs == 5) throw verify::DeviceLost("the device is lost");
    return 2e-3;
  };
  EXPECT_THROW(run({timed(device_, 10), timed(device_, 20)}, 2, {.runs = 5}), verify::DeviceLost);
  entries_ = nlohmann::json::parse(std::ifstream(file_)).at("benchmarks");
  ASSERT_EQ(entries_.size(), 1u);
  EXPECT_EQ(entries_[0].at("error_message"), "the device is lost");
}

}  // namespace
}  // namespace scanlab::measure
