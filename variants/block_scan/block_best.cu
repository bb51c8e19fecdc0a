// block_best: warps scan by shuffles, and fold the totals of the warps before them.
//
// Idea    As block_shuffle, compiled for the number of warps. Behind the barrier a warp adds up the totals of the warps
//         before it one by one, if they are few; else it folds them at once, integer sums by redux.sync, others by a
//         shuffle for every power of two. Integer sums need no shuffle to become exclusive.
// Work    5 T for the warps; for their totals up to 2 T in sums of i32, else up to ceil(log2(T / 32)) + 1 for each of T
//         threads; 2 k for the k items of each.
// Span    6 to 13 steps, one barrier.
// Source  block_shuffle; redux.sync came with Ampere.
#include "variants/block_scan/block_scan.cuh"
#include "variants/scan/register_tile.cuh"

namespace scanlab::block_scan {
namespace {

template <int kWarps, bool kByLane>
struct Best {
  static constexpr bool kWarp = false;
  static constexpr int kThreads = kWarps * kLanes;
  /// Whether a warp folds the totals at once: where that is quicker than one by one.
  template <class Op>
  static constexpr bool kFolds = kWarps > (kInvertible<Op> ? 3 : 8);
  SCANLAB_HD int shared_items(int) const { return kWarps == 1 ? 0 : (kWarps + 3) / 4 * 4; }
  int chain(int) const { return 15; }

  /// Adds to `item` what comes before the calling warp, by the totals of all, which the last lanes have.
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD static typename Op::Item add_warps(const Group& group, SharedItems shared, typename Op::Item total,
                                                typename Op::Item item, Op op) {
    using Item = typename Op::Item;
    auto& block = group.block;
    if constexpr (kWarps == 1) return item;
    const int lane = block.lane(), warp = block.warp();
    if (lane == kLanes - 1) shared[warp] = total;
    group.sync();  // the totals are there
    block.step("totals", 0);
    if constexpr (kFolds<Op>) {
      constexpr int kPeriod = std::bit_ceil(static_cast<unsigned>(kWarps));  // lanes that fold together
      const int which = scan::kFoldsAtOnce<Op> ? lane : lane % kPeriod;
      Item own = Op::identity();
      if (which < warp) own = shared[which];
      return op(fold<kPeriod>(block, own, op), item);
    } else {
      constexpr int kVector = kWarps * sizeof(Item) % 16 == 0 ? 16 / sizeof(Item) : 1;  // totals by a load
      Item before = Op::identity();
#pragma unroll
      for (int first = 0; first < kWarps; first += kVector) {
        const auto totals = block.template load<kVector>(shared, first);
#pragma unroll
        for (int w = first; w < first + kVector; ++w) {
          if (w < kWarps - 1 && w < warp) before = w == 0 ? totals[0] : op(before, totals[w - first]);
        }
      }
      return op(before, item);
    }
  }

  /// Gives every lane the fold, from left to right, of the values of the kPeriod lanes around it; or of all lanes, by
  /// one instruction, where there is one.
  template <int kPeriod, class Block, class Op>
  SCANLAB_HD static typename Op::Item fold(Block& block, typename Op::Item item, Op op) {
    if constexpr (scan::kFoldsAtOnce<Op>) {
      return scan::fold_warp(block, item, op);
    } else {
#pragma unroll
      for (int distance = 1; distance < kPeriod; distance *= 2) {
        const int other = block.lane() ^ distance;
        const auto theirs = block.shuffle(item, other);
        item = Op::kCommutative || other > block.lane() ? op(item, theirs) : op(theirs, item);
      }
      return item;
    }
  }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    group.block.step("shuffle", 0);
    const typename Op::Item scanned = scan_warp<kByLane>(group.block, item, op);
    return add_warps(group, shared, scanned, scanned, op);
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    group.block.step("shuffle", 0);
    const typename Op::Item scanned = scan_warp<kByLane>(group.block, item, op);
    return add_warps(group, shared, scanned, before_lane(group.block, scanned, item, op), op);
  }
};

template <int kWarps>
using BestByShuffle = Best<kWarps, false>;
template <int kWarps>
using BestByLane = Best<kWarps, true>;

struct BlockBest {
  static Description describe() {
    return {.id = "block_best",
            .title = "Shuffles, and the totals of warps folded one by one or at once",
            .source = "variants/block_scan/block_shuffle.cu",
            .family = "shuffles",
            .parameters = {predicate_parameter(), registers_parameter()},
            .cost = {.work = "5T to 11T, and 2n", .span = "6 to 13", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockBest, ByPredicate<OfWarps<BestByShuffle>, OfWarps<BestByLane>>)
