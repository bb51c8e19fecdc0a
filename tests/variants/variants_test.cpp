// Tests of the promises of variants: closed forms, chains of additions, conflict-free padding, no faults, one right
// result under any interleaving.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/simt/emulator.hpp"
#include "harness/simt/registration.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/verification.hpp"
#include "variants/scan/scan_then_propagate.cuh"
#include "variants/scan/tile_state.cuh"

namespace scanlab {
namespace {

const Variant& variant(const std::string& id) {
  const Variant* registered = Registry::instance().find(id);
  if (registered == nullptr) throw std::runtime_error("no variant " + id);
  return *registered;
}

using Memory = std::unique_ptr<void, decltype(&std::free)>;

Memory zeros(std::size_t bytes) {
  const std::size_t whole = (bytes + 256) / 256 * 256;
  void* memory = std::aligned_alloc(256, whole);
  std::memset(memory, 0, whole);
  return {memory, std::free};
}

/// Counts of one run on the emulator.
simt::Report counts(const std::string& id, const Problem& problem) {
  const BoundScan bound = variant(id).bind(problem);
  EXPECT_TRUE(bound.plan.possible()) << bound.plan.refusal;
  const std::size_t bytes = problem.items * item_bytes(problem.type, problem.op);
  const Memory in = zeros(bytes);
  const Memory out = zeros(bytes);
  const Memory workspace = zeros(bound.plan.workspace_bytes);
  simt::Emulator emulator;
  bound.simt({in.get(), out.get(), workspace.get()}, emulator);
  return emulator.report();
}

/// Every variant that the emulator runs, as it is by default and with small values of its parameters.
struct Shape {
  const Variant* variant;
  Settings settings;
};
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const auto& [id, each] : Registry::instance().all()) {
    if (!each.backends.simt || each.origin != Origin::variant) continue;
    all.push_back({&each, {}});
    if (const Settings small = small_settings(each.about); !small.empty()) all.push_back({&each, small});
  }
  return all;
}

std::string text(const Variant& variant, const Problem& problem) { return case_name(variant.about, problem); }

void expect_right(const Variant& variant, const Problem& problem, const simt::EmulatorOptions& options = {},
                  verify::Aliasing aliasing = verify::Aliasing::apart) {
  const verify::Oracle oracle(problem, InputKind::random, 11);
  const verify::Outcome outcome = verify::verify_on_cpu(variant, problem, oracle, options, aliasing);
  EXPECT_TRUE(outcome.passed()) << text(variant, problem) << ", seed " << options.seed << ": " << outcome.message;
}

