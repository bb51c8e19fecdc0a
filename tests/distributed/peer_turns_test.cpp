// The ranks' announcements and turns, by threads in place of GPUs: what a rank reads is of the run that it is at.
#include "variants/distributed/peer_turns.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace scanlab::distributed {
namespace {

constexpr int kRanks = 4;
constexpr std::uint32_t kFirstRun = 0xFFFFFFFC;  // as on the device: numbers wrap at once
constexpr std::uint32_t kRuns = 100000;
constexpr auto kLong = std::chrono::seconds(2);  // on a busy machine, where each turn may wait for a core

std::atomic<bool> stopped = false;
std::atomic<std::uint32_t> runs = kRuns;  // fewer where they take long; the same for all ranks
std::chrono::steady_clock::time_point deadline;

/// Called by a thread that waits: cores may be fewer than ranks, and each is lent to whoever else computes.
void pause() {
  thread_local unsigned polls = 0;
  if (++polls % 256 == 0) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() > deadline) throw std::logic_error("a rank waits for ever");
  }
  if (stopped) throw std::runtime_error("another rank has found a fault");
}

struct HostWords {
  using Word = std::atomic<std::uint32_t>;
  static void release(Word* word, std::uint32_t value) { word->store(value, std::memory_order_release); }
  static std::uint32_t acquire(Word* word) {
    pause();
    return word->load(std::memory_order_acquire);
  }
};
using Turns = PeerTurns<HostWords>;

/// Memory that each rank has and the others write.
struct Memory {
  std::array<HostWords::Word, kRanks> begun;
  std::array<std::array<std::atomic<std::uint64_t>, kRanks>, Turns::kCopies> states;
};

std::uint32_t value_of(int rank, std::uint32_t run) { return 1000003u * run + static_cast<std::uint32_t>(rank); }

/// As exchange_by_peers: tells all, and reads those before its own. So the first rank waits for nobody's states, and
/// runs as far ahead as the turns let it. Returns a fault, or nothing.
std::string run_rank(int rank, std::vector<Memory>& all) {
  std::minstd_rand random(static_cast<unsigned>(rank + 1));
  const auto delay = [&] {  // seldom, and long enough for the others to do several runs
    if (random() % 300 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
  };
  Memory& own = all[static_cast<std::size_t>(rank)];
  const auto place = static_cast<std::size_t>(rank);
  const auto until = std::chrono::steady_clock::now() + kLong;
  for (std::uint32_t i = 0; i < runs; ++i) {
    // No rank is two runs ahead of another, and the announcement below carries this to all.
    if (rank == 0 && runs == kRuns && std::chrono::steady_clock::now() > until) runs = i + 3;
    const std::uint32_t run = kFirstRun + i;
    for (Memory& to : all) Turns::announce(&to.begun[place], run);
    delay();
    for (auto& from : own.begun) Turns::wait_until_free(&from, run);
    for (Memory& to : all) {
      to.states[Turns::copy_of(run)][place].store(std::uint64_t{run} << 32 | value_of(rank, run),
                                                  std::memory_order_relaxed);
    }
    delay();
    for (int from = 0; from < rank; ++from) {
      std::uint64_t state = 0;
      while (true) {
        state = own.states[Turns::copy_of(run)][static_cast<std::size_t>(from)].load(std::memory_order_relaxed);
        const auto tag = static_cast<std::uint32_t>(state >> 32);
        if (tag == run) break;
        if (Turns::before(run, tag)) return "rank " + std::to_string(from) + " wrote over what was not read yet";
        pause();
      }
      if (static_cast<std::uint32_t>(state) != value_of(from, run)) return "a state has another value";
    }
  }
  return {};
}

TEST(PeerTurns, NoRankWritesOverWhatAnotherStillReads) {
  stopped = false;
  runs = kRuns;
  deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::vector<Memory> all(kRanks);
  for (Memory& each : all) {
    for (auto& word : each.begun) word = kFirstRun - 1;
    for (auto& copy : each.states) {
      for (auto& state : copy) state = std::uint64_t{kFirstRun - 1} << 32;
    }
  }
  std::vector<std::string> wrong(kRanks);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        std::string& fault = wrong[static_cast<std::size_t>(rank)];
        try {
          fault = run_rank(rank, all);
        } catch (const std::runtime_error&) {
        } catch (const std::logic_error& late) {
          fault = late.what();
        }
        if (!fault.empty()) stopped = true;
      });
    }
  }
  for (const std::string& each : wrong) EXPECT_EQ(each, "");
}

TEST(PeerTurns, NamesTheRanksThatHaveNotBegunARun) {
  const auto fault = [](std::vector<std::uint32_t> runs) {
    for (std::uint32_t& each : runs) each += kFirstRun - 1;
    return who_has_not_begun(runs, kFirstRun);
  };
  EXPECT_EQ(fault({0, 0}), "no rank has begun a run");
  EXPECT_EQ(fault({17, 17, 17}), "all ranks have begun run 17");
  EXPECT_EQ(fault({17, 17, 16, 17}), "rank 2 has not begun run 17");
  EXPECT_EQ(fault({1, 0, 0, 0}), "ranks 1, 2 and 3 have not begun run 1");
}

TEST(PeerTurns, NumbersOfRunsWrap) {
  EXPECT_TRUE(Turns::before(0xFFFFFFFF, 0));
  EXPECT_FALSE(Turns::before(0, 0xFFFFFFFF));
  EXPECT_FALSE(Turns::before(7, 7));
  EXPECT_NE(Turns::copy_of(0xFFFFFFFF), Turns::copy_of(0));
}

}  // namespace
}  // namespace scanlab::distributed
