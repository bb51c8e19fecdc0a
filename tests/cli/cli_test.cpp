// The command line: words that are wrong get an error that helps, and the statuses are those of docs/CLI.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/cli/command.hpp"
#include "tests/program.hpp"

namespace scanlab::cli {
namespace {

TEST(CommandLine, WrongWordsNameTheNearMatches) {
  const auto expect = [](const std::vector<std::string>& words, const std::string& hint) {
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kBadInput) << result.err;
    EXPECT_NE(result.err.find(hint), std::string::npos) << result.err;
  };
  expect({"explan", "hso_block"}, "explain");
  expect({"explain", "hso_blok"}, "hso_block");
  expect({"list", "--jsn"}, "--json");
  expect({"explain", "hso_block", "--type", "i23"}, "i32");
  expect({"explain", "hso_block_padded", "--set", "paddin=row"}, "padding");
  expect({"explain", "hso_block_padded", "--set", "padding=rwo"}, "row");
  expect({"explain", "hso_block", "--items", "2^x"}, "--items: '2^x' in '2^x' is not a number");
  expect({"explain", "hso_block", "--items", "4096"}, "n <= 2048");
  expect({"explain", "cpu_sequential"}, "no form for the SIMT emulator");
  expect({"explain", "hso_block", "--items", ""}, "empty word");
  expect({"verify", "--variant", "", "--items", "5"}, "empty word");
  expect({"explain", "hso_block", "--out", "x"}, "go with explain --all");
  expect({"explain", "--all", "--variant", "hs_block", "--out", "x"}, "--variant would have no effect");
  expect({"explain", "--all", "--out", ""}, "--out '' names no folder");
  expect({"explain", "--all"}, "say where");
  expect({"explain", "hs_blocked", "--items", "2^40"}, "no memory");
  expect({"explain", "look_ahead", "--device", "gpu"}, "there is no device 'gpu'; known: simt, cuda");
  expect({"explain", "hs_blocked", "--csv", "x"}, "goes with explain --device cuda");
  expect({"explain", "hs_blocked", "--device", "cuda", "--json"}, "prints a table");
  expect({}, "usage");
}

TEST(CommandLine, AnOptionWithoutEffectIsRefused) {
  const auto expect = [](const std::string& option, const std::vector<std::string>& words) {
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kBadInput) << words[0];
    EXPECT_NE(result.err.find(option + " would have no effect"), std::string::npos) << words[0] << ": " << result.err;
  };
  expect("--force", {"explain", "hso_block", "--force"});
  expect("--work", {"advise", "--against", "x", "--work", "2"});
  expect("--work", {"calibrate", "--from", "x", "--out", "y", "--work", "2"});
  expect("--items", {"simulate", "--compare", "x", "--profile", "h200", "--items", "5"});
  expect("--trials", {"streams", "implicit-sync", "--list", "--trials", "5"});
  expect("--seed", {"stream-scan", "--device", "host", "--in", "x", "--seed", "5"});
  expect("--fresh", {"stream-scan", "--device", "host", "--generate", "9", "--fresh"});
  expect("--io-threads", {"stream-scan", "--device", "host", "--generate", "9", "--io-threads", "2"});
  expect("--durable",
         {"stream-scan", "--device", "host", "--generate", "9", "--out", "x", "--compare", "naive", "--durable"});
  expect("--benchmark_repetitions", {"bench", "--once", "--benchmark_repetitions=5"});
  expect("--sweep", {"bench", "--quick", "--sweep", "full"});
}

