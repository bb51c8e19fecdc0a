// The kernels behind scanlab::DeviceScan on the emulator, with what callers bring: functions without an identity, items
// of any size, arrays of two types, initial values. A function that is given what is no item, or operands in another
// order than the array's, gives a result that is seen to be wrong.
#include "variants/scan/scan_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/core/ceil.hpp"
#include "harness/simt/emulator.hpp"
#include "tests/device_scan/item_range.hpp"
#include "variants/scan/decoupled_lookback.cuh"
#include "variants/scan/one_block.cuh"

namespace scanlab::scan {
namespace {

constexpr std::int64_t kSizes[] = {1, 2, 31, 32, 33, 100, 127};
/// Sizes of warps with several rows of 4-byte items.
constexpr std::int64_t kSizesInRows[] = {128, 129, 200, 257, 300};

/// Neighbours join; anything else is no range.
struct Join {
  template <class R>
  SCANLAB_HD R operator()(const R& a, const R& b) const {
    const bool neighbours = a.first <= a.last && b.first <= b.last && a.last + 1 == b.first;
    R joined = a;
    joined.first = neighbours ? a.first : 1;
    joined.last = neighbours ? b.last : 0;
    return joined;
  }
};

template <class R>
SCANLAB_HD R range(int first, int last) {
  R made{};
  made.first = static_cast<decltype(made.first)>(first);
  made.last = static_cast<decltype(made.last)>(last);
  return made;
}

/// One block, as DeviceScan launches it. The output begins `skip` items into its memory, the input too.
template <class Op>
std::vector<OutOf<Op>> by_one_block(const std::vector<InOf<Op>>& in, Mode mode, const Op& op) {
  constexpr int kRows = 2;
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<OutOf<Op>> out(in.size());
  simt::Emulator machine;
  const int warps = static_cast<int>(ceil_div(n, kLanes * kRows * RegisterTile<Op, kRows>::kVector));
  machine.launch({.blocks = 1, .threads = kLanes * warps, .shared_bytes = kMaxWarps * sizeof(typename Op::Item)},
                 OneBlockKernel<kRows, false>{}, machine.global(in.data(), n, "in"),
                 machine.global(out.data(), n, "out"), n,
                 machine.aligned(machine.global(in.data(), n, "in"), 16) &&
                     machine.aligned(machine.global(out.data(), n, "out"), 16),
                 mode, op);
  EXPECT_TRUE(machine.report().faults.empty());
  return out;
}

/// Blocks of one warp that look back.
template <class Op>
std::vector<OutOf<Op>> by_look_back(const std::vector<InOf<Op>>& in, Mode mode, const Op& op) {
  using Item = typename Op::Item;
  using State = TileState<Item>;
  using Kernel = LookBackKernel<1, 1>;
  const auto n = static_cast<std::int64_t>(in.size());
  const std::int64_t tiles = ceil_div(n, RegisterTile<Op, 1>::items(kLanes));
  const std::int64_t words = tiles * State::kWords;
  std::vector<OutOf<Op>> out(in.size());
  std::uint64_t counter = 12345;  // whatever was there
  std::vector<typename State::Word> states(words, {77, 78});
  simt::Emulator machine;
  const auto counters = machine.global(&counter, 1, "counter");
  const auto all_states = machine.global(states.data(), words, "states");
  prepare_tiles<typename State::Word>(machine, counters, TileCounter::first(), all_states, words);
  machine.launch({.blocks = tiles, .threads = kLanes, .shared_bytes = Kernel::shared_bytes(kLanes, sizeof(Item))},
                 Kernel{}, machine.global(in.data(), n, "in"), machine.global(out.data(), n, "out"), n, true, mode,
                 counters, TileCounter{static_cast<std::uint32_t>(tiles)}, all_states, op);
  EXPECT_TRUE(machine.report().faults.empty());
  return out;
}

template <class R>
void join_ranges(std::span<const std::int64_t> sizes = kSizes) {
  for (const std::int64_t n : sizes) {
    SCOPED_TRACE(n);
    std::vector<R> in;
    std::vector<R> inclusive;
    std::vector<R> exclusive;
    std::vector<R> with_initial;
    for (int i = 0; i < n; ++i) {
      in.push_back(range<R>(i, i));
      inclusive.push_back(range<R>(0, i));
      exclusive.push_back(range<R>(-1, i - 1));
      with_initial.push_back(range<R>(-1, i));
    }
    const FunctionOf<R, R, Join> plain(Join{});
    const FunctionOf<R, R, Join, R> initial(Join{}, range<R>(-1, -1));
    EXPECT_TRUE(by_one_block(in, Mode::inclusive, plain) == inclusive);
    EXPECT_TRUE(by_one_block(in, Mode::exclusive, initial) == exclusive);
    EXPECT_TRUE(by_one_block(in, Mode::inclusive, initial) == with_initial);
    EXPECT_TRUE(by_look_back(in, Mode::inclusive, plain) == inclusive);
    EXPECT_TRUE(by_look_back(in, Mode::exclusive, initial) == exclusive);
    EXPECT_TRUE(by_look_back(in, Mode::inclusive, initial) == with_initial);
  }
}

TEST(ScanFunction, NeedsNoIdentityAndKeepsTheOrderOfItemsOfAnySize) {
  join_ranges<Range<std::int8_t, 0>>();   // 2 bytes: 8 a vector
  join_ranges<Range<std::int8_t, 1>>();   // 3: no power of 2
  join_ranges<Range<std::int16_t, 0>>();  // 4
  join_ranges<Range<std::int16_t, 0>>(kSizesInRows);
  join_ranges<Range<std::int8_t, 3>>();   // 5
  join_ranges<Range<std::int32_t, 0>>();  // 8
  join_ranges<Range<std::int32_t, 4>>();  // 12
  join_ranges<Range<std::int8_t, 13>>();  // 15
  join_ranges<Range<std::int64_t, 0>>();  // 16: a state takes two words
}

/// Looks back over many more tiles than one step does.
TEST(ScanFunction, LooksBackOverManyTiles) {
  using R = Range<std::int32_t, 4>;
  std::vector<R> in;
  std::vector<R> expected;
  for (int i = 0; i < 5000; ++i) {
    in.push_back(range<R>(i, i));
    expected.push_back(range<R>(0, i));
  }
  EXPECT_TRUE(by_look_back(in, Mode::inclusive, FunctionOf<R, R, Join>(Join{})) == expected);
}

/// The sums of `in` by both kernels, of a type that is added up.
template <class Out, class In, class Op>
void expect_sums(const std::vector<In>& in, Mode mode, const Op& op, typename Op::Item sum) {
  std::vector<Out> expected;
  for (const In& item : in) {
    const auto before = sum;
    sum = static_cast<typename Op::Item>(op(sum, static_cast<typename Op::Item>(item)));
    expected.push_back(static_cast<Out>(mode == Mode::inclusive ? sum : before));
  }
  EXPECT_EQ(by_one_block(in, mode, op), expected);
  EXPECT_EQ(by_look_back(in, mode, op), expected);
}

TEST(ScanFunction, AddsUpTheTypesThatCubAddsUp) {
  // decltype(initial + item), or decltype(item + item), and for sums that are cut off in the end those of the results.
  static_assert(std::is_same_v<SumOfNumbers<std::int8_t, std::int8_t>::Item, std::int8_t>);
  static_assert(std::is_same_v<SumOfNumbers<std::int8_t, std::int64_t>::Item, int>);
  static_assert(std::is_same_v<SumOfNumbers<std::int32_t, std::int64_t>::Item, std::int32_t>);
  static_assert(std::is_same_v<SumOfNumbers<std::uint64_t, std::uint16_t>::Item, std::uint16_t>);
  static_assert(std::is_same_v<SumOfNumbers<float, double>::Item, float>);
  static_assert(std::is_same_v<SumOfNumbers<std::int32_t, float>::Item, std::int32_t>);
  static_assert(std::is_same_v<FunctionOf<std::int8_t, std::int8_t, Add>::Item, int>);
  static_assert(std::is_same_v<FunctionOf<float, float, Add, double>::Item, double>);

  std::vector<std::int8_t> small;
  for (int i = 0; i < 300; ++i) small.push_back(static_cast<std::int8_t>(100 + i % 28));
  expect_sums<std::int8_t>(small, Mode::inclusive, SumOfNumbers<std::int8_t, std::int8_t>{}, std::int8_t{0});
  expect_sums<std::int64_t>(small, Mode::exclusive, SumOfNumbers<std::int8_t, std::int64_t>{}, 0);
  expect_sums<std::int16_t>(small, Mode::exclusive, FunctionOf<std::int8_t, std::int16_t, Add, std::int64_t>(Add{}, 5),
                            5);
  std::vector<float> halves;
  for (int i = 0; i < 300; ++i) halves.push_back(0.5f * static_cast<float>(i));
  expect_sums<std::int32_t>(halves, Mode::inclusive, FunctionOf<float, std::int32_t, Add, double>(Add{}, 0.25), 0.25);
  std::vector<std::uint8_t> flags(300, 1);
  expect_sums<std::uint32_t>(flags, Mode::inclusive, SumOfNumbers<std::uint8_t, std::uint32_t>{}, 0);
}

/// Beyond the end of an array, before its beginning, and in lanes that have nothing to say, there are no items: a
/// function may not stand what it is not made for.
TEST(ScanFunction, IsNeverGivenWhatIsNoItem) {
  struct Marked {
    int is_item;
    int value;
    bool operator==(const Marked&) const = default;
  };
  static int strangers;
  struct AddMarked {
    SCANLAB_HD Marked operator()(const Marked& a, const Marked& b) const {
#if !defined(__CUDA_ARCH__)
      if (a.is_item != 1 || b.is_item != 1) ++strangers;
#endif
      return {1, a.value + b.value};
    }
  };
  strangers = 0;
  for (const std::int64_t n : kSizes) {
    std::vector<Marked> expected;
    for (int i = 0; i < n; ++i) expected.push_back({1, i + 1});
    const std::vector<Marked> in(n, {1, 1});
    const FunctionOf<Marked, Marked, AddMarked> op(AddMarked{});
    EXPECT_TRUE(by_one_block(in, Mode::inclusive, op) == expected);
    EXPECT_TRUE(by_look_back(in, Mode::inclusive, op) == expected);
  }
  EXPECT_EQ(strangers, 0);
}

/// A function with a state of its own, as a lambda that captures has.
TEST(ScanFunction, MayCarryAState) {
  struct AddModulo {
    int modulus;
    SCANLAB_HD int operator()(int a, int b) const { return (a + b) % modulus; }
  };
  const std::vector<int> in(100, 5);
  expect_sums<int>(in, Mode::exclusive, FunctionOf<int, int, AddModulo, int>(AddModulo{7}, 3), 3);
}

}  // namespace
}  // namespace scanlab::scan
