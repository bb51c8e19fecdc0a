// The CPU emulator checks kernels: these are the checks of the checker. Each fault is planted once and must be caught
// by name, with the file and line of the access.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "harness/simt/emulator.hpp"
#include "harness/simt/trace.hpp"
#include "variants/operators/affine.hpp"
#include "variants/operators/max.hpp"
#include "variants/operators/plus.hpp"

namespace scanlab::simt {
namespace {

using Ints = std::vector<int>;

/// Base of the small kernels below: a body written as a lambda over the CPU block.
template <class Body>
struct TestKernel {
  static constexpr const char* kName = "test_kernel";
  static constexpr int kMaxThreads = 1024;
  Body body;
  void operator()(CpuBlock& block) const { body(block); }
};

template <class Body>
Report run(const Grid& grid, Body body, EmulatorOptions options = {}) {
  Emulator emulator(options);
  try {
    emulator.launch(grid, TestKernel<Body>{body});
  } catch (const LaunchFailure&) {
    EXPECT_FALSE(emulator.report().faults.empty()) << "a failed launch must leave its fault in the report";
  }
  return emulator.report();
}

/// There is one fault, of this kind and with these words.
void expect_fault(const Report& report, FaultKind kind, const std::string& words = "") {
  ASSERT_EQ(report.faults.size(), 1U);
  const Fault& fault = report.faults.front();
  EXPECT_EQ(fault.kind, kind) << fault.message;
  EXPECT_NE(fault.message.find(words), std::string::npos) << fault.message;
  EXPECT_TRUE(fault.where.starts_with("tests/simt/emulator_test.cu:") || fault.where.starts_with("variants/"))
      << fault.where;
}

/// There are faults, and the first is a race.
void expect_race(const Report& report, const std::string& what = "") {
  ASSERT_FALSE(report.faults.empty()) << what;
  EXPECT_EQ(report.faults.front().kind, FaultKind::race) << what << report.faults.front().message;
}

TEST(Emulator, StopsAtAnAccessOutOfBounds) {
  Ints memory(8);
  const Span<int> out(memory.data(), 8, "out");
  expect_fault(run({.threads = 9}, [out](CpuBlock& block) { out[block.thread_rank()] = 1; }), FaultKind::out_of_bounds,
               "thread 8 of block 0 writes out[8], which has 8 items");
  expect_fault(run({}, [out](CpuBlock&) { out[-1] = 1; }, {.trace = false}), FaultKind::out_of_bounds);
  expect_fault(run({.shared_bytes = 16}, [](CpuBlock& block) { block.shared<int>(5); }), FaultKind::out_of_bounds);
}

/// Shared memory that one block wrote is unwritten in the next.
TEST(Emulator, NamesAReadOfUnwrittenSharedMemory) {
  for (const int blocks : {1, 2}) {
    expect_fault(run({.blocks = blocks, .shared_bytes = 4},
                     [blocks](CpuBlock& block) {
                       auto shared = block.shared<int>(1);
                       if (block.group_index() < blocks - 1) shared[0] = 1;
                       static_cast<void>(static_cast<int>(shared[0]));
                     }),
                 FaultKind::never_written);
  }
}

TEST(Emulator, NamesBarrierDivergence) {
  expect_fault(run({.threads = 33},
                   [](CpuBlock& block) {
                     if (block.thread_rank() != 32) block.sync();
                   }),
               FaultKind::barrier_divergence, "1 have returned");
  expect_fault(run({.threads = 2},
                   [](CpuBlock& block) {
                     if (block.thread_rank() == 0) {
                       block.sync();
                     } else {
                       block.sync();
                     }
                   }),
               FaultKind::barrier_divergence);
}

TEST(Emulator, NamesALoopThatNeverEnds) {
  const auto barriers = [](CpuBlock& block) {
    while (true) block.sync();
  };
  expect_fault(run({.threads = 2}, barriers, {.max_barriers = 50}), FaultKind::no_progress);
  int value = 0;
  const Span<int> flag(&value, 1, "flag");
  const auto spins = [flag](CpuBlock&) {
    while (static_cast<int>(flag[0]) == 0) {
    }
  };
  expect_fault(run({}, spins, {.max_accesses = 1000}), FaultKind::no_progress);
}

TEST(Emulator, AccessesThatAreToEndAreCountedFromTheLastBarrierOn) {
  int memory[1] = {};
  const Span<int> out(memory, 1, "out");
  const auto report = run({.threads = 1},
                          [=](CpuBlock& block) {
                            for (int i = 0; i < 120; ++i) {
                              if (i == 60) block.sync();
                              out[0] = i;
                            }
                          },
                          {.max_accesses = 100});
  EXPECT_TRUE(report.faults.empty());
}

TEST(Emulator, CanLaunchAgainAfterAFault) {
  Emulator emulator;
  const auto diverge = [](CpuBlock& block) {
    if (block.thread_rank() == 0) block.sync();
  };
  EXPECT_THROW(emulator.launch({.threads = 4}, TestKernel<decltype(diverge)>{diverge}), LaunchFailure);
  int value = 0;
  const Span<int> out(&value, 1, "out");
  const auto write = [out](CpuBlock& block) {
    block.sync();
    if (block.thread_rank() == 0) out[0] = 5;
  };
  emulator.launch({.threads = 4}, TestKernel<decltype(write)>{write});
  EXPECT_EQ(value, 5);
}

/// Which block or thread took each turn, in the order in which they took them.
template <class Body>
std::vector<std::uint32_t> turns(const Grid& grid, std::int64_t count, Body body, const EmulatorOptions& options) {
  std::vector<std::uint32_t> taken(count, 0xFFFFFFFF);
  std::uint32_t next = 0;
  const Span<std::uint32_t> out(taken.data(), count, "taken");
  const Span<std::uint32_t> counter(&next, 1, "counter");
  const auto take = [=](CpuBlock& block, std::int64_t who) {
    // An atomic may let others come first, and after it this one is first: so the turn counts that begins here.
    out[block.fetch_add(counter, 0, 1)] = static_cast<std::uint32_t>(who);
  };
  const Report report = run(
      grid, [=](CpuBlock& block) { body(block, take); }, options);
  EXPECT_TRUE(report.faults.empty());
  return taken;
}

std::vector<std::uint32_t> block_turns(std::int64_t blocks, int threads, int phases, const EmulatorOptions& options) {
  return turns(
      {.blocks = blocks, .threads = threads}, blocks * phases,
      [phases](CpuBlock& block, const auto& take) {
        for (int phase = 0; phase < phases; ++phase) {
          if (block.thread_rank() == 0) take(block, block.group_index());
          block.sync();
        }
      },
      options);
}

std::vector<std::uint32_t> thread_turns(const EmulatorOptions& options) {
  return turns(
      {.threads = 64}, 128,
      [](CpuBlock& block, const auto& take) {
        take(block, block.thread_rank());
        block.sync();
        take(block, block.thread_rank());
      },
      options);
}

TEST(Emulator, InOrderTakesBlocksAndThreadsByNumber) {
  EXPECT_EQ(block_turns(3, 1, 2, {}), (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2}));
  const auto threads = thread_turns({});
  EXPECT_TRUE(std::is_sorted(threads.begin(), threads.begin() + 64));
  EXPECT_TRUE(std::is_sorted(threads.begin() + 64, threads.end()));
}

TEST(Emulator, InterleavedTheSameSeedIsTheSameOrder) {
  const auto order = [](std::uint64_t seed) {
    return block_turns(64, 1, 1, {.order = BlockOrder::interleaved, .seed = seed});
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Emulator, InterleavedAnyBlockMayStartFirst) {
  int late = 0;  // beyond those that could be in flight if blocks were started by number
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto taken = block_turns(64, 1, 1, {.order = BlockOrder::interleaved, .seed = seed});
    if (taken.front() >= 32) ++late;
  }
  EXPECT_GT(late, 3);
  EXPECT_LT(late, 17);
}

TEST(Emulator, InterleavedAnyBlockMayTakeTheNextTurn) {
  int ahead = 0;   // a block takes all of its turns before another takes its first
  int behind = 0;  // a block has one more to take when all others have taken theirs
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto taken = block_turns(4, 1, 3, {.order = BlockOrder::interleaved, .seed = seed});
    if (taken[0] == taken[1] && taken[1] == taken[2]) ++ahead;
    if (taken[11] == taken[10] && taken[10] == taken[9]) ++behind;
  }
  EXPECT_GT(ahead, 0);
  EXPECT_LT(ahead, 30);
  EXPECT_GT(behind, 0);
  EXPECT_LT(behind, 50);
}