TEST(CommandLine, AFileOfTwoOptionsIsRefusedAndStays) {
  const std::filesystem::path folder = testing::TempDir() + "/scanlab-one-file-for-two";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string file = folder / "file.json", link = folder / "link.json";
  std::ofstream(file) << "mine";
  std::filesystem::create_symlink("file.json", link);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"calibrate", "--from", file, "--out", file, "--force"},
           {"calibrate", "--out", file, "--raw", folder / "." / "file.json", "--force"},
           {"tune", "--from", file, "--out", link, "--force"},
           {"simulate", "--compare", file, "--out", file, "--force"},
           {"stream-scan", "--device", "host", "--in", file, "--type", "i8", "--out", link, "--force"},
           {"stream-scan", "--device", "host", "--generate", "9", "--out", file, "--json", file + ".partial.json"},
       }) {
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kBadInput) << words[0];
    EXPECT_NE(result.err.find("are the same file"), std::string::npos) << words[0] << ": " << result.err;
  }
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(std::ifstream(file).rdbuf()), {}), "mine");
  // Two that cannot be looked at are not taken for one.
  const Result result = run_program({"stream-scan", "--device", "host", "--generate", "9", "--out",
                                     folder / std::string(300, 'a'), "--json", folder / std::string(300, 'b')});
  EXPECT_EQ(result.status, kBadInput);
  EXPECT_NE(result.err.find("File name too long"), std::string::npos) << result.err;
  std::filesystem::remove_all(folder);
}

TEST(CommandLine, TimeToWaitForOtherRanksIsANumberOfSeconds) {
  for (const char* const wrong : {"soon", "0", "-1", "inf", "nan", "5s", ""}) {
    setenv("SCANLAB_PATIENCE", wrong, 1);
    const Result result = run_program({"distributed", "bench", "--on-hosts", "-b", "4KiB", "-e", "4KiB"});
    EXPECT_EQ(result.status, kBadInput) << wrong;
    EXPECT_NE(result.err.find("give seconds above 0"), std::string::npos) << wrong << ": " << result.err;
  }
  unsetenv("SCANLAB_PATIENCE");
}

TEST(CommandLine, HelpHasAnExampleForEveryCommand) {
  for (const Command& each : commands()) {
    const Result result = run_program({each.name, "--help"});
    EXPECT_EQ(result.status, kOk) << each.name;
    EXPECT_NE(result.out.find("example: scanlab " + each.name), std::string::npos) << result.out;
  }
}

TEST(List, SaysWhatEveryVariantIs) {
  const Result result = run_program({"list", "--json"});
  ASSERT_EQ(result.status, kOk);
  const auto all = nlohmann::json::parse(result.out);
  EXPECT_FALSE(all["variants"].empty());
  for (const auto& variant : all["variants"]) {
    if (variant["id"].get<std::string>().starts_with("planted_")) continue;  // other tests of this program plant them
    EXPECT_FALSE(variant["title"].get<std::string>().empty()) << variant["id"];
    EXPECT_FALSE(variant["source"].get<std::string>().empty()) << variant["id"];
    EXPECT_FALSE(variant["types"].empty()) << variant["id"];
    EXPECT_TRUE(variant["in_place"].is_boolean() && variant["reproducible_bits"].is_boolean()) << variant["id"];
  }
}

TEST(Explain, JsonHasTheTotalsBesideTheClosedForms) {
  const Result result = run_program({"explain", "hso_block", "--items", "2048", "--json"});
  ASSERT_EQ(result.status, kOk) << result.err;
  const auto explanation = nlohmann::json::parse(result.out);
  EXPECT_EQ(explanation["schema"], "scanlab-explain/2");
  EXPECT_EQ(explanation["mode"], "exclusive");
  EXPECT_EQ(explanation["totals"]["operations"], 2 * 2047);
  EXPECT_EQ(explanation["closed_forms"]["operations"], 2 * 2047);
  EXPECT_EQ(explanation["totals"]["swaps"], 2047);
  EXPECT_EQ(explanation["totals"]["banks32"]["max_degree"], 32);
  EXPECT_EQ(explanation["totals"]["banks16"]["max_degree"], 16);
}

TEST(Explain, SkipsWhatItCannotExplainAmongOthers) {
  const Result result = run_program({"explain", "hs_*,cpu_sequential", "--items", "2048", "--json"});
  EXPECT_EQ(result.status, kOk);
  EXPECT_NE(result.err.find("skipped: hs_block scans within one block"), std::string::npos) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out).size(), 2U);  // hs_blocked and hs_multipass
}

