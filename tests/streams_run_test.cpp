// scanlab streams run, trace and why: their words without a device; and on one, what they write and say.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/streams_sweep.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/cli/streams_trace.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::cli {
namespace {

struct Result {
  int status = 0;
  std::string out;
  std::string err;
};

Result scanlab_streams(std::vector<std::string> words) {
  words.insert(words.begin(), "streams");
  std::ostringstream out;
  std::ostringstream err;
  const int status = run(words, out, err);
  return {status, out.str(), err.str()};
}

TEST(StreamsRun, NamesItsCases) {
  const Result result =
      scanlab_streams({"run", "depth_first", "double_buffered", "--items", "100", "--chunks", "4,200", "--streams", "2",
                       "--work", "1,3", "--blocks", "8", "--workload", "feistel", "--benchmark_list_tests"});
  EXPECT_EQ(result.status, kOk);
  EXPECT_EQ(result.out,
            "streams/schedule:depth_first/workload:feistel/items:100/chunks:4/streams:2/memory:pinned/work:1/blocks:8\n"
            "streams/schedule:double_buffered/workload:feistel/items:100/chunks:4/streams:2/memory:pinned/work:1/"
            "blocks:8/buffers:2\n"
            "streams/schedule:depth_first/workload:feistel/items:100/chunks:4/streams:2/memory:pinned/work:3/blocks:8\n"
            "streams/schedule:double_buffered/workload:feistel/items:100/chunks:4/streams:2/memory:pinned/work:3/"
            "blocks:8/buffers:2\n"
            "streams/schedule:depth_first/workload:feistel/items:100/chunks:200/streams:2/memory:pinned/work:1/blocks:8"
            "\n"
            "streams/schedule:double_buffered/workload:feistel/items:100/chunks:200/streams:2/memory:pinned/work:1/"
            "blocks:8/buffers:2\n"
            "streams/schedule:depth_first/workload:feistel/items:100/chunks:200/streams:2/memory:pinned/work:3/blocks:8"
            "\n"
            "streams/schedule:double_buffered/workload:feistel/items:100/chunks:200/streams:2/memory:pinned/work:3/"
            "blocks:8/buffers:2\n");
  // What a schedule does not heed gives no second case.
  const Result once = scanlab_streams({"run", "depth_first", "--buffers", "2,3,4", "--benchmark_list_tests"});
  EXPECT_EQ(std::ranges::count(once.out, '\n'), 1);
}

TEST(StreamsRun, SweepsAreListsOfCases) {
  const Result full = scanlab_streams({"run", "--sweep", "full", "--benchmark_list_tests"});
  EXPECT_EQ(full.status, kOk) << full.err;
  for (const char* what : {"depth_first/workload:scale/items:268435456/chunks:128/streams:16/", "chunks:1/streams:1/",
                           "serial/workload:scale/items:268435456/chunks:64/", "three_streams_unordered", "work:1800",
                           "work:4096", "workload:feistel", "workload:scan"}) {
    EXPECT_NE(full.out.find(what), std::string::npos) << what;
  }
  EXPECT_GT(std::ranges::count(full.out, '\n'), 100);
  EXPECT_LT(std::ranges::count(full.out, '\n'), 330);  // so that 1.0 s each are not more than five and a half minutes
  const Result narrowed =
      scanlab_streams({"run", "graph", "--sweep", "quick", "--workload", "scale", "--benchmark_list_tests"});
  EXPECT_EQ(std::ranges::count(narrowed.out, '\n'), 1) << narrowed.out;
}

TEST(StreamsRun, BadInputIsASentence) {
  const auto expect = [](const std::vector<std::string>& words, const std::string& hint) {
    const Result result = scanlab_streams(words);
    EXPECT_EQ(result.status, kBadInput) << result.err;
    EXPECT_NE(result.err.find(hint), std::string::npos) << result.err;
  };
  expect({"run"}, "run takes a schedule");
  expect({"run", "depth_first", "--rounds", "0"}, "--rounds takes");
  expect({"run", "depth_first", "--cap", "0"}, "--cap takes");
  expect({"run", "depth_first", "--width", "-1"}, "--width takes");
  expect({"run", "--sweep", "fast"}, "there is no sweep 'fast'; known: full, quick");
  expect({"run", "--sweep", "quick", "--chunks", "3"}, "a sweep sets --chunks itself");
  expect({"run", "graph", "--sweep", "quick", "--workload", "scan"}, "no case of the sweep is left");
  expect({"run", "depth_first", "--benchmark_filter", "nothing"}, "benchmark_filter");
  expect({"run", "depth_first", "--chunks", "0"}, "0 chunks are not enough");
  expect({"trace"}, "trace takes a schedule");
  expect({"trace", "depth_first", "--chunks", "2,4"}, "these are 2 timelines: --out FOLDER");
  expect({"trace", "depth_first", "--repetitions", "0"}, "--repetitions takes");
  expect({"trace", "depth_first", "--gap", "-1"}, "--gap takes");
  expect({"why"}, "why takes one schedule, or two");
  expect({"why", "all"}, "14 combinations");
}

std::vector<ScheduledJob> selected(const std::vector<std::string>& words) {
  boost::program_options::options_description options;
  add_job_options(options, "", "");
  options.add_options()("repetitions", boost::program_options::value<int>());
  boost::program_options::variables_map values;
  boost::program_options::store(boost::program_options::command_line_parser(words).options(options).run(), values);
  return read_job_selection(values, "", "").jobs();
}

class StreamsTraceSweep : public testing::Test {
 protected:
  ~StreamsTraceSweep() override { std::filesystem::remove_all(folder_); }

