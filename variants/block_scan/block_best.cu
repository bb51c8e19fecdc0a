// block_best: warps scan by shuffles, and learn of the warps before them as is quickest for their number and type.
//
// Idea    As block_shuffle, compiled for the number of warps. A shuffle tells a lane whether there is a lane to its
//         left, so that a step is two instructions. Behind the barrier, an integer sum of the totals of the warps
//         before is one instruction (redux.sync); else up to 8 totals are added one by one, each warp for itself; else
//         the first warp scans them for all, behind a second barrier. Integer sums need no shuffle to become exclusive.
// Work    5 T and T / 32 to T, and 2 k for the k items of each of T threads.
// Span    6 to 14 steps, one barrier or two.
// Source  block_shuffle; redux.sync came with Ampere.
#include "variants/block_scan/block_scan.cuh"
#include "variants/scan/register_tile.cuh"

namespace scanlab::block_scan {
namespace {

/// Whether a sum can be taken back exactly.
template <class Op>
inline constexpr bool kInvertible = Op::kOperator == Operator::plus&& std::is_integral_v<typename Op::Item>;

/// kWarps: of a block; or, from 9 on, at least.
template <int kWarps>
struct Best {
  static constexpr bool kWarp = false;
  static constexpr int kFewWarps = 8;
  SCANLAB_HD int shared_items(int) const { return kWarps == 1 ? 0 : kWarps; }
  int chain(int) const { return 14; }

  /// What comes before the calling warp, by the totals of all, which the last lanes have.
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD static typename Op::Item before_warp(const Group& group, SharedItems shared, typename Op::Item total,
                                                  Op op) {
    using Item = typename Op::Item;
    auto& block = group.block;
    if constexpr (kWarps == 1) return Op::identity();
    const int lane = block.lane(), warp = block.warp();
    if (lane == kLanes - 1) shared[warp] = total;
    group.sync();  // the totals are there
    block.step("totals", 0);
    if constexpr (kWarps > 2 && scan::kFoldsAtOnce<Op>) {
      Item own = Op::identity();
      if (lane < warp) own = shared[lane];
      return scan::fold_warp(block, own, op);
    } else if constexpr (kWarps <= kFewWarps) {
      constexpr int kVector = kWarps * sizeof(Item) % 16 == 0 ? 16 / sizeof(Item) : 1;  // totals by a load
      Item before = Op::identity();
#pragma unroll
      for (int first = 0; first < kWarps; first += kVector) {
        const auto totals = block.template load<kVector>(shared, first);
#pragma unroll
        for (int w = first; w < first + kVector; ++w) {
          if (w < warp) before = w == 0 ? totals[0] : op(before, totals[w - first]);
        }
      }
      return before;
    } else {
      if (warp == 0) {
        const int warps = (block.num_threads() + kLanes - 1) / kLanes;
        Item own = Op::identity();
        if (lane < warps) own = shared[lane];
        own = scan_warp(block, own, op);
        if (lane < warps) shared[lane] = own;
      }
      group.sync();  // the totals are prefixes now
      return warp == 0 ? Op::identity() : shared[warp - 1];
    }
  }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    group.block.step("shuffle", 0);
    const typename Op::Item scanned = scan_warp(group.block, item, op);
    if constexpr (kWarps == 1) return scanned;
    return op(before_warp(group, shared, scanned, op), scanned);
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    using Item = typename Op::Item;
    group.block.step("shuffle", 0);
    const Item scanned = scan_warp(group.block, item, op);
    Item left;
    if constexpr (kInvertible<Op>) {
      left = static_cast<Item>(static_cast<std::uint32_t>(scanned) - static_cast<std::uint32_t>(item));
    } else {
      const Item neighbour = group.block.shuffle_up(scanned, 1);
      left = group.block.lane() == 0 ? Op::identity() : neighbour;
    }
    if constexpr (kWarps == 1) return left;
    return op(before_warp(group, shared, scanned, op), left);
  }
};

/// Calls `f` with the scan that is compiled for so many threads.
struct BestOfThreads {
  static constexpr bool kWarp = false;
  static BestOfThreads for_problem(const Description&, const Problem&) { return {}; }
  int chain(int threads, int k) const { return OfThreads<Best<1>>().chain(threads, k); }

  template <class F>
  void with(int threads, F f) const {
    with<1, 2, 3, 4, 5, 6, 7, 8, 32>(ceil_div(threads, kLanes), f);
  }

 private:
  template <int kWarps, int... kMoreWarps, class F>
  void with(std::int64_t warps, F f) const {
    if constexpr (sizeof...(kMoreWarps) > 0) {
      if (warps > kWarps) return with<kMoreWarps...>(warps, f);
    }
    f(OfThreads<Best<kWarps>>());
  }
};

struct BlockBest {
  static Description describe() {
    return {.id = "block_best",
            .title = "Shuffles, compiled for the number of warps",
            .source = "variants/block_scan/block_shuffle.cu",
            .family = "shuffles",
            .cost = {.work = "5T to 6T, and 2n", .span = "6 to 14", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockBest, BestOfThreads)