TEST(Emulator, InterleavedAnyThreadMayBeFirstBeforeAndAfterABarrier) {
  for (const int from : {0, 64}) {
    int late = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto taken = thread_turns({.order = BlockOrder::interleaved, .seed = seed});
      auto threads = std::vector(taken.begin() + from, taken.begin() + from + 64);
      EXPECT_FALSE(std::ranges::is_sorted(threads)) << seed;
      if (threads.front() >= 32) ++late;
      std::ranges::sort(threads);
      for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(threads[t], t);
    }
    EXPECT_GT(late, 3);
    EXPECT_LT(late, 17);
  }
}

/// Threads started in one order and never interrupted would each draw two tickets in a row.
TEST(Emulator, InterleavedAnotherThreadMayComeBetweenTwoAtomics) {
  int between = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto taken = turns({.threads = 2}, 4,
                             [](CpuBlock& block, const auto& take) {
                               take(block, block.thread_rank());
                               take(block, block.thread_rank());
                             },
                             {.order = BlockOrder::interleaved, .seed = seed});
    if (taken[0] != taken[1]) ++between;
  }
  EXPECT_GT(between, 0);
  EXPECT_LT(between, 20);
}

TEST(Emulator, ReversedTheLastStartFirstAndTakeTurns) {
  EXPECT_EQ(block_turns(3, 1, 2, {.order = BlockOrder::reversed}), (std::vector<std::uint32_t>{2, 1, 0, 2, 1, 0}));
  const auto threads = thread_turns({.order = BlockOrder::reversed});
  EXPECT_TRUE(std::is_sorted(threads.rbegin() + 64, threads.rend()));
}