TEST(ClosedForms, AreWhatTheEmulatorCounts) {
  for (const auto& [id, each] : Registry::instance().all()) {
    if (!each.backends.simt || !each.about.cost.operations) continue;
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

/// The longest chain of additions behind any output, as the emulator counts it.
std::int64_t counted_chain(const Variant& variant, const Problem& problem, simt::BlockOrder order) {
  return with_monoid(problem.type, problem.op, [&]<class Op>(Op) -> std::int64_t {
    using Item = typename Op::Item;
    if constexpr (!Op::kRounds || !requires(Item item) { Op::chain_through(item, item); }) {
      return -1;
    } else {
      const BoundScan bound = variant.bind(problem);
      std::vector<Item> in(problem.items);
      for (Item& item : in) {
        if constexpr (Op::kOperator == Operator::affine) {
          item = {1, 1};
        } else {
          item = 1;
        }
      }
      std::vector<Item> out(problem.items);
      const Memory workspace = zeros(bound.plan.workspace_bytes);
      simt::Emulator emulator({.trace = false, .order = order, .chains = true});
      if (bound.prepare_simt) bound.prepare_simt(workspace.get(), emulator);
      bound.simt({in.data(), out.data(), workspace.get()}, emulator);
      double longest = 1;
      for (const Item& item : out) longest = std::max<double>(longest, verify::rounded_part<Op>(item));
      return static_cast<std::int64_t>(longest) - 1;
    }
  });
}

/// A bound of rounding errors is as wide as its d is long: one that is too long lets wrong floats pass, one that is too
/// short refuses right ones. A plan speaks of full tiles, however few items there are: that is what kFullTile is for.
TEST(Chains, PlansHaveTheOnesThatTheEmulatorCounts) {
  constexpr std::int64_t kFullTile = 32;
  for (const auto& [each, settings] : shapes()) {
    for (const auto& [type, op, mode] : {std::tuple(ElementType::f32, Operator::plus, Mode::inclusive),
                                         std::tuple(ElementType::f32, Operator::affine, Mode::exclusive),
                                         std::tuple(ElementType::f64, Operator::plus, Mode::exclusive),
                                         std::tuple(ElementType::f64, Operator::affine, Mode::inclusive)}) {
      for (const std::int64_t n : {1, 2, 33, 1000, 1024, 2048, 4000, 8192, 16'000, 40'000}) {
        const Problem problem{type, op, mode, n, settings};
        const Plan plan = each->bind(problem).plan;
        if (!plan.possible()) continue;
        const std::int64_t counted = counted_chain(*each, problem, simt::BlockOrder::in_order);
        EXPECT_GE(plan.chain, counted) << text(*each, problem);
        EXPECT_LE(plan.chain, 2 * counted + kFullTile) << text(*each, problem);
        if (each->about.bitwise_reproducible || n > 8192) continue;
        EXPECT_GE(plan.chain, counted_chain(*each, problem, simt::BlockOrder::reversed)) << text(*each, problem);
        EXPECT_GE(plan.chain, counted_chain(*each, problem, simt::BlockOrder::interleaved)) << text(*each, problem);
      }
    }
  }
}

TEST(Chains, AreNoLongerThanThatOfAddingOneByOne) {
  constexpr std::int64_t kTileOfCub = 512;  // of what is not ours and not run here, more than enough
  for (const auto& [id, each] : Registry::instance().all()) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      for (const std::int64_t n : {1, 1000, 4096, 1 << 16, 1 << 20, 1 << 24}) {
        const Plan plan = each.bind({type, Operator::plus, Mode::inclusive, n, {}}).plan;
        if (plan.possible()) {
          EXPECT_LE(plan.chain, std::max(n, kTileOfCub)) << id << " n = " << n;
        }
      }
    }
  }
}

/// One thread scans a tile.
struct PlainTileKernel {
  static constexpr const char* kName = "plain_tile";
  static constexpr int kMaxThreads = 1;
  template <class Block, Monoid Op>
  void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                  simt::Global<Block, typename Op::Item> out, std::int64_t n, int tile, Mode mode,
                  simt::Global<Block, typename Op::Item> aggregates, Op op) const {
    const std::int64_t base = block.group_index() * tile;
    typename Op::Item sum = Op::identity();
    for (std::int64_t i = base; i < std::min(n, base + tile); ++i) {
      const typename Op::Item item = in[i];
      const typename Op::Item next = op(sum, item);
      out[i] = mode == Mode::inclusive ? next : sum;
      sum = next;
    }
    if (aggregates) aggregates[block.group_index()] = sum;
  }
};

/// scan_then_propagate of small tiles; by the way what it says of its cost.
template <class Op>
std::vector<typename Op::Item> propagate(const std::vector<typename Op::Item>& in, const Problem& problem, int tile,
                                         simt::Emulator& emulator) {
  using Item = typename Op::Item;
  const std::int64_t n = problem.items;
  std::vector<Item> out(n);
  const Memory memory = zeros(scan::propagate_workspace_bytes(problem, tile));
  simt::Workspace workspace(memory.get());
  const auto scan_tiles = [&](auto from, auto to, std::int64_t count, Mode mode, auto aggregates) {
    emulator.launch({.blocks = ceil_div(count, tile), .threads = 1}, PlainTileKernel{}, from, to, count, tile, mode,
                    aggregates, simt::Counted<Op>{});
  };
  scan::scan_then_propagate(emulator, simt::Counted<Op>{}, simt::Span<const Item>(in.data(), n, "in"),
                            simt::Span<Item>(out.data(), n, "out"), n, problem.mode, tile, workspace, scan_tiles);
  EXPECT_LE(workspace.bytes(), scan::propagate_workspace_bytes(problem, tile));
  EXPECT_TRUE(emulator.report().faults.empty());
  return out;
}

