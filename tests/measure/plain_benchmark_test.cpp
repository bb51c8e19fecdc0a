// `scanlab bench` beside a plain program of Google Benchmark: both take the same flags, and write the same files.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/test_folder.hpp"

namespace scanlab::measure {
namespace {

using Json = nlohmann::json;

const std::string kScanlab =
    std::string(SCANLAB_PROGRAM) + " bench --variant cpu_sequential --items 100,1000,2000,4000 ";
const std::string kPlain = std::string(SCANLAB_PLAIN_BENCHMARK) + " ";

struct Ended {
  int status = 0;
  std::string out;
};

Ended run(const std::string& command) {
  Ended ended;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) ended.out.append(buffer, got);
  ended.status = WEXITSTATUS(pclose(pipe));
  return ended;
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> all;
  for (const auto& [key, value] : object.items()) all.insert(key);
  return all;
}

class PlainBenchmark : public testing::Test {
 protected:
  /// The file that a program writes with these flags.
  Json json(const std::string& program, const std::string& flags) {
    const std::string path = (folder_ / "out.json").string();
    const Ended ended = run(program + flags + " --benchmark_out=" + path);
    EXPECT_EQ(ended.status, 0) << ended.out;
    return Json::parse(std::ifstream(path));
  }
  std::string text(const std::string& program, const std::string& flags) {
    const std::string path = (folder_ / "out").string();
    run(program + flags + " --benchmark_out=" + path);
    return text_of(path);
  }

  TestFolder folder_;
};

/// compare.py of Google Benchmark reads these keys.
TEST_F(PlainBenchmark, WritesTheSameKeys) {
  for (const char* flags : {"--benchmark_repetitions=3", "--benchmark_repetitions=3 --benchmark_report_aggregates_only",
                            "--benchmark_repetitions=1", "--benchmark_repetitions=2 --benchmark_time_unit=ms"}) {
    const Json ours = json(kScanlab, flags);
    const Json plain = json(kPlain, flags);
    ASSERT_EQ(ours["benchmarks"].size(), 4 * plain["benchmarks"].size()) << flags;  // of four cases, each written once
    for (std::size_t i = 0; i < plain["benchmarks"].size(); ++i) {
      const Json& theirs = plain["benchmarks"][i];
      const Json& entry = ours["benchmarks"][i];
      EXPECT_EQ(keys(entry), keys(theirs)) << flags;
      EXPECT_EQ(entry["run_type"], theirs["run_type"]);
      if (theirs.value("aggregate_name", "") != "cv") {
        EXPECT_EQ(entry["time_unit"], std::string(flags).ends_with("=ms") ? "ms" : "us");
      }
      EXPECT_EQ(entry["repetitions"], theirs["repetitions"]);
    }
    for (const std::string& key : keys(plain["context"])) EXPECT_TRUE(ours["context"].contains(key)) << key;
    EXPECT_EQ(ours["context"]["library_build_type"], plain["context"]["library_build_type"]);
    EXPECT_TRUE(ours["context"].contains("git_commit"));
  }
}

/// Names are the same in every session, so that two files can be compared: the calibrated runs are not part of them.
TEST_F(PlainBenchmark, NamesACaseAsItIsFiltered) {
  const Json ours = json(kScanlab, "--benchmark_repetitions=1 --benchmark_filter=sequential.*items:100/");
  ASSERT_EQ(ours["benchmarks"].size(), 1u);
  const std::string name = "scan/variant:cpu_sequential/type:i32/op:plus/mode:inclusive/items:100/cache:warm";
  EXPECT_EQ(ours["benchmarks"][0]["name"], name);
  EXPECT_GT(ours["benchmarks"][0]["iterations"], 1);
  EXPECT_EQ(run(kScanlab + "--benchmark_list_tests --benchmark_filter=sequential.*items:100/").out, name + "\n");
  EXPECT_EQ(run("BENCHMARK_FILTER=sequential.*items:100/ " + kScanlab + "--benchmark_list_tests").out, name + "\n");
}

TEST_F(PlainBenchmark, WritesTheOtherFormats) {
  const auto header = [](const std::string& csv) {  // behind the context, which has the time of the run
    const std::size_t begin = csv.find("name,");
    return csv.substr(begin, csv.find('\n', begin) - begin);
  };
  const std::string csv = "--benchmark_repetitions=2 --benchmark_out_format=csv";
  const std::string ours = text(kScanlab, csv);
  EXPECT_EQ(header(ours), header(text(kPlain, csv)));
  EXPECT_NE(ours.find("scan/variant:cpu_sequential/"), std::string::npos) << ours;
  EXPECT_NE(text(kScanlab, "--benchmark_repetitions=2 --benchmark_out_format=console").find("bytes_per_second"),
            std::string::npos);
  EXPECT_TRUE(
      Json::accept(run("{ " + kScanlab + "--benchmark_repetitions=2 --benchmark_format=json 2> /dev/null; }").out));
}

TEST_F(PlainBenchmark, ShowsMediansUnlessAskedForMore) {
  const auto rows = [](const std::string& flags) {
    std::istringstream lines(run(kScanlab + flags).out);
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with("scan/") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(rows("--benchmark_repetitions=3"), 4);
  EXPECT_EQ(rows("--benchmark_repetitions=3 --benchmark_display_aggregates_only=false"), 4 * 7);
  EXPECT_EQ(rows("--benchmark_repetitions=3 --benchmark_report_aggregates_only"), 4 * 4);
}

TEST_F(PlainBenchmark, AnswersBadInputByASentence) {
  const auto expect = [](const std::string& flags, const std::string& hint) {
    const Ended ended = run(kScanlab + flags);
    EXPECT_EQ(ended.status, 2) << flags;
    EXPECT_NE(ended.out.find(hint), std::string::npos) << ended.out;
  };
  expect("--benchmark_filter=nothing", "Failed to match any benchmarks against regex: nothing");
  expect("--benchmark_filter='['", "no case is left to time");
  expect("--benchmark_out=/nowhere/out.json", "/nowhere/out.json: the file cannot be written");
  expect("--benchmark_out_format=xml", "formats are console, json and csv");
  expect("--benchmark_filtr=x", "Google Benchmark does not take --benchmark_filtr=x");
  expect("--benchmark_repetitions=many", "--benchmark_repetitions=many");
  expect("--benchmark_repetitions=0", "give 1 or more");
  expect("--benchmark_repetitions=-3", "give 1 or more");
}

TEST_F(PlainBenchmark, LeavesTheFileOfOutAsItWasIfNothingRuns) {
  const std::string path = (folder_ / "kept").string();
  std::ofstream(path) << "kept";
  run(kScanlab + "--benchmark_filter=nothing --benchmark_out=" + path);
  run(kScanlab + "--benchmark_list_tests --benchmark_out=" + path);
  EXPECT_EQ(text_of(path), "kept");
}

}  // namespace
}  // namespace scanlab::measure