TEST(Emulator, ReversedAsManyBlocksAreUnderWayAsTwoMultiprocessorsHold) {
  for (const auto& [threads, at_once] : {std::pair(1024, 4), std::pair(256, 16)}) {
    const auto taken = block_turns(at_once + 2, threads, 2, {.order = BlockOrder::reversed});
    // Each of the first takes a turn, and then each another; those that are left start when those have ended.
    for (int i = 0; i < at_once; ++i) {
      EXPECT_EQ(taken[i], static_cast<std::uint32_t>(at_once + 1 - i));
      EXPECT_EQ(taken[at_once + i], taken[i]);
    }
  }
}

TEST(Emulator, ReversedABlockThatWaitsForALowerOneIsNoProgressWhereThatCannotStart) {
  const auto wait_for_the_block_before = [](std::int64_t blocks, BlockOrder order) {
    std::vector<std::uint32_t> flags(blocks + 1);
    flags[0] = 1;
    const Span<std::uint32_t> done(flags.data(), blocks + 1, "done");
    return run({.blocks = blocks, .threads = 1024},
               [done](CpuBlock& block) {
                 while (block.load_atomic(done, block.group_index()) == 0) block.pause();
                 block.store_atomic(done, block.group_index() + 1, 1);
               },
               {.order = order, .max_pauses = 100'000});
  };
  EXPECT_TRUE(wait_for_the_block_before(6, BlockOrder::in_order).faults.empty());
  EXPECT_TRUE(wait_for_the_block_before(4, BlockOrder::reversed).faults.empty()) << "all are under way";
  expect_fault(wait_for_the_block_before(6, BlockOrder::reversed), FaultKind::no_progress);
}

/// One thread adds n items, one after another or as a balanced tree; what it ends with is one more than the chain.
template <class Op>
typename Op::Item added(const std::vector<typename Op::Item>& items, bool as_tree) {
  typename Op::Item result = Op::identity();
  run({},
      [&](CpuBlock&) {
        const Counted<Op> op;
        auto left = items;
        if (as_tree) {
          for (; left.size() > 1; left.resize((left.size() + 1) / 2)) {
            for (std::size_t i = 0; i < left.size() / 2; ++i) left[i] = op(left[2 * i], left[2 * i + 1]);
          }
          result = left.front();
        } else {
          for (const auto& item : left) result = op(result, item);
        }
      },
      {.chains = true});
  return result;
}

TEST(Emulator, CountsTheLongestChainOfAdditions) {
  EXPECT_EQ(added<Plus<float>>(std::vector<float>(16, 1), false), 16) << "the identity first, then 15 additions";
  EXPECT_EQ(added<Plus<double>>(std::vector<double>(16, 1), true), 5);
  EXPECT_EQ(added<Plus<float>>({0, 1, 0, 0}, true), 1) << "nothing is rounded beside the identity";
  EXPECT_EQ(added<Plus<float>>({3, 1}, true), 4);
  EXPECT_EQ(added<Plus<float>>({1, 3}, true), 4);
  EXPECT_EQ((added<Affine<float>>(std::vector<AffineMap<float>>(16, {1, 1}), true)), (AffineMap<float>{1, 5}));
  EXPECT_EQ(added<Max<float>>({2, 7}, true), 7) << "adds nothing";
  EXPECT_EQ(Counted<Plus<float>>{}(2, 3), 5) << "outside a run";
}

TEST(Emulator, TellsBarriersOfDifferentFilesApart) {
  // The same line and column, as two headers may well have them.
  const Report report = run({.threads = 2}, [](CpuBlock& block) {
    if (block.thread_rank() == 0) {
// clang-format off
#line 100 "variants/one.cuh"
      block.sync();
#line 100 "variants/two.cuh"
    } else {
#line 100 "variants/two.cuh"
      block.sync();
#line 329 "tests/simt/emulator_test.cu"
      // clang-format on
    }
  });
  expect_fault(report, FaultKind::barrier_divergence);
}

TEST(Emulator, FindsRacesBetweenViewsOfDifferentWidth) {
  const auto write_and_read = [](bool barrier) {
    return run({.threads = 2, .shared_bytes = 8}, [barrier](CpuBlock& block) {
      auto wide = block.shared<std::int64_t>(1);
      auto narrow = block.shared<int>(2);
      if (block.thread_rank() == 0) wide[0] = 7;
      if (barrier) block.sync();
      if (block.thread_rank() == 1) static_cast<void>(static_cast<int>(narrow[1]));
    });
  };
  EXPECT_TRUE(write_and_read(true).faults.empty());
  expect_fault(write_and_read(false), FaultKind::race, "with no barrier between");
}

TEST(Emulator, FindsRacesInGlobalMemory) {
  // A scan step in place: right if blocks and threads happen to run in order, and a race all the same.
  Ints memory(257, 1);
  const Span<int> data(memory.data(), 257, "data");
  expect_race(run({.threads = 256}, [data](CpuBlock& block) {
    const int t = block.thread_rank();
    data[t] = data[t + 1];
  }));
  const Report between = run({.blocks = 4, .threads = 1}, [data](CpuBlock& block) {
    const auto b = block.group_index();
    block.sync();
    data[b] = data[b + 1];
  });
  expect_race(between);
  EXPECT_NE(between.faults.front().message.find("end of a launch"), std::string::npos);
}

TEST(Emulator, TheNextLaunchMayReadWhatTheLastOneWrote) {
  Ints memory(64, 0);
  const Span<int> data(memory.data(), 64, "data");
  Emulator emulator;
  const auto write = [data](CpuBlock& block) { data[block.group_index()] = 1; };
  const auto reverse = [data](CpuBlock& block) {
    const int seen = data[63 - block.group_index()];
    EXPECT_EQ(seen, 1);
  };
  emulator.launch({.blocks = 64}, TestKernel<decltype(write)>{write});
  emulator.launch({.blocks = 64}, TestKernel<decltype(reverse)>{reverse});
  EXPECT_TRUE(emulator.report().faults.empty());
}

TEST(Emulator, ARaceNamesTheOtherThread) {
  expect_fault(run({.threads = 2, .shared_bytes = 4},
                   [](CpuBlock& block) {
                     auto shared = block.shared<int>(1);
                     if (block.thread_rank() == 0) shared[0] = 1;
                     block.sync();
                     const int both_read = shared[0];
                     if (block.thread_rank() == 1) shared[0] = both_read + 1;
                   }),
               FaultKind::race, "thread 1 of block 0 writes shared[0], which thread 0");
}

TEST(Emulator, AReaderOfAnotherWarpIsRememberedBesideTwoOfOne) {
  const auto kernel = [](CpuBlock& block) {
    auto shared = block.shared<int>(1);
    if (block.thread_rank() == 0) shared[0] = 1;
    block.sync();
    int read = 0;
    if (block.thread_rank() == 0 || block.thread_rank() >= 32) read = shared[0];
    block.sync_warp();
    if (block.thread_rank() == 40) shared[0] = read + 1;  // thread 0 of the other warp is in the way
  };
  expect_fault(run({.threads = 64, .shared_bytes = 4}, kernel), FaultKind::race,
               "thread 40 of block 0 writes shared[0], which thread 0");
}

TEST(Emulator, StepsAreToldApartByNameWhateverTheShapeOfTheBlock) {
  // The second block skips a step: its last must not be counted under the name of another.
  const Report report = run({.blocks = 2, .threads = 1, .shared_bytes = 4}, [](CpuBlock& block) {
    auto shared = block.shared<int>(1);
    block.step("first", 0);
    shared[0] = 0;
    if (block.group_index() == 0) {
      block.sync();
      block.step("middle", 0);
      shared[0] = 1;
    }
    block.sync();
    block.step("last", 0);
    shared[0] = 2;
  });
  ASSERT_EQ(report.launches.at(0).steps.size(), 3U);
  EXPECT_EQ(report.launches[0].steps[1].counts.shared_requests, 1);
  EXPECT_EQ(report.launches[0].steps[2].label(), "last");
  EXPECT_EQ(report.launches[0].steps[2].counts.shared_requests, 2);
  EXPECT_EQ(report.launches[0].barriers, 2);
}

static_assert(ThreadBlock<CpuBlock>);

// Warps.

/// Every lane of a block of two warps gives its number as a T; what it gets is kept.
template <class T, class Number, class Shuffle>
std::vector<T> shuffled(Number number, Shuffle shuffle, BlockOrder order) {
  std::vector<T> result(64, number(-1));
  const Span<T> out(result.data(), 64, "out");
  const Report report = run(
      {.threads = 64}, [=](CpuBlock& block) { out[block.thread_rank()] = shuffle(block, number(block.thread_rank())); },
      {.order = order, .seed = 5});
  EXPECT_TRUE(report.faults.empty());
  return result;
}

template <class T, class Number>
void check_shuffles(Number number) {
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved}) {
    const auto up = shuffled<T>(
        number, [](CpuBlock& block, const T& value) { return block.shuffle_up(value, 3); }, order);
    const auto down = shuffled<T>(
        number, [](CpuBlock& block, const T& value) { return block.shuffle_down(value, 3); }, order);
    const auto from = shuffled<T>(  // lanes from -32 to 123, which count modulo 32
        number, [](CpuBlock& block, const T& value) { return block.shuffle(value, block.lane() * 5 - 32); }, order);
    for (int t = 0; t < 64; ++t) {
      const int lane = t % 32;
      EXPECT_EQ(up[t], number(lane < 3 ? t : t - 3)) << t;
      EXPECT_EQ(down[t], number(lane > 28 ? t : t + 3)) << t;
      EXPECT_EQ(from[t], number(t - lane + lane * 5 % 32)) << t;
    }
  }
}

