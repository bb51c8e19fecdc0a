// Tests of the command line of `scanlab verify`: words, statuses, the closing summary.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/results/provenance.hpp"
#include "harness/simt/emulator.hpp"
#include "harness/verify/checks.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::cli {
namespace {

Result run_verify(const std::vector<std::string>& words) { return run_program(with({"verify"}, words)); }

/// A sequential scan, right unless it is asked for a fault. It keeps what it was asked.
struct Planted {
  static constexpr const char* kId = "planted_fault";
  struct Run {
    Problem problem;
    bool by_number;  ///< blocks were begun in the order of their numbers
    bool aligned;    ///< the input begins where memory is allocated
  };
  static std::vector<Run>& runs() {
    static std::vector<Run> all;
    return all;
  }

  static Description describe() {
    Description about;
    about.id = kId;
    about.title = "A scan with faults on request";
    about.types = {ElementType::i32};
    about.operators = {Operator::plus};
    about.parameters = {
        {"fault", {"none", "wrong", "race", "last_item", "slow"}, "what is wrong with it"},
        {.name = "tiles", .values = {"few"}, .meaning = "how many it would be cut into", .small = "many"}};
    return about;
  }

  template <class Body>
  struct Kernel {
    static constexpr const char* kName = "planted";
    static constexpr int kMaxThreads = 32;
    Body body;
    void operator()(simt::CpuBlock& block) const { body(block); }
  };
  template <class Body>
  static void launch(simt::Emulator& emulator, const simt::Grid& grid, Body body) {
    emulator.launch(grid, Kernel<Body>{body});
  }

  static bool begun_by_number(simt::Emulator& emulator) {
    constexpr std::int64_t kBlocks = 64;
    std::vector<std::uint32_t> drawn(kBlocks);
    std::uint32_t next = 0;
    const simt::Span<std::uint32_t> out(drawn.data(), kBlocks, "drawn");
    const simt::Span<std::uint32_t> counter(&next, 1, "counter");
    launch(emulator, {.blocks = kBlocks}, [=](simt::CpuBlock& block) {
      const std::uint32_t mine = block.fetch_add(counter, 0, 1);
      out[block.group_index()] = mine;
    });
    return std::ranges::is_sorted(drawn);
  }