  Result trace(const std::vector<ScheduledJob>& jobs, const RunProcess& run_process) const {
    std::ostringstream out;
    std::ostringstream err;
    Context context{out, err, {}};
    const int status = trace_all(jobs, 3, folder_, /*force=*/false, context, run_process);
    return {status, out.str(), err.str()};
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) names.push_back(file.path().filename());
    std::ranges::sort(names);
    return names;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("scanlab-traces-" + std::to_string(getpid()));
};

TEST_F(StreamsTraceSweep, EachJobIsRecordedInAProcessOfItsOwn) {
  std::vector<ScheduledJob> jobs = selected({"--schedule=all", "--workload=feistel", "--items=1001", "--chunks=3",
                                             "--streams=5", "--memory=all", "--buffers=7", "--blocks=9", "--work=11"});
  for (const StreamsSweep& sweep : streams_sweeps()) {
    if (sweep.name == "model") std::ranges::copy(cli::jobs(sweep, {}), std::back_inserter(jobs));
  }
  std::size_t ran = 0;
  const Result result = trace(jobs, [&](const std::vector<std::string>& words) {
    EXPECT_EQ((std::vector<std::string>(words.begin(), words.begin() + 4)),
              (std::vector<std::string>{"streams", "trace", kInFreshProcess, "--repetitions=3"}));
    const std::vector<ScheduledJob> chosen = selected({words.begin() + 3, words.end()});
    EXPECT_EQ(chosen.size(), 1U);
    EXPECT_EQ(facts_of(chosen.at(0)), facts_of(jobs.at(ran++)));
    return FreshProcess{.status = kOk, .out = facts_of(chosen.at(0)).dump()};
  });
  EXPECT_EQ(result.status, kOk) << result.err;
  EXPECT_EQ(ran, jobs.size());
  EXPECT_EQ(files().size(), jobs.size());
}

TEST_F(StreamsTraceSweep, AJobWithoutATimelineIsNamedAndLeavesNoFile) {
  const std::vector<ScheduledJob> jobs =
      selected({"--schedule=depth_first", "--workload=scale", "--items=100", "--chunks=1,2,3,4,5"});
  std::vector<FreshProcess> ends{{.status = kFailed, .out = "{\"wrong\": 1}\n"},  // a wrong output has its timeline
                                 {.status = kOk, .out = "{\"half"},
                                 {.status = 128 + 11, .out = "{}"},
                                 {.status = kOutOfMemory, .out = ""},
                                 {.status = kOk, .out = "{\"right\": 1}\n"}};
  auto next = ends.begin();
  const Result result = trace(jobs, [&](const std::vector<std::string>&) { return *next++; });
  EXPECT_EQ(result.status, kOutOfMemory);
  ASSERT_EQ(files().size(), 2U);
  EXPECT_NE(files()[0].find("chunks1-"), std::string::npos) << files()[0];
  EXPECT_NE(files()[1].find("chunks5-"), std::string::npos) << files()[1];
  std::stringstream text;
  text << std::ifstream(folder_ / files()[0]).rdbuf();
  EXPECT_EQ(text.str(), ends[0].out);
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 3) << result.err;
  EXPECT_NE(
      result.err.find("100 items in 3 chunks, 4 streams, pinned memory, work 1: its process ended with status 139"),
      std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("2 of 5 timelines"), std::string::npos) << result.out;

  const auto status_after = [&](const ScheduledJob& job, const FreshProcess& process) {
    return trace({job}, [&](const std::vector<std::string>&) { return process; }).status;
  };
  EXPECT_EQ(status_after(jobs[1], ends[2]), kFailed);
  EXPECT_EQ(status_after(jobs[1], ends[0]), kFailed);
  EXPECT_THROW(status_after(jobs[0], ends[4]), CommandError) << "the file is there, and --force is not given";
}