TEST(Warp, ShufflesValuesOfEverySize) {
  check_shuffles<std::int8_t>([](int t) { return static_cast<std::int8_t>(t); });
  check_shuffles<Half>([](int t) { return Half(t); });
  check_shuffles<AffineMap<std::int8_t>>([](int t) {
    return AffineMap<std::int8_t>{static_cast<std::int8_t>(t), static_cast<std::int8_t>(-t)};
  });
  check_shuffles<float>([](int t) { return static_cast<float>(t); });
  check_shuffles<double>([](int t) { return 0.5 * t; });
  check_shuffles<AffineMap<double>>([](int t) { return AffineMap<double>{0.5 * t, -0.25 * t}; });
}

TEST(Warp, Votes) {
  std::vector<std::uint32_t> votes(3 * 64);
  const Span<std::uint32_t> out(votes.data(), 3 * 64, "votes");
  const Report report = run({.threads = 64}, [=](CpuBlock& block) {
    const int t = block.thread_rank();
    out[t] = block.ballot(t == 7 || t >= 32);
    out[64 + t] = block.any(t == 40) ? 1 : 0;
    out[128 + t] = block.all(t != 40) ? 1 : 0;
  });
  EXPECT_TRUE(report.faults.empty());
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(votes[t], t < 32 ? 1U << 7 : 0xFFFFFFFF) << t;
    EXPECT_EQ(votes[64 + t], t < 32 ? 0U : 1U) << t;
    EXPECT_EQ(votes[128 + t], t < 32 ? 1U : 0U) << t;
  }
}

