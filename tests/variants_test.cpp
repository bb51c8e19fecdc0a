// What the variants promise: closed forms, conflict-free padding, no faults, one right result under any interleaving.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "harness/model/variant.hpp"
#include "harness/simt/executor.hpp"
#include "harness/verify/verification.hpp"
#include "variants/scan/tile_state.cuh"

namespace scanlab {
namespace {

const Variant& variant(const std::string& id) {
  const Variant* found = Registry::instance().find(id);
  if (found == nullptr) throw std::runtime_error("no variant " + id);
  return *found;
}

/// Counts of one run on the executor.
simt::Report counts(const std::string& id, const Problem& problem) {
  const BoundScan bound = variant(id).bind(problem);
  EXPECT_TRUE(bound.plan.possible()) << bound.plan.refusal;
  const std::size_t bytes = problem.items * item_bytes(problem.type, problem.op);
  const auto allocate = [](std::size_t size) {
    void* memory = std::aligned_alloc(256, (size + 256) / 256 * 256);
    std::memset(memory, 0, (size + 256) / 256 * 256);
    return std::unique_ptr<void, decltype(&std::free)>(memory, std::free);
  };
  const auto in = allocate(bytes);
  const auto out = allocate(bytes);
  const auto workspace = allocate(bound.plan.workspace_bytes);
  simt::Executor executor;
  bound.simt({in.get(), out.get(), workspace.get()}, executor);
  return executor.report();
}

TEST(ClosedForms, AreWhatTheExecutorCounts) {
  for (const auto& [id, each] : Registry::instance().all()) {
    if (!each.machines.simt || !each.about.cost.operations) continue;
    for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
      for (const std::int64_t n : {1, 2, 3, 31, 32, 33, 1000, 1023, 1024, 2047, 2048, 2049, 5000, 70'001}) {
        const Problem problem{ElementType::i32, Operator::plus, mode, n, {}};
        if (!each.bind(problem).plan.possible()) continue;
        const simt::Counts totals = counts(id, problem).totals();
        const auto swaps = each.about.cost.swaps(problem);
        const auto operations = each.about.cost.operations(problem);
        // An exclusive Hillis-Steele scan shifts its input: its first sum is with the identity, and counts.
        EXPECT_EQ(totals.operations, operations) << id << " " << name(mode) << " n = " << n;
        EXPECT_EQ(totals.swaps, swaps) << id << " " << name(mode) << " n = " << n;
      }
    }
  }
}

TEST(DecoupledLookback, RunsOnOneWorkspaceAreRightWhereTheirNumbersWrap) {
  constexpr std::uint64_t kNumbers = std::uint64_t{1} << 31;  // that its tags tell apart
  constexpr std::uint64_t kRuns = 7;
  ASSERT_LT(kNumbers - scan::Tickets::kFirstRun % kNumbers, kRuns) << "no run wraps";
  const auto check = [&]<class Item>(ElementType type, Item) {
    const Problem problem{type, Operator::plus, Mode::inclusive, 30'000, {}};
    const BoundScan bound = variant("decoupled_lookback").bind(problem);
    const std::unique_ptr<void, decltype(&std::free)> workspace(
        std::aligned_alloc(256, (bound.plan.workspace_bytes + 255) / 256 * 256), std::free);
    simt::ExecutorOptions options;
    options.order = simt::BlockOrder::interleaved;  // else each tile finds all that is before it done
    simt::Executor executor(options);
    bound.prepare_simt(workspace.get(), executor);
    for (std::uint64_t run = 1; run <= kRuns; ++run) {  // each of other items: what is left of the one before is wrong
      const std::vector<Item> in(problem.items, static_cast<Item>(run));
      std::vector<Item> out(problem.items);
      std::vector<Item> expected(problem.items);
      std::partial_sum(in.begin(), in.end(), expected.begin());
      bound.simt({in.data(), out.data(), workspace.get()}, executor);
      EXPECT_EQ(out, expected) << name(type) << " run " << run;
    }
  };
  check(ElementType::i32, std::int32_t{});  // a tag of 4 bytes
  check(ElementType::i64, std::int64_t{});  // and of 8
}

TEST(ClosedForms, OfTheLiterature) {
  const auto operations = [](const std::string& id, std::int64_t n) {
    return counts(id, {ElementType::f32, Operator::plus, variant(id).about.natural_mode, n, {}}).totals().operations;
  };
  // Hillis and Steele 1986 for n = 2^M: n (log2 n - 1) + 1.
  for (int m = 1; m <= 10; ++m) EXPECT_EQ(operations("hs_block", 1 << m), (1 << m) * (m - 1) + 1);
  // Harris, Sengupta and Owens 2007: 2 (n - 1).
  for (int m = 1; m <= 11; ++m) EXPECT_EQ(operations("hso_block", 1 << m), 2 * ((1 << m) - 1));
  for (int m = 8; m <= 14; ++m) EXPECT_EQ(operations("hso_reentry", 1 << m), 2 * ((1 << m) - 1));
}

/// Degree of the worst request in the steps of the tree.
int worst_tree_degree(const simt::Report& report, simt::BankCounts simt::Counts::*banks = &simt::Counts::banks32) {
  int worst = 0;
  for (const simt::Launch& launch : report.launches) {
    for (const simt::Step& step : launch.steps) {
      if (step.label.find("sweep") != std::string::npos) worst = std::max(worst, (step.counts.*banks).max_degree);
    }
  }
  return worst;
}

TEST(Padding, TwoLevelsLeaveNoConflictInAnyTreeStep) {
  for (const ElementType type : {ElementType::i32, ElementType::f32, ElementType::i64, ElementType::f64}) {
    for (const char* id : {"hso_block_padded", "hso_blocked_padded", "hso_reentry_padded"}) {
      const Problem problem{type, Operator::plus, Mode::exclusive, 2048, {{"padding", "two_level"}}};
      EXPECT_EQ(worst_tree_degree(counts(id, problem)), 1) << id << " " << name(type);
    }
  }
}

TEST(Padding, WhereTwoLevelsAreNotEnough) {
  const auto worst = [](ElementType type, Operator op, std::int64_t n) {
    return worst_tree_degree(counts("hso_block_padded", {type, op, Mode::exclusive, n, {}}));
  };
  EXPECT_EQ(worst(ElementType::i32, Operator::plus, 1500), 2) << "a node cut short by the end of the tile";
  EXPECT_EQ(worst(ElementType::f64, Operator::affine, 2048), 4) << "items of 16 bytes";
}

TEST(Padding, TwoLevelsFitTheBanksOf2007Too) {
  const Problem problem{ElementType::f32, Operator::plus, Mode::exclusive, 2048, {{"padding", "two_level_16"}}};
  EXPECT_EQ(worst_tree_degree(counts("hso_block_padded", problem), &simt::Counts::banks16), 1);
}

TEST(Padding, OneLevelLeavesConflictsInDeepTreesAndNoneLeavesThemAll) {
  const auto worst = [](const char* id, Settings settings) {
    return worst_tree_degree(
        counts(id, {ElementType::i32, Operator::plus, Mode::exclusive, 2048, std::move(settings)}));
  };
  EXPECT_EQ(worst("hso_block", {}), 32);
  EXPECT_GT(worst("hso_block_padded", {{"padding", "row"}}), 1);
  EXPECT_LT(worst("hso_block_padded", {{"padding", "row"}}), 32);
}

TEST(Loading, NeighboursConflictTwoWayAndHalvesDoNot) {
  const auto load_degree = [](const char* load) {
    const Problem problem{ElementType::i32, Operator::plus, Mode::exclusive, 2048, {{"load", load}}};
    return counts("hso_block", problem).launches.at(0).steps.at(0).counts.banks32.max_degree;
  };
  EXPECT_EQ(load_degree("neighbours"), 2);
  EXPECT_EQ(load_degree("halves"), 1);
}

TEST(Variants, RefuseWhatTheyCannotTake) {
  EXPECT_NE(variant("hs_block").bind({.items = 1025}).plan.refusal.find("n <= 1024"), std::string::npos);
  EXPECT_NE(variant("hso_block").bind({.items = 2049}).plan.refusal.find("n <= 2048"), std::string::npos);
  EXPECT_NE(
      variant("hso_block_padded").bind({.items = 8, .settings = {{"padding", "none"}}}).plan.refusal.find("two_level"),
      std::string::npos);
  EXPECT_NE(variant("hs_block").bind({.items = 8, .settings = {{"padding", "row"}}}).plan.refusal.find("no parameter"),
            std::string::npos);
}

/// Every executor variant, small sizes, an operator that does not commute, blocks and threads in random order.
TEST(Variants, AreRightUnderAnyInterleaving) {
  for (const auto& [id, each] : Registry::instance().all()) {
    if (!each.machines.simt) continue;
    for (const std::int64_t n : {1, 33, 1024, 2049, 6200}) {
      for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
        const Problem problem{ElementType::i32, Operator::affine, mode, n, {}};
        if (!each.bind(problem).plan.possible()) continue;
        const verify::Oracle oracle(problem, verify::InputKind::random, 11);
        for (const std::uint64_t seed : {1, 2, 3}) {
          const verify::Outcome outcome = verify::verify_on_cpu(
              each, problem, oracle, {.trace = true, .order = simt::BlockOrder::interleaved, .seed = seed});
          EXPECT_TRUE(outcome.passed()) << id << " n = " << n << ": " << outcome.message;
        }
      }
    }
  }
}

/// Tiles that wait for each other: of the orders in which they may run, a thousand, each with a state left by the last.
TEST(Variants, LookBackIsRightUnderAThousandInterleavings) {
  const Problem problem{ElementType::i64, Operator::affine, Mode::exclusive, 3001, {{"threads", "128"}}};  // 6 tiles
  const verify::Oracle oracle(problem, verify::InputKind::random, 3);
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const verify::Outcome outcome =
        verify::verify_on_cpu(variant("decoupled_lookback"), problem, oracle,
                              {.trace = false, .order = simt::BlockOrder::interleaved, .seed = seed});
    ASSERT_TRUE(outcome.passed()) << "seed " << seed << ": " << outcome.message;
  }
}

/// The multi-kernel form must hand over rightly whatever the number of levels a launch.
TEST(Reentry, AnyLevelsALaunch) {
  for (const char* levels : {"1", "2", "3", "5", "7", "10", "11"}) {
    for (const std::int64_t n : {1, 2, 5, 2047, 2048, 2049, 9001}) {
      const Problem problem{ElementType::i64, Operator::affine, Mode::inclusive, n, {{"levels", levels}}};
      const verify::Oracle oracle(problem, verify::InputKind::random, 5);
      for (const char* id : {"hso_reentry", "hso_reentry_padded"}) {
        const verify::Outcome outcome = verify::verify_on_cpu(variant(id), problem, oracle, {});
        EXPECT_TRUE(outcome.passed()) << id << " levels = " << levels << " n = " << n << ": " << outcome.message;
      }
    }
  }
}

}  // namespace
}  // namespace scanlab
