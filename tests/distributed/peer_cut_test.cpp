// How peer_look_ahead cuts up an array: which tiles, and who holds how many of them.
#include "variants/distributed/peer_cut.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace scanlab::distributed {
namespace {

/// Tiles that each rank holds.
std::vector<std::int64_t> tiles_by_rank(std::int64_t items, int ranks, const PeerCut& cut) {
  const Distribution distribution = cut.distribution(items, ranks);
  std::vector<std::int64_t> tiles;
  for (int rank = 0; rank < ranks; ++rank) tiles.push_back(ceil_div(distribution.held(rank), cut.tile_items));
  return tiles;
}

TEST(PeerCut, DealsOutEachTileOnce) {
  for (const std::int64_t items : {0, 1, 2559, 2560, 2561, 99999, 40 * 2560, 40 * 2560 + 1}) {
    for (const int ranks : {1, 2, 3, 4, 16}) {
      for (const std::int64_t asked : {1, 2, 8, 32}) {
        const PeerCut cut = cut_in_chunks(items, ranks, 4, form_of("10"), asked);
        ASSERT_EQ(cut.tile_items, 2560);
        ASSERT_GE(cut.chunk_tiles, 1);
        ASSERT_LE(cut.chunk_tiles, asked);
        const Distribution distribution = cut.distribution(items, ranks);
        std::vector<int> times(static_cast<std::size_t>(ceil_div(items, cut.tile_items)), 0);
        for (int rank = 0; rank < ranks; ++rank) {
          for (std::int64_t at = 0; at < distribution.held(rank); at += cut.tile_items) {
            const std::int64_t first = distribution.global(rank, at);
            EXPECT_EQ(first % cut.tile_items, 0) << "a tile lies in one chunk";
            ++times.at(static_cast<std::size_t>(first / cut.tile_items));
          }
        }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << items << " items, " << ranks << " ranks, " << asked;
      }
    }
  }
}

TEST(PeerCut, ARankHoldsAtMostATilePerChunkMoreThanItsShare) {
  for (std::int64_t tiles = 1; tiles < 700; ++tiles) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      for (const std::int64_t asked : {8, 16, 32, 64}) {
        const std::int64_t items = tiles * 2560 - 17;
        const PeerCut cut = cut_in_chunks(items, ranks, 4, form_of("10"), asked);
        const std::int64_t share = ceil_div(tiles, ranks);
        const std::int64_t chunks = ceil_div(share, asked);
        const std::vector<std::int64_t> held = tiles_by_rank(items, ranks, cut);
        EXPECT_LE(std::ranges::max(held), share + chunks - 1) << tiles << " tiles, " << ranks << " ranks, " << asked;
        EXPECT_EQ(std::accumulate(held.begin(), held.end(), std::int64_t{0}), tiles);
      }
    }
  }
}

TEST(PeerCut, RanksWithNothingComeLast) {
  const PeerCut cut = cut_in_chunks(5000, 4, 4, form_of("10"), 32);
  EXPECT_EQ(tiles_by_rank(5000, 4, cut), (std::vector<std::int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(cut.distribution(5000, 4).holders(), 2);
  EXPECT_EQ(tiles_by_rank(0, 3, cut_in_chunks(0, 3, 4, form_of("10"), 32)), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(PeerCut, NoTileIsTakenThatDoesNotFitTwice) {
  const auto fitting = [](std::int64_t bytes, std::int64_t most) {
    return tile_that_fits({true, 8, bytes, 132}, false, 2, most).kib;
  };
  EXPECT_EQ(fitting(8 << 20, 110 << 10), "63");
  EXPECT_EQ(fitting(8 << 20, 48 << 10), "35");
  EXPECT_EQ(fitting(std::int64_t{1} << 30, 40 << 10), "35");
}

}  // namespace
}  // namespace scanlab::distributed
