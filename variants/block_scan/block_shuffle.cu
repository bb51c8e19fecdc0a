// block_shuffle: every warp scans by shuffles; behind one barrier, every warp scans the totals of all warps.
//
// Idea    A lane takes its neighbours' values by shuffles instead of through shared memory, where only the warps'
//         totals go. Each warp finds what comes before it by itself, so that no second barrier is needed.
// Work    5 T and 5 T for the totals, and 2 k for the k items of each of T threads.
// Span    10 steps and one barrier.
// Source  Sengupta, Harris and Garland, "Efficient Parallel Scan Algorithms for GPUs", NVR-2008-003, 2008.
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Shuffle {
  static constexpr bool kWarp = false;
  SCANLAB_HD int shared_items(int threads) const { return threads > kLanes ? (threads + kLanes - 1) / kLanes : 0; }
  int chain(int) const { return 12; }

  /// Returns the prefix of the calling warp, by the totals of all.
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD static typename Op::Item before_warp(const Group& group, SharedItems shared, typename Op::Item total,
                                                  Op op) {
    auto& block = group.block;
    const int warps = block.num_threads() / kLanes;
    if (warps == 1) return Op::identity();
    if (block.lane() == kLanes - 1) shared[block.warp()] = total;
    group.sync();  // the totals are there
    block.step("totals", 0);
    typename Op::Item own = Op::identity();
    if (block.lane() < warps) own = shared[block.lane()];
    const auto before = block.shuffle(scan_warp(block, own, op), block.warp() - 1);
    return block.warp() == 0 ? Op::identity() : before;
  }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    group.block.step("shuffle", 0);
    const typename Op::Item scanned = scan_warp(group.block, item, op);
    return op(before_warp(group, shared, scanned, op), scanned);
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    group.block.step("shuffle", 0);
    const typename Op::Item scanned = scan_warp(group.block, item, op);
    return op(before_warp(group, shared, scanned, op), before_lane(group.block, scanned, item, op));
  }
};

struct BlockShuffle {
  static Description describe() {
    return {.id = "block_shuffle",
            .title = "Warps scan by shuffles, then the totals of all warps",
            .source = "Sengupta, Harris and Garland 2008, NVR-2008-003",
            .family = "shuffles",
            .cost = {.work = "10T, and 2n", .span = "10", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockShuffle, OfThreads<Shuffle>)
