#include "harness/distributed/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace scanlab::distributed {
namespace {

using namespace std::chrono_literals;

/// The text of what run_threads throws.
std::string failure_of(int ranks, std::chrono::milliseconds patience, const std::function<void(Communicator&)>& body) {
  try {
    run_threads(ranks, patience, body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST(Communicator, GathersByRankAsOftenAsAsked) {
  run_threads(4, 5s, [](Communicator& each) {
    for (int round = 0; round < 200; ++round) {
      const std::vector<int> all = each.gather(100 * round + each.rank());
      ASSERT_EQ(all, (std::vector<int>{100 * round, 100 * round + 1, 100 * round + 2, 100 * round + 3}));
    }
    EXPECT_EQ(each.from_leader(each.rank() + 7), 7);
  });
}

TEST(Communicator, ABarrierLetsNobodyPassBeforeAllHaveCome) {
  std::atomic<int> come = 0;
  run_threads(3, 5s, [&](Communicator& each) {
    std::this_thread::sleep_for(each.rank() * 20ms);
    ++come;
    each.barrier();
    EXPECT_EQ(come, 3);
  });
}

TEST(Communicator, NamesTheFirstThatComplains) {
  run_threads(3, 5s, [](Communicator& each) {
    EXPECT_EQ(each.first_complaint(""), "");
    EXPECT_EQ(each.first_complaint(each.rank() == 0 ? "" : "no memory"), "rank 1: no memory");
  });
}

TEST(Communicator, ARankThatFailsEndsTheWaitsOfTheOthers) {
  std::atomic<int> ended = 0;
  const std::string reason = failure_of(3, 30s, [&](Communicator& each) {
    if (each.rank() == 1) throw std::runtime_error("the device is gone");
    try {
      each.barrier();
    } catch (const RankFailed& failure) {
      EXPECT_STREQ(failure.what(), "rank 1 has failed: the device is gone");
      EXPECT_THROW(each.check_others(), RankFailed);
      ++ended;
      throw;
    }
  });
  EXPECT_EQ(ended, 2);
  EXPECT_FALSE(reason.empty());
}

TEST(Communicator, ARankThatNeverComesIsNamed) {
  const std::string reason = failure_of(3, 100ms, [](Communicator& each) {
    if (each.rank() == 2) return;
    each.barrier();
  });
  EXPECT_EQ(reason, "rank 2 has not come within 0.1 s");
}

TEST(Communicator, ALongStepIsWaitedFor) {
  run_threads(3, 100ms, [](Communicator& each) {
    const LongStep step(each, 5s);
    if (each.rank() == 1) std::this_thread::sleep_for(300ms);
    each.barrier();
  });
  EXPECT_NE(failure_of(2, 100ms,
                       [](Communicator& each) {
                         { const LongStep ended(each, 5s); }
                         if (each.rank() == 0) each.barrier();
                       }),
            "");
}

TEST(CommunicatorDeathTest, ARankThatNobodyCanWakeEndsWithTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [](Communicator& each) {
    if (each.rank() == 1) throw std::runtime_error("the device is gone");
    std::this_thread::sleep_for(60s);
  };
  EXPECT_EXIT(run_threads(2, 100ms, body), testing::ExitedWithCode(1), "rank 1 has failed: the device is gone");
}

TEST(Communicator, RanksAtDifferentStepsAreTold) {
  const std::string reason = failure_of(2, 5s, [](Communicator& each) {
    if (each.rank() == 0) {
      each.gather(std::int64_t{1});
    } else {
      each.gather(char{1});
    }
  });
  EXPECT_NE(reason.find("different steps"), std::string::npos) << reason;
}

}  // namespace
}  // namespace scanlab::distributed
