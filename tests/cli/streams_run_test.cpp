// scanlab streams run, trace and diagnose: their words without a device; and on one, what they write and say.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/selection/sweeps.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::cli {
namespace {

Result scanlab_streams(const std::vector<std::string>& words) { return run_program(with({"streams"}, words)); }

TEST(StreamsRun, NamesItsCases) {
  const Result result =
      scanlab_streams({"run", "depth_first", "double_buffered", "--items", "100", "--chunks", "4,200", "--streams", "2",
                       "--work", "1,3", "--blocks", "8", "--workload", "feistel", "--benchmark_list_tests"});
  EXPECT_EQ(result.status, kOk);
  std::string expected;
  for (const std::string chunks : {"4", "200"}) {
    for (const std::string work : {"1", "3"}) {
      const std::string job =
          "/workload:feistel/items:100/chunks:" + chunks + "/streams:2/memory:pinned/work:" + work + "/blocks:8";
      expected += "streams/schedule:depth_first" + job + "\nstreams/schedule:double_buffered" + job + "/buffers:2\n";
    }
  }
  EXPECT_EQ(result.out, expected);
  // Values of an option that a schedule ignores add no cases.
  const Result once = scanlab_streams({"run", "depth_first", "--buffers", "2,3,4", "--benchmark_list_tests"});
  EXPECT_EQ(std::ranges::count(once.out, '\n'), 1);
}

TEST(StreamsRun, BadInputIsASentence) {
  expect_error({"streams", "run"}, "run takes a schedule");
  expect_error({"streams", "run", "depth_first", "--benchmark_repetitions=0"},
               "--benchmark_repetitions=0: give 1 or more");
  expect_error({"streams", "run", "--sweep", "fast"}, "there is no sweep 'fast'; known: full, quick");
  expect_error({"streams", "run", "--sweep", "quick", "--chunks", "3"}, "a sweep sets --chunks itself");
  expect_error({"streams", "run", "graph", "--sweep", "quick", "--workload", "scan"}, "no case of the sweep is left");
  expect_error({"streams", "run", "depth_first", "--benchmark_filter=nothing"},
               "Failed to match any benchmarks against regex: nothing");
  expect_error({"streams", "run", "depth_first", "--benchmark_min_time=1"},
               "--benchmark_min_time would have no effect");
  expect_error({"streams", "run", "depth_first", "--chunks", "0"}, "0 chunks are not enough");
  expect_error({"streams", "trace"}, "trace takes a schedule");
  expect_error({"streams", "trace", "depth_first", "--chunks", "2,4"},
               "these are 2 timelines: give a folder for them with --out FOLDER");
  expect_error({"streams", "trace", "depth_first", "--repetitions", "0"}, "--repetitions 0: give");
  expect_error({"streams", "trace", "depth_first", "--gap", "-1"}, "--gap -1: give");
  expect_error({"streams", "diagnose"}, "diagnose takes one schedule, or two");
  expect_error({"streams", "diagnose", "all"}, "14 combinations");
}

/// Behaviour of a fake device, and the replays that it was asked for.
struct Planted {
  std::function<measure::ScheduleSample(const streams::Recording&, int before)> repeat = [](const streams::Recording&,
                                                                                            int) {
    return measure::ScheduleSample{.host_seconds = 2e-3, .device_seconds = 1.5e-3};
  };
  std::function<double()> copy = [] { return 1e-3; };
  std::int64_t host_room = std::numeric_limits<std::int64_t>::max();  ///< items

  std::vector<std::int64_t> filled{};  ///< items
  std::vector<std::uint64_t> seeds{};  ///< likewise
  std::map<int, int> repetitions{};    ///< by the number of chunks
};

class PlantedDevice : public measure::ScheduleBackend {
 public:
  explicit PlantedDevice(Planted& planted) : planted_(planted) {}