TEST(ScanThenPropagate, GoesDownAsManyLevelsAsItTakes) {
  constexpr int kTile = 3;
  for (const std::int64_t n : {1, 2, 3, 4, 9, 10, 27, 28, 81, 82, 244, 1000}) {
    const Problem problem{ElementType::i64, Operator::affine, n % 2 == 0 ? Mode::exclusive : Mode::inclusive, n, {}};
    const verify::Oracle oracle(problem, InputKind::random, 5);
    std::vector<AffineMap<std::int64_t>> in(n);
    for (std::int64_t i = 0; i < n; ++i) {
      in[i] = verify::input_item<Affine<std::int64_t>>(InputKind::random, 5, i, n);
    }
    simt::Emulator emulator;
    const auto out = propagate<Affine<std::int64_t>>(in, problem, kTile, emulator);
    EXPECT_TRUE(oracle.compare(out.data(), 0, Kind::scan).passed()) << n;
    EXPECT_EQ(emulator.report().totals().operations,
              scan::propagate_operations(n, kTile, [](std::int64_t items) { return items; }))
        << n;
  }
}

TEST(DecoupledLookback, RunsOnOneWorkspaceAreRightWhereTheirNumbersWrap) {
  constexpr std::uint64_t kNumbers = std::uint64_t{1} << 31;  // that its tags tell apart
  constexpr std::uint64_t kRuns = 7;
  ASSERT_LT(kNumbers - scan::TileCounter::kFirstRun % kNumbers, kRuns) << "no run wraps";
  const auto check = [&]<class Item>(ElementType type, Item) {
    const Problem problem{type, Operator::plus, Mode::inclusive, 30'000, {}};
    const BoundScan bound = variant("decoupled_lookback").bind(problem);
    const Memory workspace = zeros(bound.plan.workspace_bytes);
    simt::Emulator emulator({.order = simt::BlockOrder::interleaved});  // else tiles find all before them done
    bound.prepare_simt(workspace.get(), emulator);
    for (std::uint64_t run = 1; run <= kRuns; ++run) {  // each of other items: what is left of the one before is wrong
      const std::vector<Item> in(problem.items, static_cast<Item>(run));
      std::vector<Item> out(problem.items);
      std::vector<Item> expected(problem.items);
      std::partial_sum(in.begin(), in.end(), expected.begin());
      bound.simt({in.data(), out.data(), workspace.get()}, emulator);
      EXPECT_EQ(out, expected) << name(type) << " run " << run;
    }
  };
  check(ElementType::i32, std::int32_t{});  // a tag of 4 bytes
  check(ElementType::i64, std::int64_t{});  // and of 8
}

TEST(ClosedForms, AreThoseOfTheLiterature) {
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
      if (step.name.find("sweep") != std::string::npos) worst = std::max(worst, (step.counts.*banks).max_degree);
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

/// Every emulator variant, small sizes, an operator that does not commute, blocks and threads in random order.
TEST(Variants, AreRightUnderAnyInterleaving) {
  for (const auto& [id, each] : Registry::instance().all()) {
    if (!each.backends.simt) continue;
    for (const std::int64_t n : {1, 20, 33, 1024, 2049, 6200}) {
      for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
        const Problem problem{ElementType::i32, Operator::affine, mode, n, {}};
        if (!each.bind(problem).plan.possible()) continue;
        for (const std::uint64_t seed : {1, 2, 3}) {
          expect_right(each, problem, {.order = simt::BlockOrder::interleaved, .seed = seed});
        }
      }
    }
  }
}

/// More tiles than any window, share or launch holds: every loop of a kernel goes round several times. Traced: a race
/// between one turn of a loop and the next is named.
TEST(Variants, AreRightWhereTilesAreMany) {
  for (const auto& [each, settings] : shapes()) {
    if (settings.empty()) continue;
    for (const simt::BlockOrder order : {simt::BlockOrder::in_order, simt::BlockOrder::reversed}) {
      for (const auto& [type, op, mode] : {std::tuple(ElementType::i32, Operator::affine, Mode::exclusive),
                                           std::tuple(ElementType::f64, Operator::affine, Mode::inclusive)}) {
        const std::int64_t n = 120'001 / static_cast<std::int64_t>(item_bytes(type, op));
        expect_right(*each, {type, op, mode, n, settings}, {.order = order});
      }
    }
  }
}

TEST(Variants, AreRightOfEveryTypeAndOperatorInEveryAliasing) {
  for (const auto& [each, settings] : shapes()) {
    for (const auto& [type, op] : compiled_monoids()) {
      const Mode mode = (static_cast<int>(type) + op.id[1]) % 2 == 0 ? Mode::inclusive : Mode::exclusive;
      const std::int64_t n = 14'001 / static_cast<std::int64_t>(item_bytes(type, op));  // several blocks
      Problem problem{type, op, mode, n, settings};
      if (!each->bind(problem).plan.possible()) problem.items = 1001;
      if (!each->bind(problem).plan.possible()) continue;
      for (const verify::Aliasing aliasing : verify::kAliasings) {
        if (!verify::aliasing_refusal(*each, aliasing).empty()) continue;
        expect_right(*each, problem, {.trace = false}, aliasing);
      }
    }
  }
}

/// Several rows, of every shape that `verify` tries: whoever reads or writes another's row is wrong.
TEST(ScansOfRows, AreRightOfEveryShape) {
  for (const auto& [id, each] : Registry::instance().all()) {
    const Primitive primitive = each.about.primitive;
    if (!each.backends.simt || !has_rows(primitive)) continue;
    for (const auto& [shape, settings] : each.about.checked) {
      const std::int64_t rows = scans_arrays(primitive) ? shape.rows : 3, items = rows * shape.axis * shape.inner;
      for (const auto& [type, op] :
           {std::pair(ElementType::i32, Operator::affine), {ElementType::f32, Operator::plus}}) {
        for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
          const Problem problem{type, op, mode, items, settings, rows, shape.inner};
          if (each.bind(problem).plan.possible()) expect_right(each, problem, {.trace = false});
        }
      }
    }
  }
}