/// A loop with a shuffle in it: the k-th turn of each lane is one request, though other lanes run in between.
TEST(Warp, AccessesBetweenShufflesAreCountedByTurn) {
  alignas(32) static int memory[128];
  const Span<int> out(memory, 128, "out");
  const Report report = run({.threads = 32}, [out](CpuBlock& block) {
    for (int k = 0; k < 4; ++k) out[32 * k + block.shuffle(block.lane(), block.lane())] = k;
  });
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.totals().global_bytes_written, 4 * 128);
  EXPECT_EQ(report.totals().global_sectors, 4 * 4);
}

TEST(Warp, OnlyItsBarrierOrdersMemory) {
  const auto neighbours = [](bool barrier) {
    return run({.threads = 64, .shared_bytes = 256}, [barrier](CpuBlock& block) {
      auto shared = block.shared<int>(64);
      const int t = block.thread_rank();
      shared[t] = t;
      if (barrier) {
        block.sync_warp();
      } else {
        block.shuffle(t, 0);
      }
      const int right = shared[t - t % 32 + (t + 1) % 32];
      EXPECT_EQ(right, t - t % 32 + (t + 1) % 32);
    });
  };
  EXPECT_TRUE(neighbours(true).faults.empty());
  expect_fault(neighbours(false), FaultKind::race);
  const Report across = run({.threads = 64, .shared_bytes = 256}, [](CpuBlock& block) {
    auto shared = block.shared<int>(64);
    shared[block.thread_rank()] = 1;
    block.sync_warp();
    static_cast<void>(static_cast<int>(shared[(block.thread_rank() + 32) % 64]));
  });
  EXPECT_TRUE(std::ranges::any_of(across.faults, [](const Fault& fault) { return fault.kind == FaultKind::race; }));
}

TEST(Warp, NamesItsDivergence) {
  const auto expect = [](int threads, const std::string& words, auto kernel) {
    expect_fault(run({.threads = threads}, kernel), FaultKind::warp_divergence, words);
  };
  expect(64, "31 lanes of warp 1 of block 0 wait here for the rest of the warp: the others have returned",
         [](CpuBlock& block) {
           if (block.thread_rank() != 40) block.shuffle(1, 0);
         });
  expect(64, "lane 5 waits at the barrier of tests/simt/emulator_test.cu:", [](CpuBlock& block) {
    if (block.thread_rank() == 5) block.sync();
    block.sync_warp();
  });
  expect(32, "lane 16 of warp 0 of block 0 is here while lane 0 waits for it at", [](CpuBlock& block) {
    block.lane() < 16 ? static_cast<void>(block.shuffle(1, 0)) : static_cast<void>(block.any(true));
  });
  expect(40, "", [](CpuBlock& block) { block.sync_warp(); });
}

TEST(Warp, AWarpNeedNotWaitForTheBlock) {
  // The second warp reaches its shuffles only after the barrier that the first waits at.
  const Report report = run({.threads = 64}, [](CpuBlock& block) {
    if (block.warp() == 0) block.shuffle(1, 0);
    block.sync();
    if (block.warp() == 1) block.shuffle(1, 0);
  });
  EXPECT_TRUE(report.faults.empty());
}