  std::size_t fill(const streams::Job& job, std::uint64_t seed) override {
    if (job.items > planted_.host_room) throw std::bad_alloc();
    planted_.filled.push_back(job.items);
    planted_.seeds.push_back(seed);
    return static_cast<std::size_t>(job.items) * job.workload->about.item_bytes();
  }
  double copy_seconds(streams::Direction, std::size_t, bool) override { return planted_.copy(); }
  double kernel_seconds(const streams::Job&) override { return 1e-4; }
  measure::ScheduleSample sample(const streams::Recording& recording) override {
    return planted_.repeat(recording, planted_.repetitions[recording.job.chunks]++);
  }
  double sm_clock_mhz() override { return 1980; }

 private:
  Planted& planted_;
};

class StreamsRunOn : public testing::Test {
 protected:
  Result run(std::vector<std::string> words) {
    words.insert(words.end(), {"--out", file_, "--force"});
    std::ostringstream out;
    std::ostringstream err;
    Context context{out, err, {}};
    const auto open = [&](const Context&) {
      return StreamsLab{{{"device", "planted"}}, std::make_unique<PlantedDevice>(planted_)};
    };
    const int status = streams_run(words, context, open);
    return {status, out.str(), err.str()};
  }

  /// Entries of the results file whose name begins with `prefix`: schedules, or parts.
  std::vector<nlohmann::json> entries(const std::string& prefix = "streams/schedule:") const {
    std::vector<nlohmann::json> all;
    const auto results = nlohmann::json::parse(std::ifstream(file_));
    for (const auto& each : results.at("benchmarks")) {
      if (each.at("name").get<std::string>().starts_with(prefix)) all.push_back(each);
    }
    return all;
  }

  Planted planted_;
  TestFolder folder_;
  std::string file_ = folder_ / "results.json";
};

TEST_F(StreamsRunOn, HasTheHostsTimeAndTheDevices) {
  planted_.repeat = [](const streams::Recording&, int before) {
    return measure::ScheduleSample{
        .host_seconds = 2e-3 + 1e-3 * before, .device_seconds = 1e-3 + 1e-3 * before, .sm_clock_mhz = 1755};
  };
  const Result result = run({"depth_first", "--items", "3000000", "--chunks", "4", "--benchmark_repetitions=3"});
  EXPECT_EQ(result.status, kOk) << result.err;
  const auto all = entries();
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_DOUBLE_EQ(all[i].at("real_time"), 2e6 + 1e6 * static_cast<double>(i));
    EXPECT_EQ(all[i].at("time_unit"), "ns");
    EXPECT_DOUBLE_EQ(all[i].at("device_time_ms"), 1 + static_cast<double>(i));
    EXPECT_EQ(all[i].at("sm_clock_mhz"), 1755);
    EXPECT_EQ(all[i].at("round"), i);
    EXPECT_EQ(all[i].at("verified"), true);
    EXPECT_EQ(all[i].at("items"), 3000000);
    EXPECT_EQ(all[i].at("bytes"), 24000000) << "in and out";
    EXPECT_EQ(all[i].at("inputs"), 1);
    EXPECT_EQ(all[i].at("operations"), 12);
    EXPECT_EQ(all[i].at("buffers"), 4);
  }
  EXPECT_TRUE(has(result.out, "3000 us")) << "the median\n";
  EXPECT_TRUE(has(result.out, "device_time_ms=2"));
  for (const auto& part : entries("streams/copy:")) EXPECT_FALSE(part.contains("device_time_ms"));
}

TEST_F(StreamsRunOn, WithoutWorkThereIsNothingBetweenEvents) {
  planted_.repeat = [](const streams::Recording&, int) { return measure::ScheduleSample{.host_seconds = 1e-6}; };
  const Result result = run({"depth_first", "--items", "0", "--benchmark_repetitions=1"});
  EXPECT_EQ(result.status, kOk) << result.err;
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_FALSE(entries()[0].contains("device_time_ms"));
  EXPECT_FALSE(entries()[0].contains("sm_clock_mhz"));
  EXPECT_TRUE(entries("streams/copy:").empty());
  EXPECT_TRUE(entries("streams/kernel:").empty());
}

