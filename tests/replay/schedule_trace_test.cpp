// Traces of many schedules: each from a process of its own, which a test stands in for.
#include "harness/replay/schedule_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/host/status.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/selection/job_selection.hpp"
#include "harness/selection/sweeps.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::streams {
namespace {

using cli::Result;

std::vector<ScheduledJob> selected(const std::vector<std::string>& words) {
  OptionWords options;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    options[word.substr(2, equals - 2)] = {word.substr(equals + 1)};  // --OPTION=LIST
  }
  return select_jobs(options, "", "").jobs();
}

class ScheduleTraces : public testing::Test {
 protected:
  Result trace(const std::vector<ScheduledJob>& jobs, const RunProcess& run_process) const {
    std::ostringstream out;
    std::ostringstream err;
    const int status = trace_all(jobs, 3, folder_, /*force=*/false, {"streams", "trace"}, out, err, run_process);
    return {status, out.str(), err.str()};
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) names.push_back(file.path().filename());
    std::ranges::sort(names);
    return names;
  }

  TestFolder own_;
  std::filesystem::path folder_ = own_ / "traces";
};

TEST_F(ScheduleTraces, EachJobIsRecordedInAProcessOfItsOwn) {
  std::vector<ScheduledJob> jobs =
      selected({"--schedule=all", "--workload=feistel", "--items=1001", "--chunks=3", "--streams=5", "--memory=all",
                "--buffers=2,7", "--blocks=0,9", "--work=11"});
  for (const ScheduleSweep& sweep : schedule_sweeps()) {
    if (sweep.name == "model") std::ranges::copy(scanlab::jobs(sweep, {}), std::back_inserter(jobs));
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

TEST_F(ScheduleTraces, AJobWithoutATimelineIsNamedAndLeavesNoFile) {
  const std::vector<ScheduledJob> jobs =
      selected({"--schedule=depth_first", "--workload=scale", "--items=100", "--chunks=1,2,3,4,5"});
  std::vector<FreshProcess> ends{{.status = kFailed, .out = "{\"wrong\": 1}\n"},  // a wrong output has its timeline
                                 {.status = kOk, .out = "{\"half"},
                                 {.status = 128 + 11, .out = "{}"},
                                 {.status = kOutOfMemory, .out = ""},
                                 {.status = kOk, .out = "{\"right\": 1}\n"}};
  auto next = ends.begin();
  const Result result = trace(jobs, [&](const std::vector<std::string>&) { return *next++; });
  EXPECT_EQ(result.status, kFailed);
  ASSERT_EQ(files().size(), 2U);
  EXPECT_TRUE(has(files()[0], "chunks1-") && has(files()[1], "chunks5-"));
  EXPECT_EQ(text_of(folder_ / files()[0]), ends[0].out);
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 3) << result.err;
  EXPECT_TRUE(has(result.err, "in 3 chunks, 4 streams, pinned memory, work 1: its process ended with status 139"));
  EXPECT_TRUE(has(result.out, "2 of 5 timelines"));

  const auto status_after = [&](const ScheduledJob& job, const FreshProcess& process) {
    return trace({job}, [&](const std::vector<std::string>&) { return process; }).status;
  };
  EXPECT_EQ(status_after(jobs[1], ends[3]), kOutOfMemory);
  EXPECT_EQ(status_after(jobs[1], ends[2]), kFailed);
  EXPECT_EQ(status_after(jobs[1], ends[0]), kFailed);
  EXPECT_THROW(status_after(jobs[0], ends[4]), CommandError) << "the file is there, and --force is not given";
}

TEST_F(ScheduleTraces, CtrlCStopsBeforeTheNextJob) {
  int ran = 0;
  const Result result = trace(selected({"--schedule=depth_first", "--workload=scale", "--items=100", "--chunks=1,2"}),
                              [&](const std::vector<std::string>&) {
                                if (ran++ == 0) std::raise(SIGINT);
                                return FreshProcess{128 + SIGINT, ""};
                              });
  EXPECT_EQ(result.status, kInterrupted);
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_)) << "an empty folder is left";
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace scanlab::streams