// Vectors.

TEST(Vectors, AreOneAccess) {
  alignas(32) static int memory[512];
  std::iota(memory, memory + 256, 0);
  const Span<const int> in(memory, 256, "in");
  const Span<int> out(memory + 256, 256, "out");
  EXPECT_TRUE(Emulator::aligned(in, 16));
  EXPECT_FALSE(Emulator::aligned(Span<const int>(memory + 1, 1, "in"), 16));
  const Report report = run({.threads = 64, .shared_bytes = 1024}, [=](CpuBlock& block) {
    auto shared = block.shared<int>(256);
    const int t = block.thread_rank();
    auto items = block.load<4>(in, 4 * t);
    for (int k = 0; k < items.kItems; ++k) items[k] += 1;
    block.store<4>(shared, 4 * t, items);
    block.sync();
    block.store<4>(out, 4 * t, block.load<4>(shared, 4 * t));
  });
  EXPECT_TRUE(report.faults.empty());
  for (int i = 0; i < 256; ++i) EXPECT_EQ(memory[256 + i], i + 1);
  const Counts counts = report.totals();
  EXPECT_EQ(counts.shared_requests, 2 * 2) << "a store and a load of each warp";
  EXPECT_EQ(counts.banks32.groups, 4 * 4) << "16 bytes are served by quarter-warps";
  EXPECT_EQ(counts.banks32.max_degree, 1);
  EXPECT_EQ(counts.global_bytes_read, 1024);
  EXPECT_EQ(counts.global_sectors, 2 * 1024 / 32);
  EXPECT_EQ(counts.active_threads, 2 * 64);
}

TEST(Vectors, MustBeAlignedAndLieWithinTheirArray) {
  alignas(16) static int memory[64];
  const Span<int> out(memory, 6, "out");
  expect_fault(run({}, [out](CpuBlock& block) { block.load<4>(out, 2); }), FaultKind::misaligned,
               "reads 16 bytes from out[2] on, 8 bytes past a multiple of 16");
  expect_fault(run({}, [out](CpuBlock& block) { block.load<4>(out, 4); }), FaultKind::out_of_bounds,
               "reads out[4 … 7], which has 6 items");
  expect_fault(
      run({.shared_bytes = 64},
          [](CpuBlock& block) { block.store<2>(block.shared<std::int64_t>(7, 8), 0, Vector<std::int64_t, 2>{}); }),
      FaultKind::misaligned);
}

TEST(Vectors, RaceWithEveryItemTheyTouch) {
  alignas(16) static int memory[4];
  const Span<int> out(memory, 4, "out");
  for (int item = 0; item < 4; ++item) {
    const auto global = [=](CpuBlock& block) {
      if (block.thread_rank() == 0) block.store<4>(out, 0, Vector<int, 4>{});
      if (block.thread_rank() == 1) out[item] = 1;
    };
    const auto shared = [=](CpuBlock& block) {
      auto bytes = block.shared<std::int8_t>(16);
      if (block.thread_rank() == 0) block.store<16>(bytes, 0, Vector<std::int8_t, 16>{});
      if (block.thread_rank() == 1) bytes[5 * item] = 1;
    };
    expect_fault(run({.threads = 2}, global), FaultKind::race);
    expect_fault(run({.threads = 2, .shared_bytes = 16}, shared), FaultKind::race);
  }
}

TEST(Vectors, BytesOfAWordMayBeReadOneByOne) {
  const Report report = run({.threads = 4, .shared_bytes = 4}, [](CpuBlock& block) {
    if (block.thread_rank() == 0) block.shared<int>(1)[0] = 0x03020100;
    block.sync();
    const std::int8_t byte = block.shared<std::int8_t>(4)[block.thread_rank()];
    EXPECT_EQ(byte, block.thread_rank());
  });
  EXPECT_TRUE(report.faults.empty());
}

// Atomics.

using Words = std::vector<std::uint32_t>;

TEST(Atomics, EveryBlockDrawsItsOwnTicket) {
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved}) {
    std::uint64_t counter = 0;
    Words drawn(100, 0);
    const Span<std::uint64_t> tickets(&counter, 1, "tickets");
    const Span<std::uint32_t> hits(drawn.data(), 100, "hits");
    const Report report = run({.blocks = 25, .threads = 4},
                              [=](CpuBlock& block) {
                                const auto mine = static_cast<std::int64_t>(block.fetch_add(tickets, 0, 1));
                                hits[mine] = 1;
                              },
                              {.order = order});
    EXPECT_TRUE(report.faults.empty());
    EXPECT_EQ(counter, 100U);
    EXPECT_EQ(drawn, Words(100, 1));
  }
}