TEST_F(StreamsRunOn, HasThePartsOfEveryGroupOnceARound) {
  const Result result = run({"depth_first", "breadth_first", "--items", "1000,2^29", "--chunks", "4",
                             "--benchmark_repetitions=2", "--memory", "pinned,pageable", "--seed", "7"});
  EXPECT_EQ(result.status, kOk) << result.err;
  EXPECT_EQ(planted_.filled, (std::vector<std::int64_t>{1000, 1000, 1 << 29, 1 << 29})) << "two schedules share them";
  EXPECT_EQ(planted_.seeds, (std::vector<std::uint64_t>(4, 7)));
  std::map<std::string, int> rounds;
  for (const auto& each : entries("streams/")) {
    const std::string name = each.at("name");
    if (!name.starts_with("streams/schedule:")) {
      ++rounds[name];
      EXPECT_EQ(each.at("sm_clock_mhz"), 1980) << name;
    }
  }
  std::map<std::string, int> expected;
  for (const std::string bytes : {"4000", "1073741824"}) {  // of an array of 2 GiB half
    for (const std::string copy : {"h2d", "d2h"}) {
      for (const std::string memory : {"pinned", "pageable"}) {
        expected["streams/copy:" + copy + "/bytes:" + bytes + "/memory:" + memory] = 2;
      }
      expected["streams/copy:duplex_" + copy + "/bytes:" + bytes + "/memory:pinned"] = 2;
    }
  }
  for (const std::string items : {"250", "134217728"}) {
    expected["streams/kernel:scale/items:" + items + "/work:1/blocks:0"] = 2;
  }
  EXPECT_EQ(rounds, expected);
}

TEST_F(StreamsRunOn, AWrongOutputIsNotTimedFurther) {
  planted_.repeat = [](const streams::Recording& recording, int before) {
    const bool wrong = recording.job.chunks == 4 && before == 1;
    return measure::ScheduleSample{.host_seconds = 1e-3, .device_seconds = 1e-3, .wrong = wrong ? "item 3 is 5" : ""};
  };
  const Result result = run({"depth_first", "--items", "1000", "--chunks", "4,5", "--benchmark_repetitions=4"});
  EXPECT_EQ(result.status, kFailed);
  EXPECT_EQ(planted_.repetitions, (std::map<int, int>{{4, 2}, {5, 4}}));
  EXPECT_TRUE(has(result.out, "FAILED 1 case: verification failed: item 3 is 5"));
  EXPECT_TRUE(has(result.err, "failed: verification failed: item 3 is 5"));
  int wrong = 0;
  for (const auto& each : entries()) {
    if (!each.contains("error_message")) continue;
    ++wrong;
    EXPECT_EQ(each.at("error_message"), "verification failed: item 3 is 5");
    EXPECT_EQ(each.at("verified"), false);
  }
  EXPECT_EQ(wrong, 1);
}

TEST_F(StreamsRunOn, AControlMustBeWrongOnceAtLeast) {
  const std::vector<std::string> words{"three_streams_unordered", "--items", "1000", "--benchmark_repetitions=3"};
  const Result right = run(words);
  EXPECT_EQ(right.status, kFailed);
  EXPECT_TRUE(has(right.out, "control, NOT CAUGHT"));
  planted_.repetitions.clear();
  planted_.repeat = [](const streams::Recording&, int before) {
    return measure::ScheduleSample{.host_seconds = 1e-3, .wrong = before == 1 ? "item 3 is 5" : ""};
  };
  const Result wrong = run(words);
  EXPECT_EQ(wrong.status, kOk);
  EXPECT_TRUE(has(wrong.out, "control, caught in 1 of 3: item 3 is 5"));
  const auto all = entries();
  ASSERT_EQ(all.size(), 3u) << "and is timed further";
  for (const auto& each : all) {
    EXPECT_EQ(each.at("control"), true);
    EXPECT_EQ(each.at("verified"), each.at("round") != 1);
    EXPECT_FALSE(each.contains("error_message"));
  }
  // Without items there is nothing to be wrong.
  planted_.repeat = Planted().repeat;
  EXPECT_EQ(run({"three_streams_unordered", "--items", "0", "--benchmark_repetitions=1"}).status, kOk);
}

