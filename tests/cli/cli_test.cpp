// The command line: words that are wrong get an error that helps, and the statuses are those of docs/CLI.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/cli/command.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::cli {
namespace {

TEST(CommandLine, WrongWordsNameTheNearMatches) {
  expect_error({"explan", "hso_block"}, "explain");
  expect_error({"explain", "hso_blok"}, "hso_block");
  expect_error({"list", "--jsn"}, "--json");
  expect_error({"explain", "hso_block", "--type", "i23"}, "i32");
  expect_error({"explain", "hso_block_padded", "--set", "paddin=row"}, "padding");
  expect_error({"explain", "hso_block_padded", "--set", "padding=rwo"}, "row");
  expect_error({"explain", "hso_block", "--items", "2^x"}, "--items: '2^x' in '2^x' is not a number");
  expect_error({"explain", "hso_block", "--items", "4096"}, "n <= 2048");
  expect_error({"explain", "cpu_sequential"}, "no form for the SIMT emulator");
  expect_error({"explain", "hso_block", "--items", ""}, "empty word");
  expect_error({"verify", "--variant", "", "--items", "5"}, "empty word");
  expect_error({"explain", "hso_block", "--out", "x"}, "go with explain --all");
  expect_error({"explain", "--all", "--variant", "hs_block", "--out", "x"}, "--variant would have no effect");
  expect_error({"explain", "--all", "--out", ""}, "--out '' names no folder");
  expect_error({"explain", "--all"}, "say where");
  expect_error({"explain", "--all", "--quick", "--out", "/proc/no/such/place"}, "/proc/no");
  expect_error({"explain", "hs_blocked", "--items", "2^40"}, "no memory");
  expect_error({"explain", "look_ahead", "--device", "gpu"}, "there is no device 'gpu'; known: simt, cuda");
  expect_error({"explain", "hs_blocked", "--csv", "x"}, "go with explain --device cuda");
  expect_error({"explain", "one_wave", "--timeline"}, "go with explain --device cuda");
  expect_error({"explain", "hs_blocked", "--device", "cuda", "--json"}, "prints a table");
  const Result none = run_program({});
  EXPECT_EQ(none.status, kBadInput);
  EXPECT_TRUE(has(none.err, "usage"));
}

TEST(CommandLine, AnOptionWithoutEffectIsRefused) {
  expect_error({"explain", "hso_block", "--force"}, "--force would have no effect");
  expect_error({"advise", "--against", "x", "--work", "2"}, "--work would have no effect");
  expect_error({"calibrate", "--from", "x", "--out", "y", "--work", "2"}, "--work would have no effect");
  expect_error({"simulate", "--compare", "x", "--profile", "h200", "--items", "5"}, "--items would have no effect");
  expect_error({"streams", "implicit-sync", "--list", "--trials", "5"}, "--trials would have no effect");
  expect_error({"stream-scan", "--device", "host", "--in", "x", "--seed", "5"}, "--seed would have no effect");
  expect_error({"stream-scan", "--device", "host", "--generate", "9", "--fresh"}, "--fresh would have no effect");
  expect_error({"stream-scan", "--device", "host", "--generate", "9", "--io-threads", "2"},
               "--io-threads would have no effect");
  expect_error({"stream-scan", "--device", "host", "--generate", "9", "--out", "x", "--compare", "naive", "--durable"},
               "--durable would have no effect");
  expect_error({"bench", "--once", "--benchmark_repetitions=5"}, "--benchmark_repetitions would have no effect");
  expect_error({"bench", "--quick", "--sweep", "full"}, "--sweep would have no effect");
}

TEST(CommandLine, AFileOfTwoOptionsIsRefusedAndStays) {
  const TestFolder folder;
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
    expect_error(words, "are the same file");
  }
  EXPECT_EQ(text_of(file), "mine");
  // Two that cannot be looked at are not taken for one.
  expect_error({"stream-scan", "--device", "host", "--generate", "9", "--out", folder / std::string(300, 'a'), "--json",
                folder / std::string(300, 'b')},
               "File name too long");
}

TEST(CommandLine, TimeToWaitForOtherRanksIsANumberOfSeconds) {
  for (const char* const wrong : {"soon", "0", "-1", "inf", "nan", "5s", ""}) {
    setenv("SCANLAB_PATIENCE", wrong, 1);
    expect_error({"distributed", "bench", "--on-hosts", "-b", "4KiB", "-e", "4KiB"}, "give seconds above 0");
  }
  unsetenv("SCANLAB_PATIENCE");
}

TEST(CommandLine, HelpHasAnExampleForEveryCommand) {
  for (const Command& each : commands()) {
    const Result result = run_program({each.name, "--help"});
    EXPECT_EQ(result.status, kOk) << each.name;
    EXPECT_TRUE(has(result.out, "example: scanlab " + each.name));
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
  EXPECT_TRUE(has(result.err, "skipped: hs_block scans within one block"));
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
      expect_error(words, "this build lacks '" + id + "', which needs one with CUDA", kNoDevice);
    }
  }
  EXPECT_EQ(run_program({"explain", "decoupled_lookback", "--device", "cuda"}).status, kNoDevice);
}
#endif

TEST(Explain, AllReplacesFilesOnlyIfAskedTo) {
  const TestFolder folder;
  const std::filesystem::path mine = folder / "hs_block-i32-exclusive-1024.json";
  std::ofstream(mine) << "mine";
  expect_error({"explain", "--all", "--quick", "--out", folder.path()}, "give --force");
  EXPECT_EQ(std::filesystem::file_size(mine), 4U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing was written before";
}

/// The tests of each command have the other faults of its files.
TEST(CommandLine, AFileThatIsCutOrAFolderIsSaidToBeSoInPlainWords) {
  const TestFolder folder;
  const std::string file = folder / "file.json";
  const std::vector<std::vector<std::string>> commands{{"tune", "--from", file},
                                                       {"simulate", "depth_first", "--profile", file},
                                                       {"calibrate", "--out", file + ".profile", "--from", file},
                                                       {"simulate", "--profile", "h200", "--compare", file},
                                                       {"advise", "--profile", "h200", "--against", file}};
  std::ofstream(file) << "{\"schema\": 1,\n  \"name\"";
  for (const auto& words : commands) expect_error(words, file + ": is no JSON: line 2, column 9: syntax error");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  for (const auto& words : commands) expect_error(words, file);
  expect_error({"scenarios", file}, file);
}

}  // namespace
}  // namespace scanlab::cli