TEST(Atomics, RaceWithPlainAccessesOnly) {
  Words memory(2);
  const Span<std::uint32_t> words(memory.data(), 2, "words");
  const auto faults = [&](auto of_one_block, auto of_the_other) {
    return run({.blocks = 2},
               [=](CpuBlock& block) { block.group_index() == 0 ? of_one_block(block) : of_the_other(block); });
  };
  const auto atomic_store = [=](CpuBlock& block) { block.store_atomic(words, 1, 7); };
  const auto atomic_load = [=](CpuBlock& block) { block.load_atomic(words, 1); };
  const auto store = [=](CpuBlock&) { words[1] = 7; };
  const auto load = [=](CpuBlock&) { static_cast<void>(static_cast<std::uint32_t>(words[1])); };
  const auto store_both_ways = [=](CpuBlock& block) { store(block), atomic_store(block); };
  EXPECT_TRUE(faults(atomic_store, atomic_store).faults.empty());
  EXPECT_TRUE(faults(atomic_store, atomic_load).faults.empty());
  EXPECT_TRUE(faults(atomic_load, load).faults.empty());
  for (const auto& races : {faults(atomic_store, store), faults(atomic_store, load), faults(store, atomic_store),
                            faults(store, atomic_load), faults(load, atomic_store), faults(atomic_load, store),
                            faults(store_both_ways, atomic_load), faults(atomic_load, store_both_ways)}) {
    expect_race(races);
  }
}

/// The block that draws the last number resets the counter: an ordinary store races with the atomics of the others.
TEST(Atomics, APlainWriteRacesWithEveryBlocksAtomicAndNotTheLastAlone) {
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved, BlockOrder::reversed}) {
    Words memory(1, 0);
    const Span<std::uint32_t> tickets(memory.data(), 1, "tickets");
    const auto faults = [&](bool plainly) {
      memory[0] = 0;
      return run({.blocks = 8},
                 [=](CpuBlock& block) {
                   if (block.fetch_add(tickets, 0, 1) != 7) return;
                   plainly ? static_cast<void>(tickets[0] = 0) : block.store_atomic(tickets, 0, 0);
                 },
                 {.order = order});
    };
    EXPECT_TRUE(faults(false).faults.empty());
    expect_race(faults(true));
  }
}

/// Accesses of some warps of a block drive out no access of another block.
TEST(Races, BetweenBlocksAreFoundHoweverManyWarpsOfTheLaterOneCame) {
  for (const int threads : {32, 64, 256}) {
    for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved, BlockOrder::reversed}) {
      constexpr int kBlocks = 4;
      Words memory(static_cast<std::size_t>(kBlocks * threads), 0);
      const Span<std::uint32_t> words(memory.data(), kBlocks * threads, "words");
      const auto races = [&](const char* what, auto kernel) {
        expect_race(run({.blocks = kBlocks, .threads = threads}, kernel, {.order = order}), what);
      };
      races("all read a word that the last block replaces", [=](CpuBlock& block) {
        const std::uint32_t seen = words[0];
        block.sync();
        if (block.group_index() == kBlocks - 1 && block.thread_rank() == 0) words[0] = seen + 1;
      });
      races("in place, with the first item of the next tile", [=](CpuBlock& block) {
        const std::int64_t first = block.group_index() * threads;
        const std::uint32_t next = block.group_index() < kBlocks - 1 ? words[first + threads] : 0;
        block.sync();
        words[first + block.thread_rank()] = next;
      });
      races("all count, and the last block reads the count plainly", [=](CpuBlock& block) {
        block.fetch_add(words, 0, 1);
        block.sync();
        if (block.group_index() == kBlocks - 1 && block.thread_rank() == 0) words[1] = words[0];
      });
    }
  }
}

TEST(Atomics, AreOnAlignedItemsOfGlobalArrays) {
  struct alignas(16) State {
    std::uint64_t tag, value;
  };
  alignas(16) static std::byte memory[64];
  const Span<State> states(reinterpret_cast<State*>(memory + 8), 2, "states");
  expect_fault(run({}, [states](CpuBlock& block) { block.load_atomic(states, 1); }), FaultKind::misaligned);
  expect_fault(run({}, [states](CpuBlock& block) { block.load_atomic(states, 2); }), FaultKind::out_of_bounds);
  expect_fault(run({.shared_bytes = 4}, [](CpuBlock& block) { block.fetch_add(block.shared<std::uint32_t>(1), 0, 1); }),
               FaultKind::out_of_bounds);
}

TEST(Atomics, AThreadThatPausesLetsOthersOfItsBlockRun) {
  std::uint32_t flag = 0;
  const Span<std::uint32_t> flags(&flag, 1, "flag");
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved}) {
    flag = 0;
    const Report report = run({.threads = 64},
                              [flags](CpuBlock& block) {
                                if (block.thread_rank() == 63) block.store_atomic(flags, 0, 1);
                                while (block.load_atomic(flags, 0) == 0) block.pause();
                                block.sync();
                              },
                              {.order = order});
    EXPECT_TRUE(report.faults.empty());
  }
}

