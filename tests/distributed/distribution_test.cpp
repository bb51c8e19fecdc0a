#include "harness/distributed/distribution.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace scanlab::distributed {
namespace {

/// How often each item of the array is held by a rank, by its place; and that `held` and `global` agree.
std::vector<int> times_held(const Distribution& distribution) {
  std::vector<int> times(static_cast<std::size_t>(distribution.items), 0);
  for (int rank = 0; rank < distribution.ranks; ++rank) {
    std::int64_t last = -1;
    for (std::int64_t local = 0; local < distribution.held(rank); ++local) {
      const std::int64_t global = distribution.global(rank, local);
      EXPECT_GT(global, last) << "a rank holds its items in the array's order";
      last = global;
      ++times.at(static_cast<std::size_t>(global));
    }
  }
  return times;
}

TEST(Distribution, GivesEachItemToOneRank) {
  for (const std::int64_t items : {0, 1, 5, 6, 7, 23, 24, 25, 100}) {
    for (const int ranks : {1, 2, 3, 4, 7}) {
      for (const std::int64_t chunk : {1, 2, 6, 30}) {
        const Distribution distribution{items, ranks, chunk};
        EXPECT_EQ(times_held(distribution), std::vector<int>(static_cast<std::size_t>(items), 1))
            << items << " items, " << ranks << " ranks, chunks of " << chunk;
      }
    }
  }
}

TEST(Distribution, RunsAreThoseThatTheArrayHasSideBySide) {
  const Distribution distribution{.items = 11, .ranks = 2, .chunk = 3};
  std::vector<std::vector<std::int64_t>> runs;
  distribution.for_each_run(1, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
    runs.push_back({local, global, count});
  });
  EXPECT_EQ(runs, (std::vector<std::vector<std::int64_t>>{{0, 3, 3}, {3, 9, 2}}));
}

TEST(Distribution, DealsOutEachRow) {
  for (const std::int64_t row : {1, 5, 6, 25}) {
    for (const int ranks : {1, 2, 3, 7}) {
      for (const std::int64_t chunk : {1, 4, 30}) {
        const Distribution distribution{4 * row, ranks, chunk, 4};
        EXPECT_EQ(times_held(distribution), std::vector<int>(static_cast<std::size_t>(4 * row), 1))
            << row << " items a row, " << ranks << " ranks, chunks of " << chunk;
      }
    }
  }
  std::vector<std::vector<std::int64_t>> runs;
  Distribution{10, 2, 3, 2}.for_each_run(1, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
    runs.push_back({local, global, count});
  });
  EXPECT_EQ(runs, (std::vector<std::vector<std::int64_t>>{{0, 3, 2}, {2, 8, 2}}));
}

}  // namespace
}  // namespace scanlab::distributed
