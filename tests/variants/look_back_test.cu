// A single-pass scan in miniature: decoupled look-back (Merrill and Garland 2016) with tickets and tagged words, one
// warp a block and one item a lane. It shows that the emulator explores the interleavings that such a scan must stand,
// by mutants that are right in most of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "harness/core/operators.hpp"
#include "harness/simt/emulator.hpp"
#if defined(__CUDACC__)
#include "harness/simt/gpu_block.cuh"

static_assert(scanlab::simt::ThreadBlock<scanlab::simt::GpuBlock>);
#endif

namespace scanlab::simt {
namespace {

enum class Flaw {
  none,
  flag_before_value,   // the state is published by two stores, first the flag: others may see it without its value
  waits_for_the_next,  // looks ahead instead of back: the last tile waits for one that does not exist
  no_counter,          // takes the block's number for a ticket: blocks that have not started may be waited for
};

enum Status : std::uint32_t { kNothing, kAggregate, kPrefix };

/// What a block tells of its tile, in one word: what the value is, and the value.
struct alignas(8) State {
  std::uint32_t status;
  std::int32_t value;
};

template <Flaw flaw>
struct LookBackKernel {
  static constexpr const char* kName = "look_back";
  static constexpr int kMaxThreads = kWarpLanes;

  /// in, out: 32 items a block. states: one a tile, zero at first; as_words: the same memory. ticket: zero at first.
  template <ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, Global<Block, const std::int32_t> in, Global<Block, std::int32_t> out,
                             Global<Block, State> states, Global<Block, std::uint32_t> as_words,
                             Global<Block, std::uint32_t> ticket) const {
    const auto publish = [&](std::int64_t tile, State state) {
      if constexpr (flaw == Flaw::flag_before_value) {
        block.store_atomic(as_words, 2 * tile, state.status);
        block.store_atomic(as_words, 2 * tile + 1, static_cast<std::uint32_t>(state.value));
      } else {
        block.store_atomic(states, tile, state);
      }
    };
    // TileCounter are drawn by blocks that run: whoever holds a lower one has started, and needs nobody after itself.
    std::uint32_t drawn = 0;
    if (block.lane() == 0) drawn = block.fetch_add(ticket, 0, 1);
    std::int64_t tile = block.shuffle(drawn, 0);
    if constexpr (flaw == Flaw::no_counter) tile = block.group_index();

    std::int32_t item = in[tile * kWarpLanes + block.lane()];
    for (int offset = 1; offset < kWarpLanes; offset *= 2) {
      const std::int32_t left = block.shuffle_up(item, offset);
      if (block.lane() >= offset) item += left;
    }
    const bool last = block.lane() == kWarpLanes - 1;
    if (last) publish(tile, {tile == 0 ? kPrefix : kAggregate, item});

    // Each lane reads a tile's state, the last lane that of the nearest. All up to the nearest prefix are added.
    std::int32_t before = 0;
    for (std::int64_t end = tile; end > 0; end -= kWarpLanes) {
      const std::int64_t other = end - kWarpLanes + block.lane() + (flaw == Flaw::waits_for_the_next ? 2 : 0);
      State state{kPrefix, 0};  // of tiles before the first
      if (other >= 0) state = block.load_atomic(states, other);
      while (block.any(state.status == kNothing)) {
        block.pause();
        if (other >= 0) state = block.load_atomic(states, other);
      }
      const std::uint32_t prefixes = block.ballot(state.status == kPrefix);
      int nearest = kWarpLanes - 1;
      while (nearest > 0 && (prefixes >> nearest & 1) == 0) --nearest;
      std::int32_t sum = block.lane() >= nearest ? state.value : 0;
      for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) sum += block.shuffle_down(sum, offset);
      before += block.shuffle(sum, 0);
      if (prefixes != 0) break;
    }
    if (last && tile > 0) publish(tile, {kPrefix, before + item});
    out[tile * kWarpLanes + block.lane()] = before + item;
  }
};

struct Outcome {
  bool right = false;
  Report report;
};

template <Flaw flaw>
Outcome scan(std::int64_t tiles, const EmulatorOptions& options) {
  const std::int64_t n = tiles * kWarpLanes;
  std::vector<std::int32_t> in(n), out(n), expected(n);
  for (std::int64_t i = 0; i < n; ++i) {
    in[i] = static_cast<std::int32_t>(i % 7 + 1);
    expected[i] = in[i] + (i == 0 ? 0 : expected[i - 1]);
  }
  std::vector<State> states(tiles + 2);
  std::uint32_t ticket = 0;
  Emulator emulator(options);
  Outcome outcome;
  try {
    emulator.launch(
        {.blocks = tiles, .threads = kWarpLanes}, LookBackKernel<flaw>{}, Span<const std::int32_t>(in.data(), n, "in"),
        Span<std::int32_t>(out.data(), n, "out"), Span<State>(states.data(), tiles + 2, "states"),
        Span<std::uint32_t>(&states.front().status, 2 * tiles, "states"), Span<std::uint32_t>(&ticket, 1, "ticket"));
    outcome.right = out == expected;
  } catch (const LaunchFailure&) {
  }
  outcome.report = emulator.report();
  return outcome;
}

bool only(const Report& report, FaultKind kind) { return report.faults.size() == 1 && report.faults[0].kind == kind; }

TEST(LookBack, IsRightUnderAThousandInterleavings) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::int64_t tiles = 1 + static_cast<std::int64_t>(seed % 40);
    const Outcome outcome = scan<Flaw::none>(tiles, {.order = BlockOrder::interleaved, .seed = seed});
    ASSERT_TRUE(outcome.report.faults.empty()) << "seed " << seed << ": " << outcome.report.faults.front().message;
    ASSERT_TRUE(outcome.right) << "seed " << seed;
  }
}

TEST(LookBack, IsRightInOrder) {
  const Outcome outcome = scan<Flaw::none>(100, {});
  EXPECT_TRUE(outcome.report.faults.empty());
  EXPECT_TRUE(outcome.right);
}

TEST(LookBack, AStateInTwoStoresIsCaught) {
  EXPECT_TRUE(scan<Flaw::flag_before_value>(20, {}).right) << "in order nobody looks between the two";
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Outcome outcome = scan<Flaw::flag_before_value>(20, {.order = BlockOrder::interleaved, .seed = seed});
    if (!outcome.right) ++wrong;
  }
  EXPECT_GT(wrong, 0);
}

TEST(LookBack, WaitingForALaterTicketIsNoProgress) {
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved}) {
    const Outcome outcome = scan<Flaw::waits_for_the_next>(6, {.order = order, .max_pauses = 100'000});
    EXPECT_TRUE(only(outcome.report, FaultKind::no_progress));
  }
}

TEST(LookBack, ABlockNumberIsNoTicket) {
  EXPECT_TRUE(scan<Flaw::no_counter>(40, {}).right) << "in order every lower block has ended";
  int stuck = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome =
        scan<Flaw::no_counter>(40, {.order = BlockOrder::interleaved, .seed = seed, .max_pauses = 100'000});
    if (only(outcome.report, FaultKind::no_progress)) ++stuck;
  }
  EXPECT_GT(stuck, 0);
}

}  // namespace
}  // namespace scanlab::simt