TEST_F(StreamsRunOn, WhatLacksMemoryIsSkippedAndTheOthersGoOn) {
  planted_.host_room = 1 << 20;
  planted_.repeat = [](const streams::Recording& recording, int) {
    if (recording.job.chunks == 5) throw measure::LacksMemory("out of GPU memory: wanted 99 bytes");
    return measure::ScheduleSample{.host_seconds = 1e-3, .device_seconds = 1e-3};
  };
  const Result result = run({"depth_first", "--items", "1000,2^21", "--chunks", "4,5", "--benchmark_repetitions=2"});
  EXPECT_EQ(result.status, kOutOfMemory);
  EXPECT_EQ(planted_.repetitions, (std::map<int, int>{{4, 2}, {5, 1}}));
  EXPECT_TRUE(has(result.out, "skipped 1 case: out of GPU memory: wanted 99 bytes"));
  EXPECT_TRUE(has(result.out, "skipped 2 cases: out of host memory for arrays of 2097152 items"));
  std::map<std::string, int> reasons;
  for (const auto& each : entries()) ++reasons[each.value("error_message", "")];
  EXPECT_EQ(reasons, (std::map<std::string, int>{{"", 2},
                                                 {"out of GPU memory: wanted 99 bytes", 1},
                                                 {"out of host memory for arrays of 2097152 items", 2}}));
}

TEST_F(StreamsRunOn, AFaultOfOneCaseEndsNoOther) {
  planted_.repeat = [](const streams::Recording& recording, int) {
    if (recording.job.chunks == 5) throw std::runtime_error("launching: too many resources");
    return measure::ScheduleSample{.host_seconds = 1e-3, .device_seconds = 1e-3};
  };
  planted_.copy = []() -> double { throw std::runtime_error("copying: no"); };
  const Result result = run({"depth_first", "--items", "1000", "--chunks", "4,5", "--benchmark_repetitions=2"});
  EXPECT_EQ(result.status, kFailed);
  EXPECT_EQ(planted_.repetitions, (std::map<int, int>{{4, 2}, {5, 1}}));
  EXPECT_TRUE(has(result.err, "failed: launching: too many resources"));
  for (const auto& each : entries("streams/copy:")) EXPECT_EQ(each.at("error_message"), "copying: no");
  EXPECT_TRUE(has(result.out, "cases: copying: no (first streams/copy:"));
  // A part that is not timed decides the status, too.
  const std::vector<std::string> words{"depth_first", "--items", "1000", "--benchmark_repetitions=2"};
  EXPECT_EQ(run(words).status, kFailed);
  planted_.copy = []() -> double { throw measure::LacksMemory("out of GPU memory: wanted 99 bytes"); };
  EXPECT_EQ(run(words).status, kOutOfMemory);
}

TEST_F(StreamsRunOn, CtrlCKeepsWhatIsFinishedAndBeginsNothing) {
  for (const int last : {4, 5}) {
    planted_.repetitions.clear();
    planted_.repeat = [last](const streams::Recording& recording, int before) {
      if (before == 1 && recording.job.chunks == last) std::raise(SIGINT);
      return measure::ScheduleSample{.host_seconds = 1e-3, .device_seconds = 1e-3};
    };
    const Result result = run({"depth_first", "--items", "1000,2000", "--chunks", "4,5", "--benchmark_repetitions=9"});
    EXPECT_EQ(result.status, kInterrupted);
    EXPECT_EQ(planted_.repetitions.at(last), 2) << "of 9, and the sample in flight is finished";
    EXPECT_EQ(entries().size(), static_cast<std::size_t>(planted_.repetitions[4] + planted_.repetitions[5]));
    EXPECT_EQ(planted_.filled.back(), 1000);
    EXPECT_TRUE(has(result.err, "every finished repetition is kept"));
  }
}

