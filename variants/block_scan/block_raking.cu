// block_raking: one warp scans what the threads of a block left in shared memory.
//
// Idea    Every thread leaves its item in shared memory. Each lane of the first warp folds a segment of T / 32 of them,
//         the warp scans the folds by shuffles, and each lane scans its segment. The other warps wait meanwhile: the
//         fewest instructions of all, and two barriers whatever T is.
// Work    About 2 T, and 2 k for the k items of each of T threads.
// Span    2 T / 32 + 5 steps.
// Banks   Segments begin at odd distances: no conflict for the warp that rakes.
// Source  Dotsenko et al., "Fast scan algorithms on graphics processors", ICS 2008; BLOCK_SCAN_RAKING in CUB.
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct Raking {
  static constexpr bool kWarp = false;
  SCANLAB_HD static int length(int threads) { return (threads + kLanes - 1) / kLanes; }  // of a segment
  SCANLAB_HD int shared_items(int threads) const { return kLanes * (length(threads) | 1); }
  int chain(int threads) const { return 2 * length(threads) + 6; }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    using Item = typename Op::Item;
    auto& block = group.block;
    const int segment = length(group.threads), distance = segment | 1;
    const int own = group.rank() / segment * distance + group.rank() % segment;
    block.step("spread", 0);
    shared[own] = item;  // of a whole number of warps: the last threads' items are identities
    group.sync();
    block.step("rake", 0);
    if (block.warp() == 0) {
      const int first = block.lane() * distance;
      Item total = shared[first];
      for (int i = 1; i < segment; ++i) {
        const Item next = shared[first + i];
        total = op(total, next);
      }
      const Item before = block.shuffle_up(scan_warp(block, total, op), 1);
      Item running = block.lane() == 0 ? Op::identity() : before;
      for (int i = 0; i < segment; ++i) {
        const Item next = shared[first + i];
        shared[first + i] = running;
        running = op(running, next);
      }
    }
    group.sync();
    return shared[own];
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    return op(exclusive(group, shared, item, op), item);
  }
};

struct BlockRaking {
  static Description describe() {
    return {.id = "block_raking",
            .title = "One warp rakes what the threads left in shared memory",
            .source = "Dotsenko et al. 2008, ICS; cub::BLOCK_SCAN_RAKING",
            .family = "raking",
            .cost = {.work = "about 2T, and 2n", .span = "2T/32 + 5", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockRaking, OfThreads<Raking>)