TEST_F(StreamsTraceSweep, CtrlCStopsBeforeTheNextJob) {
  int ran = 0;
  const Result result = trace(selected({"--schedule=depth_first", "--workload=scale", "--items=100", "--chunks=1,2"}),
                              [&](const std::vector<std::string>&) {
                                if (ran++ == 0) std::raise(SIGINT);
                                return FreshProcess{128 + SIGINT, ""};
                              });
  EXPECT_EQ(result.status, kInterrupted);
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(result.err, "");
}

#ifndef SCANLAB_WITH_CUDA

TEST(StreamsRun, SaysWhatItNeeds) {
  for (const char* command : {"run", "trace", "why"}) {
    const Result result = scanlab_streams({command, "depth_first"});
    EXPECT_EQ(result.status, kNoDevice);
    EXPECT_NE(result.err.find("needs a CUDA device"), std::string::npos) << result.err;
  }
}

#else

class NeedsGpuStreamsRun : public NeedsGpu {
 protected:
  nlohmann::json read() const { return nlohmann::json::parse(std::ifstream(file_)); }

  std::string file_ = (std::filesystem::path(testing::TempDir()) / "streams_run_test.json").string();
};

TEST_F(NeedsGpuStreamsRun, WritesEveryRepetitionAndTheParts) {
  const Result result = scanlab_streams({"run", "depth_first,graph,serial", "--items", "1000003", "--chunks", "4",
                                         "--rounds", "3", "--out", file_, "--force"});
  EXPECT_EQ(result.status, kOk) << result.err;
  const auto results = read();
  EXPECT_EQ(results["context"]["schema"], "scanlab-streams/1");
  std::map<std::string, int> repetitions;
  bool reads_clock = false;
  for (const auto& each : results["benchmarks"]) {
    const std::string name = each["name"];
    reads_clock |= each.value("sm_clock_mhz", 0.0) > 0;
    ++repetitions[name.substr(0, name.find('/', 8))];
    EXPECT_GT(each["real_time"].get<double>(), 0) << name;
    const bool is_verified = !name.starts_with("streams/schedule") || each["verified"] == 1;
    EXPECT_TRUE(is_verified) << name;
  }
  EXPECT_EQ(repetitions, (std::map<std::string, int>{{"streams/copy:d2h", 6},
                                                     {"streams/copy:h2d", 6},
                                                     {"streams/copy:duplex_d2h", 3},
                                                     {"streams/copy:duplex_h2d", 3},
                                                     {"streams/kernel:scale", 3},
                                                     {"streams/schedule:depth_first", 3},
                                                     {"streams/schedule:graph", 3},
                                                     {"streams/schedule:serial", 3}}));
  EXPECT_EQ(reads_clock, results["context"].contains("clocks_before"));  // neither without the management library
}

TEST_F(NeedsGpuStreamsRun, AControlIsExpectedToFail) {
  const Result result =
      scanlab_streams({"run", "*race", "three_streams_unordered", "--items", "2^24", "--rounds", "2"});
  EXPECT_EQ(result.status, kOk) << result.out << result.err;
  EXPECT_NE(result.out.find("control, caught in 2 of 2"), std::string::npos) << result.out;
  // One chunk without an order to break: a copy in that ends before the kernel is looked at cannot be promised, but
  // nothing to do is nothing wrong.
  EXPECT_EQ(scanlab_streams({"run", "null_stream_race", "--items", "0", "--rounds", "1"}).status, kOk);
}

TEST_F(NeedsGpuStreamsRun, TracesEverySchedule) {
  for (const char* schedule : {"depth_first", "graph", "serial", "double_buffered", "null_stream_trap"}) {
    for (const char* workload : {"vector_add", "scan"}) {
      const Result result = scanlab_streams({"trace", schedule, "--workload", workload, "--items", "2^22", "--chunks",
                                             "5", "--out", file_, "--force", "--repetitions", "2"});
      EXPECT_EQ(result.status, kOk) << schedule << " " << workload << "\n" << result.out << result.err;
      EXPECT_NE(result.out.find("overlap"), std::string::npos);
      const auto trace = read();
      EXPECT_GT(trace["traceEvents"].size(), 20u);
      EXPECT_EQ(trace["otherData"]["schedule"], schedule);
    }
  }
}

TEST_F(NeedsGpuStreamsRun, WhyBlamesTheDefaultStream) {
  const Result result = scanlab_streams({"why", "null_stream_trap", "depth_first", "--items", "2^24"});
  EXPECT_EQ(result.status, kOk) << result.err;
  EXPECT_NE(result.out.find("only null_stream_trap: the legacy default stream"), std::string::npos) << result.out;
}

#endif

}  // namespace
}  // namespace scanlab::cli
