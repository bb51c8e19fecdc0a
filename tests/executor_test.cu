// The CPU executor checks kernels: these are the checks of the checker. Each fault is planted once and must be caught
// by name, with the file and line of the access.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "harness/simt/executor.hpp"
#include "harness/simt/trace.hpp"

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
Report run(const Grid& grid, Body body, ExecutorOptions options = {}) {
  Executor executor(options);
  try {
    executor.launch(grid, TestKernel<Body>{body});
  } catch (const LaunchFailure&) {
    EXPECT_FALSE(executor.report().faults.empty()) << "a failed launch must leave its fault in the report";
  }
  return executor.report();
}

/// The only fault, or a failure of the test.
Fault only_fault(const Report& report) {
  EXPECT_EQ(report.faults.size(), 1U);
  return report.faults.empty() ? Fault{} : report.faults.front();
}

TEST(Executor, RunsEveryThreadOfEveryBlockOnce) {
  for (const BlockOrder order : {BlockOrder::in_order, BlockOrder::interleaved}) {
    Ints hits(10 * 70, 0);
    const Span<int> out(hits.data(), static_cast<std::int64_t>(hits.size()), "hits");
    const Report report = run({.blocks = 10, .threads = 70},
                              [out](CpuBlock& block) {
                                block.sync();
                                const std::int64_t i = block.group_index() * block.num_threads() + block.thread_rank();
                                out[i] += 1;
                              },
                              {.order = order, .seed = 7});
    EXPECT_TRUE(report.faults.empty());
    EXPECT_EQ(hits, Ints(700, 1));
  }
}

TEST(Executor, BarrierSeparatesWritersFromReaders) {
  Ints result(256, -1);
  const Span<int> out(result.data(), 256, "out");
  const Report report = run({.threads = 256, .shared_bytes = 1024},
                            [out](CpuBlock& block) {
                              auto shared = block.shared<int>(256);
                              const int t = block.thread_rank();
                              shared[t] = t;
                              block.sync();
                              out[t] = shared[255 - t];
                            },
                            {.order = BlockOrder::interleaved, .seed = 3});
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(result[0], 255);
  EXPECT_EQ(result[255], 0);
  EXPECT_EQ(report.launches.at(0).barriers, 1);
}

TEST(Executor, NamesARaceWithBothAccesses) {
  const Report report = run({.threads = 64, .shared_bytes = 256}, [](CpuBlock& block) {
    auto shared = block.shared<int>(64);
    const int t = block.thread_rank();
    shared[t] = t;
    // The barrier that belongs here is dropped.
    const int neighbour = shared[(t + 1) % 64];
    (void)neighbour;
  });
  bool race = false;
  for (const Fault& fault : report.faults) {
    if (fault.kind != FaultKind::race) continue;
    race = true;
    EXPECT_EQ(fault.where.rfind("tests/executor_test.cu:", 0), 0U) << fault.where;
    EXPECT_NE(fault.message.find("with no barrier between"), std::string::npos) << fault.message;
  }
  EXPECT_TRUE(race);
}

