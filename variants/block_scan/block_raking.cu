// block_raking: one warp scans what the threads of a block left in shared memory.
//
// Idea    Every thread leaves its item in shared memory. Each lane of the first warp folds a segment, of as many items
//         as there are warps, and keeps it in registers; the warp scans the folds by shuffles; each lane scans its
//         segment. The other warps wait meanwhile: the fewest instructions of all, and two barriers whatever T is.
// Work    About 2 T, and 2 k for the k items of each of T threads.
// Span    2 T / 32 + 5 steps.
// Banks   Segments are read by words of 16 bytes where their length allows. Those of 32 bytes meet two by two. Longer
//         ones of a power of two leave 16 bytes free after every row of banks, and meet no other.
// Source  Dotsenko et al., "Fast scan algorithms on graphics processors", ICS 2008; BLOCK_SCAN_RAKING_MEMOIZE in CUB.
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

template <int kWarps>
struct Raking {
  static constexpr bool kWarp = false;
  static constexpr int kThreads = kWarps * kLanes;
  static constexpr int kBlocks = kThreads == 512 ? 3 : 1;  // else two, for a few registers
  SCANLAB_HD int shared_items(int) const { return kWarps * (kLanes + 4); }
  int chain(int threads) const { return 2 * ((threads + kLanes - 1) / kLanes) + 6; }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    using Item = typename Op::Item;
    constexpr int kFits = 16 / sizeof(Item);
    constexpr int kVector = kWarps % kFits == 0 ? kFits : 1;  // items read at once
    auto& block = group.block;
    const int t = group.rank();
    const auto at = [](int i) {
      constexpr bool kApart = std::has_single_bit(unsigned{kWarps}) && kWarps * sizeof(Item) > 32;
      constexpr unsigned kRow = std::max<unsigned>(kWarps, 128 / sizeof(Item));  // no fewer than a segment
      return kApart ? i + static_cast<int>(static_cast<unsigned>(i) / kRow * kVector) : i;
    };
    block.step("spread", 0);
    shared[at(t)] = item;  // of a whole number of warps: the last threads' items are identities
    const bool rakes = block.any(block.warp() == 0);
    group.sync();
    block.step("rake", 0);
    if (rakes) {
      const bool all = kWarps <= 8 || block.lane() * kWarps < block.num_threads();  // or none of a segment's threads
      const int first = all ? at(block.lane() * kWarps) : 0;
      simt::Vector<Item, kVector> segment[kWarps / kVector];
      Item total = Op::identity();
#pragma unroll
      for (int i = 0; i < kWarps; ++i) {
        if (i % kVector == 0) segment[i / kVector] = block.template load<kVector>(shared, first + i);
        const Item next = segment[i / kVector][i % kVector];
        total = i == 0 ? next : op(total, next);
      }
      Item running = before_lane(block, scan_warp(block, total, op), total, op);
#pragma unroll
      for (int i = 0; i < kWarps; ++i) {
        const Item next = segment[i / kVector][i % kVector];
        segment[i / kVector][i % kVector] = running;
        running = op(running, next);
        if ((i + 1) % kVector == 0 && all) {
          block.template store<kVector>(shared, first + i + 1 - kVector, segment[i / kVector]);
        }
      }
    }
    group.sync();
    return shared[at(t)];
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
            .source = "Dotsenko et al. 2008, ICS; cub::BLOCK_SCAN_RAKING_MEMOIZE",
            .family = "raking",
            .parameters = {registers_parameter()},
            .cost = {.work = "about 2T, and 2n", .span = "2T/32 + 5", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockRaking, OfWarps<Raking>)
