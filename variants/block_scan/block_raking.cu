// block_raking: one warp scans what the threads of a block left in shared memory.
//
// Idea    Every thread leaves its item in shared memory. Each lane of the first warp folds a segment of as many items
// as
//         there are warps; the warp scans the folds by shuffles; each lane scans its segment. The other warps wait
//         meanwhile: the fewest instructions of all, and two barriers whatever T is.
// Work    About 2 T, and 2 k for the k items of each of T threads.
// Span    2 T / 32 + 5 steps.
// Banks   Segments are read by words of 16 bytes where their length allows. Distances between them keep 1, 2, 4, 8, 16
// or
//         32 warps of 4-byte items without a conflict in raking; the threads' own accesses may meet two by two.
// Source  Dotsenko et al., "Fast scan algorithms on graphics processors", ICS 2008; BLOCK_SCAN_RAKING in CUB.
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

template <int kWarps>
struct Raking {
  static constexpr bool kWarp = false;
  static constexpr int kThreads = kWarps * kLanes;
  SCANLAB_HD int shared_items(int) const { return kLanes * (kWarps + 4); }
  int chain(int threads) const { return 2 * ((threads + kLanes - 1) / kLanes) + 6; }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    using Item = typename Op::Item;
    constexpr int kFits = 16 / sizeof(Item);
    constexpr int kVector = kWarps % kFits == 0 ? kFits : 1;  // items read at once
    constexpr int kDistance = kWarps == kVector ? kWarps : kVector > 1 ? kWarps + kVector : kWarps | 1;
    auto& block = group.block;
    const int t = group.rank();
    const auto at = [](int i) {
      return static_cast<int>(static_cast<unsigned>(i) / kWarps * kDistance + static_cast<unsigned>(i) % kWarps);
    };
    block.step("spread", 0);
    shared[at(t)] = item;  // of a whole number of warps: the last threads' items are identities
    if constexpr (kWarps > 8) {
      for (int i = t + block.num_threads(); i < kLanes * kWarps; i += block.num_threads()) {
        shared[at(i)] = Op::identity();
      }
    }
    group.sync();
    block.step("rake", 0);
    if (block.warp() == 0) {
      const int first = block.lane() * kDistance;
      simt::Vector<Item, kVector> segment[kWarps / kVector];
      Item total = Op::identity();
#pragma unroll
      for (int i = 0; i < kWarps; ++i) {
        if (i % kVector == 0) segment[i / kVector] = block.template load<kVector>(shared, first + i);
        const Item next = segment[i / kVector][i % kVector];
        total = i == 0 ? next : op(total, next);
      }
      const Item before = block.shuffle_up(scan_warp(block, total, op), 1);
      Item running = block.lane() == 0 ? Op::identity() : before;
#pragma unroll
      for (int i = 0; i < kWarps; ++i) {
        const Item next = segment[i / kVector][i % kVector];
        segment[i / kVector][i % kVector] = running;
        running = op(running, next);
        if ((i + 1) % kVector == 0) {
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
            .source = "Dotsenko et al. 2008, ICS; cub::BLOCK_SCAN_RAKING",
            .family = "raking",
            .parameters = {registers_parameter()},
            .cost = {.work = "about 2T, and 2n", .span = "2T/32 + 5", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockRaking, OfWarps<Raking>)
