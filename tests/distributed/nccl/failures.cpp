// NCCL's failures, by a library that stands in for it: each is known to all ranks, and none outlives its run.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/distributed/nccl.hpp"
#include "tests/distributed/nccl/stub.hpp"

namespace scanlab::distributed {
namespace {

using namespace std::chrono_literals;

class NcclFailures : public testing::Test {
 protected:
  void SetUp() override {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto get = reinterpret_cast<StubState* (*)()>(dlsym(library, "stub_state"));
    ASSERT_NE(get, nullptr) << "another libnccl.so.2 was found than the tests'";
    stub = get();
    stub->fails_on = -1;
    stub->never_comes = false;
    for (auto* each : {&stub->met, &stub->made, &stub->ranks, &stub->destroyed, &stub->aborted}) *each = 0;
  }
  /// The text of what run_threads throws.
  static std::string failure_of(int ranks, const std::function<void(Communicator&)>& body) {
    try {
      run_threads(ranks, 5s, body);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }
  StubState* stub = nullptr;
};

TEST_F(NcclFailures, RanksHaveOneCommunicatorAndGiveItBack) {
  run_threads(3, 5s, [&](Communicator& each) {
    const auto first = Nccl::join(each);
    EXPECT_EQ(first, Nccl::join(each));
    first->check();
  });
  EXPECT_EQ(stub->made, 3);
  EXPECT_EQ(stub->destroyed, 3);
  EXPECT_EQ(stub->aborted, 0);
}

TEST_F(NcclFailures, ASecondRunOfTheProcessMakesItsOwn) {
  for (const int ranks : {3, 2, 1, 1}) {
    stub->made = 0;
    run_threads(ranks, 5s, [&](Communicator& each) { Nccl::join(each); });
    EXPECT_EQ(stub->made, ranks);
    EXPECT_EQ(stub->ranks, ranks);
  }
}

TEST_F(NcclFailures, ARankThatCannotMakeItTellsTheOthersWhy) {
  stub->fails_on = 1;
  std::atomic<int> ended = 0;
  const std::string reason = failure_of(3, [&](Communicator& each) {
    try {
      Nccl::join(each);
      ADD_FAILURE() << "rank " << each.rank() << " went on";
    } catch (const RankFailed& failure) {
      EXPECT_STREQ(failure.what(), "rank 1 has failed: making a communicator: NCCL: unhandled system error");
      ++ended;
      throw;
    }
  });
  EXPECT_EQ(ended, 3);
  EXPECT_NE(reason.find("rank 1 has failed"), std::string::npos) << reason;
}

TEST_F(NcclFailures, AnErrorThatItMeetsOnItsOwnIsSaidAndItsKernelsEnd) {
  const std::string reason = failure_of(2, [&](Communicator& each) {
    const auto nccl = Nccl::join(each);
    each.barrier();
    stub->met = 7;  // in progress
    nccl->check();
    each.barrier();
    stub->met = 6;
    try {
      nccl->check();
      ADD_FAILURE() << "nothing was said";
    } catch (const RankFailed&) {
      ADD_FAILURE() << "the rank has failed of itself, and is to be named";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(),
                   "in an operation that was enqueued: NCCL: remote process exited or there was a network error");
    }
    nccl->check();  // what is gone has no more errors
  });
  EXPECT_EQ(reason, "");
  EXPECT_EQ(stub->aborted, 2);
  EXPECT_EQ(stub->destroyed, 0) << "an aborted communicator is gone";
}

TEST_F(NcclFailures, OfARunThatFailedItIsAborted) {
  failure_of(2, [&](Communicator& each) {
    Nccl::join(each);
    each.barrier();
    if (each.rank() == 1) throw std::runtime_error("the device is gone");
    each.barrier();
  });
  EXPECT_EQ(stub->aborted, 2);
  EXPECT_EQ(stub->destroyed, 0) << "to destroy it waits for what the others never join";
}

class NcclDeathTest : public NcclFailures {};

TEST_F(NcclDeathTest, OneThatIsNeverMadeEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [&] {
    setenv("SCANLAB_PATIENCE", "0.2", 1);
    stub->never_comes = true;
    run_threads(1, 5s, [](Communicator& each) { Nccl::join(each); });
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(1), "rank 0: making NCCL's communicator has taken more than 0.2 s");
}

}  // namespace
}  // namespace scanlab::distributed
