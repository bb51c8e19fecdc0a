// redundant_reduce: each block reduces for itself what comes before its tile. The kernel; redundant_reduce.cu launches
// it, and scanlab::DeviceScan does.
//
// Idea    Blocks that need not tell each other anything need not wait for each other. For few items, reading once more
//         what other blocks read takes less time than a word on its way from block to block; and where one_block scans
//         and writes all of the items, these blocks share that.
// Work    3 n, and to reduce 15 n, or 3 n in 4 blocks or fewer: as if all had as many tiles before them as the last.
// Span    about 30 steps, and 15 vectors that a thread folds one after another.
// Traffic 2 n of memory, and b n / 2 from L2.
// Bits    Fixed.
// Source  ours. To compute again rather than to ask is an old trade: Demmel, Hoemmen, Mohiyuddin and Yelick, "Avoiding
//         Communication in Sparse Matrix Computations", IPDPS 2008.
#pragma once

#include "variants/scan/register_tile.cuh"

namespace scanlab::scan {

inline constexpr int kRedundantThreads = 256;
inline constexpr int kFewRedundantBlocks = 4;
inline constexpr int kMostRedundantBlocks = 16;

/// kBefore: tiles before a block's own, at most. kAligned: as of RegisterTile.
template <int kBefore, bool kAligned>
struct RedundantReduceKernel {
  static constexpr const char* kName = "redundant_reduce";
  static constexpr int kMaxThreads = kRedundantThreads;
  static constexpr int kWarps = kRedundantThreads / kLanes;
  /// Bytes of shared memory.
  template <class Item>
  static constexpr std::size_t shared_bytes() {
    return 2 * kWarps * sizeof(Item);
  }

  /// in, out: n items in global memory, not the same array. Blocks of kRedundantThreads, at most
  /// kBefore + 1.
  template <simt::ThreadBlock Block, Associative Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, bool aligned, Mode mode,
                             Op op) const {
    using Item = typename Op::Item;
    RegisterTile<Op, 1, kAligned> tile;
    const std::int64_t base = block.group_index() * tile.items(kRedundantThreads);
    auto totals = block.template shared<Item>(2 * kWarps);  // of the warps' parts of the tile, and of what comes before

    block.step("load", 0);
    tile.load(block, in, base, n, aligned);
    const Item reduced = fold_warp(block, reduce_share(block, in, base, aligned, op), op);
    if (block.lane() == 0) totals[kWarps + block.warp()] = reduced;
    block.step("scan", 0);
    tile.scan(block, totals, op);  // behind its barrier, all of the totals are there
    const Item share = block.lane() < kWarps ? totals[kWarps + block.lane()] : Op::identity();
    const Item prefix = fold_for_all(block, share, op);
    block.step("store", 0);
    tile.store(block, out, base, n, aligned, mode, prefix, op);
  }

 private:
  /// The thread's share of the items before `base`. Each block starts at its neighbour's tile: simultaneous reads of
  /// one tile would be serialised.
  template <simt::ThreadBlock Block, class Items, Associative Op>
  SCANLAB_HD typename Op::Item reduce_share(Block& block, Items in, std::int64_t base, bool aligned, Op op) const {
    using Item = typename Op::Item;
    constexpr int kVector = RegisterTile<Op, 1>::kVector;
    const auto first = [&](int row) { return base + (block.thread_rank() - (row + 1) * kRedundantThreads) * kVector; };
    Item reduced = Op::identity();
    if (kAligned || aligned) {
      simt::Vector<Item, kVector> rows[kBefore];
#pragma unroll
      for (int r = 0; r < kBefore; ++r) {
        for (int k = 0; k < kVector; ++k) rows[r][k] = Op::identity();
        if (r < block.group_index()) rows[r] = block.template load<kVector>(in, first(r));
      }
      block.step("reduce", 0);
#pragma unroll
      for (int r = 0; r < kBefore; ++r) {
        for (int k = 0; k < kVector; ++k) reduced = op(reduced, rows[r][k]);
      }
    } else {
      block.step("reduce", 0);
      for (int r = 0; r < block.group_index(); ++r) {
        for (int k = 0; k < kVector; ++k) reduced = op(reduced, in[first(r) + k]);
      }
    }
    return reduced;
  }
};

}  // namespace scanlab::scan
