// A results file is valid JSON whenever it is looked at, and says what it should.
#include "harness/results/results_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/cli/command.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::measure {
namespace {

using Json = nlohmann::json;

class ResultsFileTest : public testing::Test {
 protected:
  static Json parsed(const std::filesystem::path& path) { return Json::parse(text_of(path)); }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  const Facts provenance_{{"schema", kResultsSchema}, {"device", "a \"quoted\"\nname"}};

 private:
  TestFolder folder_;
};

Facts entry_of(const std::string& name, int round) {
  return {{"name", name}, {"repetition_index", round}, {"real_time", 2000.0}, {"time_unit", "ns"}};
}

TEST_F(ResultsFileTest, IsValidAfterEveryRepetition) {
  ResultsFile file(path("a.json"), provenance_, false);
  const Json before = parsed(path("a.json"));
  EXPECT_TRUE(before.at("benchmarks").empty());
  EXPECT_EQ(before.at("context").at("device"), "a \"quoted\"\nname");
  EXPECT_TRUE(before.at("context").contains("date"));
  for (int round = 0; round < 20; ++round) {
    file.append(entry_of("scan/variant:x", round));
    const Json document = parsed(path("a.json"));
    ASSERT_EQ(document.at("benchmarks").size(), static_cast<std::size_t>(round + 1));
    const Json& last = document.at("benchmarks").back();
    EXPECT_EQ(last.at("name"), "scan/variant:x");
    EXPECT_EQ(last.at("repetition_index"), round);
    EXPECT_DOUBLE_EQ(last.at("real_time"), 2000.0);
    EXPECT_EQ(last.at("time_unit"), "ns");
  }
  EXPECT_EQ(file.entries(), 20);
}

TEST_F(ResultsFileTest, SurvivesAKilledProcess) {
  const pid_t child = fork();
  if (child == 0) {
    ResultsFile file(path("a.json"), provenance_, false);
    for (int round = 0; round < 5; ++round) file.append(entry_of("scan/variant:x", round));
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(parsed(path("a.json")).at("benchmarks").size(), 5u);
}

TEST_F(ResultsFileTest, LeavesAFullFileAloneUnlessToldToReplaceIt) {
  std::ofstream(path("a.json")) << "somebody's results";
  EXPECT_THROW(ResultsFile(path("a.json"), provenance_, false), CommandError);
  EXPECT_THROW(ResultsFile(path("another/"), provenance_, false), CommandError);
  EXPECT_FALSE(std::filesystem::exists(path("another")));
  EXPECT_EQ(text_of(path("a.json")), "somebody's results");
  {
    ResultsFile file(path("a.json"), provenance_, true);
    EXPECT_EQ(text_of(path("a.json")), "somebody's results") << "until there is something in their place";
    file.append(entry_of("scan/variant:x", 0));
    EXPECT_EQ(parsed(path("a.json")).at("benchmarks").size(), 1u);
  }
  { const ResultsFile without_entries(path("a.json"), provenance_, true); }
  EXPECT_TRUE(parsed(path("a.json")).at("benchmarks").empty());
}

TEST_F(ResultsFileTest, IsAsItWasIfAnErrorEndsTheCommandBeforeTheFirstEntry) {
  const auto refused = [&](bool replace) {
    try {
      const ResultsFile file(path("a.json"), provenance_, replace);
      throw CommandError(kBadInput, "refused");
    } catch (const CommandError&) {
    }
  };
  refused(false);
  EXPECT_FALSE(std::filesystem::exists(path("a.json")));
  std::ofstream(path("a.json")).close();
  refused(false);
  EXPECT_EQ(text_of(path("a.json")), "");
  std::ofstream(path("a.json")) << "somebody's results";
  refused(true);
  EXPECT_EQ(text_of(path("a.json")), "somebody's results");
}

TEST_F(ResultsFileTest, IsValidBeforeTheFirstRepetition) {
  const ResultsFile file(path("a.json"), provenance_, false);
  const Json document = parsed(path("a.json"));
  EXPECT_TRUE(document.at("benchmarks").empty());
  EXPECT_EQ(document.at("context").at("schema"), kResultsSchema);
  EXPECT_EQ(document.at("context").at("device"), "a \"quoted\"\nname");
  EXPECT_TRUE(document.at("context").contains("date"));
}

}  // namespace
}  // namespace scanlab::measure
