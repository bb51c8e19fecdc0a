#include "harness/distributed/communicator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "harness/host/status.hpp"

namespace scanlab::distributed {
namespace {

TEST(Ranks, OfUnlikeBuildsOrWordsRefuseEachOther) {
  const auto start = [](const std::string& commit_of_rank_1, const std::string& word_of_rank_1) {
    run_threads(2, std::chrono::seconds(20), [&](Communicator& communicator) {
      const bool leads = communicator.rank() == 0;
      agree(communicator, {"scanlab", leads ? "verify" : word_of_rank_1}, leads ? "0f1e2d3c4" : commit_of_rank_1);
    });
  };
  EXPECT_NO_THROW(start("0f1e2d3c4", "verify"));
  const auto expect = [&](const std::string& commit, const std::string& word, const std::string& sentence) {
    try {
      start(commit, word);
      FAIL() << "they run together";
    } catch (const CommandError& error) {
      EXPECT_EQ(error.status, kBadInput);
      EXPECT_EQ(error.what(), sentence);
    }
  };
  expect("0f1e2d3c4 and changes", "verify",
         "rank 1: it is a build of commit 0f1e2d3c4 and changes, and rank 0 of 0f1e2d3c4: mpirun must start the same "
         "program everywhere");
  expect("0f1e2d3c4", "bench", "rank 1: it was started with other words than rank 0: mpirun must give all the same");
}

}  // namespace
}  // namespace scanlab::distributed