TEST(Atomics, WaitingForWhatNeverComesIsNoProgress) {
  std::uint32_t flag = 0;
  const Span<std::uint32_t> flags(&flag, 1, "flag");
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved}) {
    const auto expect_no_progress = [order](auto kernel) {
      expect_fault(run({.blocks = 3, .threads = 32}, kernel, {.order = order, .max_pauses = 10'000}),
                   FaultKind::no_progress, "what it waits for does not come");
    };
    expect_no_progress([flags](CpuBlock& block) {
      while (block.load_atomic(flags, 0) == 0) block.pause();
    });
    // Votes of a warp that waits together are no progress either.
    expect_no_progress([flags](CpuBlock& block) {
      while (!block.all(block.load_atomic(flags, 0) != 0)) block.pause();
    });
  }
}

// Bank conflicts against hand-counted cases.

/// The accesses of a warp's first lanes, of `bytes` each; lane i accesses `address(i)`.
template <class Address>
std::vector<Access> accesses(int lanes, int bytes, const Address& address) {
  std::vector<Access> all;
  for (int lane = 0; lane < lanes; ++lane) {
    all.push_back({.address = static_cast<std::uint64_t>(address(lane)),
                   .lane = static_cast<std::uint8_t>(lane),
                   .bytes = static_cast<std::uint8_t>(bytes)});
  }
  return all;
}

TEST(BankConflicts, StridesOfPowersOfTwo) {
  const auto degree = [](int stride, int banks) {
    return bank_conflict_degree(accesses(banks, 4, [&](int lane) { return lane * stride * 4; }), banks);
  };
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    EXPECT_EQ(degree(stride, 32), stride);
    EXPECT_EQ(degree(stride, 16), std::min(stride, 16));
  }
  EXPECT_EQ(degree(33, 32), 1);
  EXPECT_EQ(degree(0, 32), 1) << "one word read by all lanes is broadcast";
}

TEST(BankConflicts, WideAccessesAreServedInParts) {
  for (const int bytes : {4, 8, 16}) {
    const BankCounts counts = count_banks(accesses(32, bytes, [&](int lane) { return lane * bytes; }), 32);
    EXPECT_EQ(counts.groups, bytes / 4) << "a warp of " << bytes << "-byte accesses";
    EXPECT_EQ(counts.max_degree, 1);
  }
}

TEST(BankConflicts, TheWorstGroupAndTheSumOfAllAreTold) {
  const auto address = [](int lane) { return (lane < 8 ? 64 : 16) * lane; };
  const BankCounts counts = count_banks(accesses(32, 16, address), 32);
  EXPECT_EQ(counts.groups, 4);
  EXPECT_EQ(counts.max_degree, 4) << "in the first quarter-warp";
  EXPECT_EQ(counts.transactions, 4 + 3);
}

TEST(Sectors, CountsWhatARequestTouches) {
  EXPECT_EQ(count_sectors(accesses(32, 4, [](int lane) { return 4096 + 4 * lane; })), 4);
  EXPECT_EQ(count_sectors(accesses(32, 4, [](int lane) { return 4100 + 4 * lane; })), 5) << "misaligned by one element";
  EXPECT_EQ(count_sectors(accesses(32, 4, [](int lane) { return 4096 + 32 * lane; })), 32);
  EXPECT_EQ(count_sectors(accesses(1, 8, [](int) { return 28; })), 2) << "the end of one and the beginning of the next";
}

TEST(Counts, OnGlobalMemoryAreDistinctBytesAndSectors) {
  alignas(32) static int memory[64];
  const Span<int> items(memory, 64, "items");
  const Counts counts = run({.threads = 32}, [items](CpuBlock& block) {
                          const int lane = block.lane();
                          int sum = items[0];                        // one item for all: 4 bytes, a sector
                          if (lane < 20) sum += items[lane];         // 80 bytes: three sectors
                          if (lane < 9) items[32 + 2 * lane] = sum;  // 36 bytes, which would fit two, in three
                        }).totals();
  EXPECT_EQ(counts.global_bytes_read, 4 + 80);
  EXPECT_EQ(counts.global_bytes_written, 36);
  EXPECT_EQ(counts.global_sectors, 1 + 3 + 3);
  EXPECT_EQ(counts.global_ideal_sectors, 1 + 3 + 2);
  EXPECT_EQ(counts.active_threads, 32);
  EXPECT_EQ(counts.shared_requests, 0);
}

TEST(Emulator, FindsAWriteAfterReadRace) {
  const Report report = run({.threads = 32, .shared_bytes = 128}, [](CpuBlock& block) {
    auto shared = block.shared<int>(32);
    const int t = block.thread_rank();
    shared[t] = t;
    block.sync();
    const int right = shared[(t + 1) % 32];
    shared[t] = right;  // the neighbour may not have read it yet
  });
  ASSERT_FALSE(report.faults.empty());
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.kind, FaultKind::race) << fault.message;
}

}  // namespace
}  // namespace scanlab::simt