TEST(Executor, FindsAWriteAfterReadRace) {
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

TEST(Executor, StopsAtAnAccessOutOfBounds) {
  Ints memory(8);
  const Span<int> out(memory.data(), 8, "out");
  const Fault fault = only_fault(run({.threads = 9}, [out](CpuBlock& block) { out[block.thread_rank()] = 1; }));
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_NE(fault.message.find("thread 8 of block 0 writes out[8], which has 8 items"), std::string::npos)
      << fault.message;
}

TEST(Executor, OutOfBoundsIsCaughtUntracedToo) {
  Ints memory(8);
  const Span<int> out(memory.data(), 8, "out");
  const Report report = run({.threads = 1}, [out](CpuBlock&) { out[-1] = 1; }, {.trace = false});
  EXPECT_EQ(only_fault(report).kind, FaultKind::out_of_bounds);
}

TEST(Executor, MoreSharedMemoryThanTheLaunchGaveIsOutOfBounds) {
  const Report report = run({.threads = 1, .shared_bytes = 16}, [](CpuBlock& block) { block.shared<int>(5); });
  EXPECT_EQ(only_fault(report).kind, FaultKind::out_of_bounds);
}

TEST(Executor, NamesAReadOfUnwrittenSharedMemory) {
  const Report report = run({.threads = 1, .shared_bytes = 16}, [](CpuBlock& block) {
    const int stale = block.shared<int>(4)[2];
    (void)stale;
  });
  EXPECT_EQ(only_fault(report).kind, FaultKind::never_written);
}

TEST(Executor, SharedMemoryOfOneBlockIsUnwrittenInTheNext) {
  const Report report = run({.blocks = 2, .threads = 1, .shared_bytes = 4}, [](CpuBlock& block) {
    auto shared = block.shared<int>(1);
    if (block.group_index() == 0) shared[0] = 1;
    const int read = shared[0];
    (void)read;
  });
  EXPECT_EQ(only_fault(report).kind, FaultKind::never_written);
}

TEST(Executor, NamesBarrierDivergence) {
  const Fault returned = only_fault(run({.threads = 33}, [](CpuBlock& block) {
    if (block.thread_rank() == 32) return;
    block.sync();
  }));
  EXPECT_EQ(returned.kind, FaultKind::barrier_divergence);
  EXPECT_NE(returned.message.find("1 have returned"), std::string::npos) << returned.message;

  const Fault elsewhere = only_fault(run({.threads = 2}, [](CpuBlock& block) {
    if (block.thread_rank() == 0) {
      block.sync();
    } else {
      block.sync();
    }
  }));
  EXPECT_EQ(elsewhere.kind, FaultKind::barrier_divergence);
}

TEST(Executor, NamesALoopThatNeverEnds) {
  const Fault barriers = only_fault(run({.threads = 2},
                                        [](CpuBlock& block) {
                                          while (true) block.sync();
                                        },
                                        {.max_barriers = 50}));
  EXPECT_EQ(barriers.kind, FaultKind::no_progress);

  int value = 0;
  const Span<int> flag(&value, 1, "flag");
  const Fault spinning = only_fault(run({.threads = 1},
                                        [flag](CpuBlock&) {
                                          while (true) {
                                            const int seen = flag[0];
                                            if (seen != 0) break;
                                          }
                                        },
                                        {.max_accesses = 1000}));
  EXPECT_EQ(spinning.kind, FaultKind::no_progress);
}

TEST(Executor, CanLaunchAgainAfterAFault) {
  Executor executor;
  const auto diverge = [](CpuBlock& block) {
    if (block.thread_rank() == 0) block.sync();
  };
  EXPECT_THROW(executor.launch({.threads = 4}, TestKernel<decltype(diverge)>{diverge}), LaunchFailure);
  int value = 0;
  const Span<int> out(&value, 1, "out");
  const auto write = [out](CpuBlock& block) {
    block.sync();
    if (block.thread_rank() == 0) out[0] = 5;
  };
  executor.launch({.threads = 4}, TestKernel<decltype(write)>{write});
  EXPECT_EQ(value, 5);
}

TEST(Executor, KernelsSeeTheSameSeedAsTheSameInterleaving) {
  // The order in which blocks take a ticket is the order in which the scheduler ran them.
  const auto order = [](std::uint64_t seed) {
    Ints tickets(64, -1);
    int next = 0;
    const Span<int> out(tickets.data(), 64, "tickets");
    const Span<int> counter(&next, 1, "counter");
    run({.blocks = 64, .threads = 1},
        [=](CpuBlock& block) {
          block.sync();
          const int mine = counter[0];
          counter[0] = mine + 1;
          out[block.group_index()] = mine;
        },
        {.order = BlockOrder::interleaved, .seed = seed});
    return tickets;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Executor, TellsBarriersOfDifferentFilesApart) {
  // The same line and column, as two headers may well have them.
  const Fault fault = only_fault(run({.threads = 2}, [](CpuBlock& block) {
    if (block.thread_rank() == 0) {
// clang-format off
#line 100 "variants/one.cuh"
      block.sync();
#line 100 "variants/two.cuh"
    } else { 
#line 100 "variants/two.cuh"
      block.sync();
#line 260 "tests/executor_test.cu"
      // clang-format on
    }
  }));
  EXPECT_EQ(fault.kind, FaultKind::barrier_divergence);
}

TEST(Executor, FindsRacesBetweenViewsOfDifferentWidth) {
  const auto write_and_read = [](bool barrier) {
    return run({.threads = 2, .shared_bytes = 8}, [barrier](CpuBlock& block) {
      auto wide = block.shared<std::int64_t>(1);
      auto narrow = block.shared<int>(2);
      if (block.thread_rank() == 0) wide[0] = 7;
      if (barrier) block.sync();
      if (block.thread_rank() == 1) {
        const int high = narrow[1];
        (void)high;
      }
    });
  };
  EXPECT_TRUE(write_and_read(true).faults.empty());
  EXPECT_EQ(only_fault(write_and_read(false)).kind, FaultKind::race);
}

TEST(Executor, FindsRacesInGlobalMemory) {
  // A scan step in place: right if blocks and threads happen to run in order, and a race all the same.
  Ints memory(257, 1);
  const Span<int> data(memory.data(), 257, "data");
  const Report within = run({.threads = 256}, [data](CpuBlock& block) {
    const int t = block.thread_rank();
    data[t] = data[t + 1];
  });
  ASSERT_FALSE(within.faults.empty());
  EXPECT_EQ(within.faults.front().kind, FaultKind::race);

  const Report between = run({.blocks = 4, .threads = 1}, [data](CpuBlock& block) {
    const auto b = block.group_index();
    block.sync();
    data[b] = data[b + 1];
  });
  ASSERT_FALSE(between.faults.empty());
  EXPECT_NE(between.faults.front().message.find("end of a launch"), std::string::npos);
}

TEST(Executor, TheNextLaunchMayReadWhatTheLastOneWrote) {
  Ints memory(64, 0);
  const Span<int> data(memory.data(), 64, "data");
  Executor executor;
  const auto write = [data](CpuBlock& block) { data[block.group_index()] = 1; };
  const auto reverse = [data](CpuBlock& block) {
    const int seen = data[63 - block.group_index()];
    EXPECT_EQ(seen, 1);
  };
  executor.launch({.blocks = 64}, TestKernel<decltype(write)>{write});
  executor.launch({.blocks = 64}, TestKernel<decltype(reverse)>{reverse});
  EXPECT_TRUE(executor.report().faults.empty());
}

TEST(Executor, ARaceNamesTheOtherThread) {
  const Report report = run({.threads = 2, .shared_bytes = 4}, [](CpuBlock& block) {
    auto shared = block.shared<int>(1);
    if (block.thread_rank() == 0) shared[0] = 1;
    block.sync();
    const int both_read = shared[0];
    if (block.thread_rank() == 1) shared[0] = both_read + 1;
  });
  EXPECT_NE(only_fault(report).message.find("thread 1 of block 0 writes shared[0], which thread 0"), std::string::npos)
      << only_fault(report).message;
}

TEST(Executor, StepsAreToldApartByNameWhateverTheShapeOfTheBlock) {
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
  EXPECT_EQ(report.launches[0].steps[2].label, "last");
  EXPECT_EQ(report.launches[0].steps[2].counts.shared_requests, 2);
  EXPECT_EQ(report.launches[0].barriers, 2);
}

// Bank conflicts against hand-counted cases.
int degree(int stride, int bytes, int banks, int lanes) {
  std::vector<std::uint64_t> addresses;
  for (int lane = 0; lane < lanes; ++lane) addresses.push_back(static_cast<std::uint64_t>(lane) * stride * bytes);
  return bank_conflict_degree(addresses.data(), lanes, bytes, banks);
}

TEST(BankConflicts, StridesOfPowersOfTwo) {
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    EXPECT_EQ(degree(stride, 4, 32, 32), stride);
    EXPECT_EQ(degree(stride, 4, 16, 16), std::min(stride, 16));
  }
  EXPECT_EQ(degree(33, 4, 32, 32), 1);
  EXPECT_EQ(degree(0, 4, 32, 32), 1) << "one word read by all lanes is broadcast";
}

TEST(BankConflicts, WideAccessesAreServedInParts) {
  std::vector<std::uint64_t> addresses(32);
  std::vector<int> lanes(32);
  std::iota(lanes.begin(), lanes.end(), 0);
  for (const int bytes : {4, 8, 16}) {
    for (int lane = 0; lane < 32; ++lane) addresses[lane] = static_cast<std::uint64_t>(lane) * bytes;
    const BankCounts counts = count_banks(addresses.data(), lanes.data(), 32, bytes, 32);
    EXPECT_EQ(counts.groups, bytes / 4) << "a warp of " << bytes << "-byte accesses";
    EXPECT_EQ(counts.max_degree, 1);
  }
}

TEST(Sectors, CountsWhatARequestTouches) {
  std::vector<std::uint64_t> addresses(32);
  for (int lane = 0; lane < 32; ++lane) addresses[lane] = 4096 + 4 * lane;
  EXPECT_EQ(count_sectors(addresses.data(), 32, 4), 4);
  for (std::uint64_t& address : addresses) address += 4;
  EXPECT_EQ(count_sectors(addresses.data(), 32, 4), 5) << "misaligned by one element";
  for (int lane = 0; lane < 32; ++lane) addresses[lane] = 4096 + 32 * lane;
  EXPECT_EQ(count_sectors(addresses.data(), 32, 4), 32);
}

}  // namespace
}  // namespace scanlab::simt
