// Reduces an array by shares, each of neighbouring tiles: the first launch of reduce_then_scan.
#pragma once

#include "harness/core/ceil.hpp"
#include "harness/core/monoid.hpp"
#include "variants/scan/register_tile.cuh"

namespace scanlab::scan {

/// The tiles of a block: a share of them, side by side.
struct Share {
  std::int64_t first;
  std::int64_t last;  ///< one past
  SCANLAB_HD static Share for_block(std::int64_t block, std::int64_t tiles_a_share, std::int64_t tiles) {
    const std::int64_t first = block * tiles_a_share;
    return {first, first + tiles_a_share < tiles ? first + tiles_a_share : tiles};
  }
};

struct ReduceSharesKernel {
  static constexpr const char* kName = "reduce_shares";
  static constexpr int kMaxThreads = 256;
  static constexpr int kRows = 4;  ///< vectors a thread of a tile

  /// in: n items in global memory. aggregates: one item a block. Shared memory: two items a warp.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in, std::int64_t n,
                             std::int64_t tiles_a_share, bool aligned,
                             simt::Global<Block, typename Op::Item> aggregates, Op op) const {
    using Item = typename Op::Item;
    using Tile = RegisterTile<Op, kRows>;
    constexpr int kWarps = kMaxThreads / kLanes;
    const Share share = Share::for_block(block.group_index(), tiles_a_share, ceil_div(n, Tile::items(kMaxThreads)));
    Item total = Op::identity();
    for (std::int64_t t = share.first; t < share.last; ++t) {
      Tile tile;
      tile.load(block, in, t * Tile::items(kMaxThreads), n, aligned);
      // Alternate tiles use alternate totals: a slow warp may still read those of the tile before.
      auto totals = block.template shared<Item>(kWarps, t % 2 * kWarps * sizeof(Item));
      total = op(total, tile.scan(block, totals, op));
    }
    if (block.thread_rank() == 0) aggregates[block.group_index()] = total;
  }
};

}  // namespace scanlab::scan