#ifndef SCANLAB_WITH_CUDA

TEST(StreamsRun, SaysWhatItNeeds) {
  for (const char* command : {"run", "trace", "diagnose"}) {
    expect_error({"streams", command, "depth_first"}, "needs a CUDA device", kNoDevice);
  }
}

#else

class NeedsGpuStreamsRun : public NeedsGpu {
 protected:
  nlohmann::json read() const { return nlohmann::json::parse(std::ifstream(file_)); }

  TestFolder folder_;
  std::string file_ = folder_ / "results.json";
};

TEST_F(NeedsGpuStreamsRun, WritesEveryRepetitionAndTheParts) {
  const Result result = scanlab_streams({"run", "depth_first,graph,serial", "--items", "1000003", "--chunks", "4",
                                         "--benchmark_repetitions=3", "--out", file_, "--force"});
  EXPECT_EQ(result.status, kOk) << result.err;
  const auto results = read();
  EXPECT_EQ(results["context"]["schema"], measure::kResultsSchema);
  bool reads_clock = false;
  EXPECT_EQ(results["benchmarks"].size(), 30u) << "of three schedules, six copies alone, two both ways, and a kernel";
  for (const auto& each : results["benchmarks"]) {
    const std::string name = each["name"];
    reads_clock |= each.value("sm_clock_mhz", 0.0) > 0;
    EXPECT_GT(each["real_time"].get<double>(), 0) << name;
    if (!name.starts_with("streams/schedule")) continue;
    EXPECT_EQ(each["verified"], true) << name;
    // The host begins before the device and sees the end later: microseconds, of hundreds.
    const double host = each["real_time"].get<double>() / 1e6;
    EXPECT_NEAR(each["device_time_ms"].get<double>(), host, 0.5 * host) << name;
  }
  EXPECT_EQ(reads_clock, results["context"].contains("clocks_before"));  // neither without the management library
}

TEST_F(NeedsGpuStreamsRun, AControlIsExpectedToFail) {
  const Result result =
      scanlab_streams({"run", "*race", "three_streams_unordered", "--items", "2^24", "--benchmark_repetitions=2"});
  EXPECT_EQ(result.status, kOk) << result.out << result.err;
  EXPECT_TRUE(has(result.out, "control, caught in 2 of 2"));
  // One chunk without an order to break: a copy in that ends before the kernel is looked at cannot be promised, but
  // nothing to do is nothing wrong.
  EXPECT_EQ(scanlab_streams({"run", "null_stream_race", "--items", "0", "--benchmark_repetitions=1"}).status, kOk);
}

TEST_F(NeedsGpuStreamsRun, TracesEverySchedule) {
  for (const char* schedule : {"depth_first", "graph", "serial", "double_buffered", "null_stream_trap"}) {
    for (const char* workload : {"vector_add", "scan"}) {
      const Result result = scanlab_streams({"trace", schedule, "--workload", workload, "--items", "2^22", "--chunks",
                                             "5", "--out", file_, "--force", "--repetitions", "2"});
      EXPECT_EQ(result.status, kOk) << schedule << " " << workload << "\n" << result.out << result.err;
      EXPECT_TRUE(has(result.out, "overlap"));
      const auto trace = read();
      EXPECT_GT(trace["traceEvents"].size(), 20u);
      EXPECT_EQ(trace["otherData"]["schedule"], schedule);
    }
  }
}

TEST_F(NeedsGpuStreamsRun, WhyBlamesTheDefaultStream) {
  const Result result = scanlab_streams({"diagnose", "null_stream_trap", "depth_first", "--items", "2^24"});
  EXPECT_EQ(result.status, kOk) << result.err;
  EXPECT_TRUE(has(result.out, "only null_stream_trap: the legacy default stream"));
}

#endif

}  // namespace
}  // namespace scanlab::cli