/// The one block that scans the shares' aggregates has several warps of them.
TEST(ReduceThenScan, ScansTheAggregatesOfManyShares) {
  const Problem problem{ElementType::i64, Operator::affine, Mode::exclusive, 70 * 1024 + 5, {}};  // 71 tiles
  expect_right(variant("reduce_then_scan"), problem, {.trace = false});
}

/// The last block starts first, and a hundred are under way before the first tile has a prefix: the last of them look
/// back over windows of aggregates. A block that took its own number for a ticket would wait for one that cannot start.
TEST(DecoupledLookback, LooksBackOverSeveralWindowsWhateverBlockStartsFirst) {
  for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
    const Problem problem{ElementType::i64, Operator::affine, mode, 30'000, {{"threads", "32"}}};  // 235 tiles
    for (const bool trace : {false, true}) {
      expect_right(variant("decoupled_lookback"), problem,
                   {.trace = trace, .order = simt::BlockOrder::reversed, .max_pauses = 1'000'000});
    }
  }
}

/// Tiles that wait for each other: of the orders in which they may run, a thousand, each with a state left by the last.
TEST(Variants, LookBackIsRightUnderAThousandInterleavings) {
  const Problem problem{ElementType::i64, Operator::affine, Mode::exclusive, 3001, {{"threads", "128"}}};  // 6 tiles
  const verify::Oracle oracle(problem, InputKind::random, 3);
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
      for (const char* id : {"hso_reentry", "hso_reentry_padded"}) expect_right(variant(id), problem);
    }
  }
}

/// Vectors of 16 bytes, and words that others poll, lie in pieces of one workspace.
TEST(Workspace, ItsPiecesAreAlignedAndHoldWhatWasAskedFor) {
  const Memory memory = zeros(4096);
  simt::Workspace counted;
  simt::Workspace pieces(memory.get());
  auto* end = static_cast<unsigned char*>(memory.get());
  for (const std::int64_t bytes : {1, 255, 256, 257, 0, 40}) {
    EXPECT_EQ(counted.take<unsigned char>(bytes), nullptr);
    unsigned char* const piece = pieces.take<unsigned char>(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 256, 0) << bytes;
    EXPECT_GE(piece, end) << bytes;
    end = piece + bytes;
  }
  EXPECT_EQ(counted.bytes(), pieces.bytes());
  simt::Workspace small(memory.get(), 260);
  EXPECT_NE(small.take<unsigned char>(256), nullptr);
  EXPECT_NE(small.take<float>(1), nullptr);
  EXPECT_EQ(small.take<float>(1), nullptr);
  EXPECT_EQ(simt::Workspace(memory.get(), 260).take<float>(-1), nullptr);
  EXPECT_GE(static_cast<unsigned char*>(memory.get()) + pieces.bytes(), end);
}

}  // namespace
}  // namespace scanlab