  static Variant variant() {
    Variant planted;
    planted.about = describe();
    planted.origin = Origin::baseline;
    planted.backends.simt = true;
    planted.bind = [about = planted.about](const Problem& problem) {
      BoundScan bound;
      bound.plan = Plan::refuse(unsupported(about, problem));
      if (!bound.plan.possible()) return bound;
      bound.simt = [problem, fault = setting(about, problem.settings, "fault")](const Buffers& buffers,
                                                                                simt::Emulator& emulator) {
        runs().push_back({problem, begun_by_number(emulator), reinterpret_cast<std::uintptr_t>(buffers.in) % 16 == 0});
        if (fault == "slow" && problem.items > 16'000) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
        const auto* in = static_cast<const std::int32_t*>(buffers.in);
        auto* out = static_cast<std::int32_t*>(buffers.out);
        std::int32_t sum = 0;
        for (std::int64_t i = 0; i < problem.items; ++i) {
          const std::int32_t before = sum;
          sum = wrapping_add(sum, in[i]);
          out[i] = problem.mode == Mode::inclusive ? sum : before;
        }
        if (problem.items == 0) return;
        if (fault == "wrong") ++out[0];
        if (fault == "last_item" && problem.items > 1024) ++out[problem.items - 1];
        if (fault == "race") {
          std::int32_t shared = 0;
          const simt::Span<std::int32_t> item(&shared, 1, "item");
          launch(emulator, {.threads = 32}, [=](simt::CpuBlock& block) { item[0] = block.thread_rank(); });
        }
      };
      return bound;
    };
    return planted;
  }
};

const Registration kPlanted{Planted::variant()};

/// Checks the planted scan.
Result verify_planted(const std::vector<std::string>& words) {
  Planted::runs().clear();
  return run_verify(with({"--device", "simt", "--variant", Planted::kId}, words));
}

/// The items that were asked of it.
std::set<std::int64_t> sizes_seen() {
  std::set<std::int64_t> sizes;
  for (const Planted::Run& each : Planted::runs()) sizes.insert(each.problem.items);
  return sizes;
}

TEST(VerifyCommand, AFailureEndsWithStatus1AndSaysHowToSeeItAgain) {
  EXPECT_EQ(verify_planted({"--items", "40"}).status, kOk);
  const Result ended = verify_planted({"--items", "40", "--set", "fault=wrong", "--seed", "6", "--mode", "exclusive"});
  EXPECT_EQ(ended.status, kFailed) << ended.out;
  EXPECT_EQ(kFailed, 1);
  EXPECT_TRUE(has(ended.out, "0 passed, 1 failed, 0 skipped"));
  EXPECT_TRUE(has(ended.out, "1 of 40 items wrong, the first at 0"));
  EXPECT_TRUE(has(ended.out,
                  "again: scanlab verify --device simt --variant planted_fault --type i32 --op plus --mode exclusive "
                  "--items 40 --input random --seed 6 --set fault=wrong\n"))
      << ended.out;
}

TEST(VerifyCommand, ByDefaultTriesTheSizesWhereScansBreak) {
  EXPECT_EQ(verify_planted({}).status, kOk);
  const std::set<std::int64_t> sizes = sizes_seen();
  EXPECT_TRUE(sizes.contains(0));
  for (const std::int64_t edge : {1, 32, 1024, 2048}) {  // one item, a warp, the tiles of blocks
    for (const std::int64_t n : {edge - 1, edge, edge + 1}) EXPECT_TRUE(sizes.contains(n)) << n;
  }
  EXPECT_TRUE(std::ranges::any_of(sizes, [](std::int64_t n) { return n > 16'000 && n < 33'000; }));
  EXPECT_EQ(verify_planted({"--quick"}).status, kOk);
  EXPECT_TRUE(sizes_seen().contains(1025));
  EXPECT_TRUE(sizes_seen().contains(2049));
  EXPECT_LT(sizes_seen().size(), sizes.size());
}

TEST(VerifyCommand, ANamedVariantIsTriedWhereverArraysBegin) {
  const auto misaligned = [](const std::vector<std::string>& words) {
    EXPECT_EQ(verify_planted(words).status, kOk);
    return std::ranges::any_of(Planted::runs(), [](const auto& each) { return !each.aligned; });
  };
  EXPECT_TRUE(misaligned({}));
  EXPECT_FALSE(misaligned({"--aliasing", "apart"}));
  EXPECT_FALSE(misaligned({"--items", "100"}));
  EXPECT_FALSE(misaligned({"--quick"}));
}

TEST(VerifyCommand, ANamedVariantIsTriedOncePastTwoLevelsOfBlocks) {
  constexpr std::int64_t kPast = 1024 * 1024 + 1;
  EXPECT_EQ(verify_planted({}).status, kOk);
  EXPECT_EQ(std::ranges::count(Planted::runs(), kPast, [](const auto& each) { return each.problem.items; }), 2)
      << "two runs of one check";
  EXPECT_EQ(verify_planted({"--quick"}).status, kOk);
  EXPECT_FALSE(sizes_seen().contains(kPast));
  const Result slow = verify_planted({"--set", "fault=slow", "--mode", "inclusive", "--aliasing", "apart"});
  EXPECT_EQ(slow.status, kOk);
  EXPECT_TRUE(has(slow.out, "give --items to check it past two levels of blocks (n = 1048577)"));
  EXPECT_FALSE(sizes_seen().contains(kPast));
}

TEST(VerifyCommand, ByDefaultTriesManyTilesWhereAVariantCanHaveThem) {
  const auto with_many = [](const std::vector<std::string>& words) {
    verify_planted(words);
    std::vector<Planted::Run> runs = Planted::runs();
    std::erase_if(runs, [](const auto& each) { return each.problem.settings != Settings{{"tiles", "many"}}; });
    return runs;
  };
  const std::vector<Planted::Run> many = with_many({});
  EXPECT_EQ(many.size(), 4U) << "two runs of both modes";
  for (const Planted::Run& each : many) {
    EXPECT_GE(each.problem.items * 4, 66 * 3584) << "three windows of tiles of 3.5 KiB";
    EXPECT_FALSE(each.by_number) << "what waits for others meets the worst order";
  }
  EXPECT_FALSE(with_many({"--items", "100", "--set", "tiles=many"}).front().by_number) << "as it is run again";
  EXPECT_TRUE(with_many({"--quick"}).empty());
  EXPECT_TRUE(with_many({"--items", "100"}).empty());
  EXPECT_TRUE(with_many({"--set", "fault=none"}).empty());
}

TEST(VerifyCommand, InterleavesBlocksWhereItIsAskedTo) {
  const auto by_number = [](const std::vector<std::string>& words) {
    verify_planted(words);
    return std::ranges::count_if(Planted::runs(), &Planted::Run::by_number);
  };
  EXPECT_EQ(by_number({"--items", "100"}), 4);
  EXPECT_EQ(by_number({"--items", "100", "--interleave"}), 0);
}

TEST(VerifyCommand, TriesEveryInputOfFewItemsAndRandomOnesOfMore) {
  EXPECT_TRUE(has(verify_planted({"--items", "33"}).out, "10 passed")) << "five kinds, two modes";
  EXPECT_TRUE(has(verify_planted({"--items", "34"}).out, "2 passed"));
  EXPECT_TRUE(has(verify_planted({"--items", "34", "--input", "all"}).out, "10 passed"));
  EXPECT_TRUE(has(verify_planted({"--items", "34", "--input", "exact"}).out, "2 passed")) << "of integers: random";
  const std::vector<std::string> hs_block{"--variant", "hs_block", "--type", "f32", "--op", "plus", "--device", "simt"};
  const auto of_floats = [&](const std::vector<std::string>& words) { return run_verify(with(hs_block, words)).out; };
  EXPECT_TRUE(has(of_floats({"--items", "33"}), "12 passed, 0 failed")) << "and the exact one";
  EXPECT_TRUE(has(of_floats({"--items", "34"}), "4 passed, 0 failed")) << "random and exact";
  EXPECT_TRUE(has(of_floats({"--items", "34", "--quick"}), "2 passed, 0 failed"));
}

TEST(VerifyCommand, UntracedLooksForNoRaces) {
  const Result traced = verify_planted({"--items", "34", "--set", "fault=race"});
  EXPECT_EQ(traced.status, kFailed);
  EXPECT_TRUE(has(traced.out, "race in planted at tests/cli/verify_command_test.cpp:"));
  EXPECT_EQ(verify_planted({"--items", "34", "--set", "fault=race", "--untraced"}).status, kOk);
  EXPECT_TRUE(has(verify_planted({"--items", "34", "--set", "fault=wrong", "--untraced", "--interleave"}).out,
                  "--set fault=wrong --untraced --interleave\n"));
}

TEST(VerifyCommand, SumsUpAndSaysWhatAVariantCannotTake) {
  const auto expect = [](const std::vector<std::string>& words, int status, const std::string& out) {
    const Result ended = run_verify(with({"--device", "simt", "--variant"}, words));
    EXPECT_EQ(ended.status, status) << ended.err << ended.out;
    EXPECT_TRUE(has(ended.out, out));
    EXPECT_EQ(status == kBadInput, has(ended.err, "nothing was checked")) << ended.err;
  };
  // 24 combinations of type, operator and mode, two sizes, five inputs; an exact one for 8 of them.
  expect({"hs_block", "--items", "1,33"}, kOk, "256 passed, 0 failed, 0 skipped");
  const std::vector<std::string> sums{"hs_block", "--type", "i32", "--op", "plus", "--mode", "inclusive", "--items"};
  expect(with(sums, {"1025"}), kBadInput, "n <= 1024");
  expect(with(sums, {"1025"}), kBadInput, "0 passed, 0 failed, 1 skipped");
  expect(with(sums, {"33", "--aliasing", "apart,shifted,in_place"}), kOk, "10 passed, 0 failed, 5 skipped");
  expect(with(sums, {"33", "--aliasing", "apart,shifted,in_place"}), kOk, "hs_block does not work in place");
  expect({"hs_block", "--type", "i8", "--items", "1"}, kBadInput, "hs_block does not take");
  EXPECT_EQ(run_verify({"--device", "simt", "--variant", "look_ahead", "--items", "1000"}).status, kNoDevice);
}

/// The lines of the file that `--json` writes when the planted scan is checked so.
std::vector<nlohmann::json> lines_of(std::vector<std::string> words, int status) {
  const TestFolder folder;
  const std::string path = folder / "checks.jsonl";
  words.insert(words.end(), {"--json", path});
  const auto ended = verify_planted(words);
  EXPECT_EQ(ended.status, status);
  EXPECT_TRUE(ended.out.ends_with(" skipped; every check is in " + path + "\n")) << ended.out;
  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(VerifyCommand, WritesEveryCheckAsALineOfTypedFields) {
  const auto lines = lines_of(
      {"--items", "1024,1025", "--mode", "inclusive", "--aliasing", "apart,in_place", "--set", "fault=last_item"},
      kFailed);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0]["schema"], "scanlab-verification/1");
  EXPECT_EQ(lines[0]["context"]["backend"], "simt");
  EXPECT_TRUE(lines[0]["context"].contains("git_commit"));
  const nlohmann::json& passed = lines[1];
  for (const auto& [field, value] : std::map<std::string, nlohmann::json>{{"check", "verify"},
                                                                          {"variant", "planted_fault"},
                                                                          {"type", "i32"},
                                                                          {"op", "plus"},
                                                                          {"mode", "inclusive"},
                                                                          {"items", 1024},
                                                                          {"settings", {{"fault", "last_item"}}},
                                                                          {"input", "random"},
                                                                          {"aliasing", "apart"},
                                                                          {"outcome", "passed"},
                                                                          {"reason", ""}}) {
    EXPECT_EQ(passed[field], value) << field;
  }
  EXPECT_FALSE(passed.contains("error_bound")) << "integers are compared exactly";
  EXPECT_EQ(lines[2]["outcome"], "skipped");
  EXPECT_TRUE(has(lines[2]["reason"], "does not work in place"));
  EXPECT_EQ(lines[3]["outcome"], "failed");
  EXPECT_TRUE(has(lines[3]["reason"], "1 of 1025 items wrong")) << lines[3];
  EXPECT_EQ(lines.back(),
            nlohmann::json::parse(R"({"ended": {"passed": 1, "failed": 1, "skipped": 2, "interrupted": false}})"));
}

TEST(VerifyCommand, ALineOfWhatRoundsHasItsErrorAndItsBound) {
  const auto lines = lines_of({"--variant", "hs_block", "--type", "f32", "--op", "plus", "--items", "33"}, kOk);
  const auto of_rounded = std::ranges::count_if(lines, [](const nlohmann::json& line) {
    return line.value("error_bound", 0.0) > 0 && line["error_to_bound"] <= 1;
  });
  EXPECT_EQ(of_rounded, 10) << "five inputs, two modes";
  const auto exact = std::ranges::count_if(lines, [](const nlohmann::json& line) {
    return line.contains("input") && line["input"] == "exact" && line["outcome"] == "passed" &&
           !line.contains("error_bound");
  });
  EXPECT_EQ(exact, 2) << "compared exactly";
}

TEST(VerifyCommand, AFileThatHoldsSomethingIsReplacedOnlyIfAsked) {
  const Result ended = verify_planted({"--items", "1", "--json", "/proc/self/exe"});
  EXPECT_EQ(ended.status, kBadInput);
  EXPECT_TRUE(has(ended.err, "/proc/self/exe"));
}

TEST(VerifyCommand, ARepeatedCheckSaysHowManyOutputsDiffer) {
  const Variant planted = Planted::variant();
  const verify::Check check{.tested_case = {&planted, {.items = 100}},
                            .input = InputKind::random,
                            .aliasing = verify::Aliasing::apart,
                            .runs = 50,
                            .different = 3};
  const auto line = verify::to_json(check);
  EXPECT_EQ(line["check"], "repeat");
  EXPECT_EQ(line["runs"], 50);
  EXPECT_EQ(line["different_outputs"], 3);
  EXPECT_EQ(line["outcome"], "passed");
}

TEST(VerifyCommand, WrongWordsNameTheNearMatches) {
  expect_error({"verify", "--device", "simt", "--input", "randon"}, "random");
  expect_error({"verify", "--device", "simt", "--aliasing", "shift"}, "shifted");
  expect_error({"verify", "--device", "opencl"}, "opencl");
  expect_error({"verify", "--devise", "simt"}, "--device");
  expect_error({"verify", "--device", "simt", "--repeat", "5"}, "--repeat needs a GPU");
  expect_error({"verify", "--device", "simt", "--repeat", "1"}, "--repeat 1");
  expect_error({"verify", "--variant", "hs_blok"}, "hs_block");
}

TEST(VerifyCommand, WithoutAGpuSaysWhatToDoInstead) {
  std::string refusal;
  if (measure::device_facts(refusal)) GTEST_SKIP() << "there is a GPU here";
  expect_error({"verify", "--device", "cuda"}, "--device simt", kNoDevice);
}

}  // namespace
}  // namespace scanlab::cli