#if !defined(SCANLAB_WITH_CUDA)
TEST(CommandLine, ABuildWithoutCudaSaysWhatNeedsIt) {
  for (const std::string id : {"cub*", "look_ahead", "one_wave", "one_cluster"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"explain", id},
          {"bench", "--variant", id},
          {"list", "--variant", id},
          {"verify", "--variant", id},
          {"stream-scan", "--generate", "9", "--device", "host", "--scan", id}}) {
      const Result result = run_program(words);
      EXPECT_EQ(result.status, kNoDevice) << words[0] << " " << id;
      EXPECT_NE(result.err.find("this build lacks '" + id + "', which needs one with CUDA"), std::string::npos)
          << words[0] << ": " << result.err;
    }
  }
  EXPECT_EQ(run_program({"explain", "decoupled_lookback", "--device", "cuda"}).status, kNoDevice);
}
#endif

TEST(Explain, AllWritesFilesAndRefusesAnUnwritablePlaceFirst) {
  EXPECT_EQ(run_program({"explain", "--all", "--quick", "--out", "/proc/no/such/place"}).status, kBadInput);
  EXPECT_EQ(run_program({"explain", "--all"}).status, kBadInput);
}

TEST(Explain, AllReplacesFilesOnlyIfAskedTo) {
  const std::filesystem::path folder = testing::TempDir() + "/scanlab-explain-all",
                              mine = folder / "hs_block-i32-exclusive-1024.json";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(mine) << "mine";
  const Result refused = run_program({"explain", "--all", "--quick", "--out", folder});
  EXPECT_EQ(refused.status, kBadInput);
  EXPECT_NE(refused.err.find("give --force"), std::string::npos) << refused.err;
  EXPECT_EQ(std::filesystem::file_size(mine), 4U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing was written before";
  std::filesystem::remove_all(folder);
}

TEST(CommandLine, AFileThatIsNotWhatItShouldBeIsSaidToBeSoInPlainWords) {
  const std::string file = testing::TempDir() + "/scanlab-not-what-it-should-be.json";
  const auto expect = [&](const std::vector<std::string>& words, const std::string& text, const std::string& hint) {
    std::ofstream(file) << text;
    std::vector<std::string> all = words;
    all.push_back(file);
    const Result result = run_program(all);
    EXPECT_EQ(result.status, kBadInput) << result.err;
    EXPECT_NE(result.err.find(hint), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("json.exception"), std::string::npos) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  };
  const std::vector<std::string> tune{"tune", "--from"};
  const std::vector<std::string> profile{"simulate", "depth_first", "--profile"};
  const std::vector<std::string> calibrate{"calibrate", "--out", file + ".profile", "--from"};
  const std::vector<std::string> compare{"simulate", "--profile", "h200", "--compare"};
  const std::vector<std::string> against{"advise", "--profile", "h200", "--against"};
  const std::string cut = "{\"schema\": 1,\n  \"name\"";
  for (const auto& words : {tune, profile, calibrate}) expect(words, cut, "line 2, column 9: syntax error");
  expect(tune, "{}", "lacks the key 'context'");
  expect(tune, "[]", "expected an object, got []");
  expect(calibrate, R"({"schema": "scanlab-calibration/1"})", "lacks the key 'context'");
  expect(compare, R"({"schema": "scanlab-trace/1", "otherData": {}})", "key '");
  expect(compare, R"({"schema": "scanlab-trace/1", "otherData": {"verified": false}})", "times of wrong results");
  expect(against, R"({"benchmarks": [{}]})", "no schedule was measured from pinned memory");
  expect(against, R"({"benchmarks": [{"schedule": "serial", "verified": true}]})",
         "key 'benchmarks[0]': lacks the key 'workload'");
  expect(against, R"({"benchmarks": [{"schedule": 3, "verified": true}]})",
         "key 'benchmarks[0].schedule': expected one of");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  for (auto words : {tune, profile, calibrate, compare, against, {"scenarios"}}) {
    words.push_back(file);
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kBadInput) << words.front();
    EXPECT_NE(result.err.find("read"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(file), std::string::npos) << result.err;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace scanlab::cli
