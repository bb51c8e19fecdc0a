// redundant_reduce: each block reduces for itself what comes before its tile.
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
#include "variants/scan/tile_plan.hpp"

namespace scanlab::scan {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;

/// kBefore: tiles before a block's own, at most. kWhole: as of RegisterTile.
template <int kBefore, bool kWhole>
struct RedundantReduceKernel {
  static constexpr const char* kName = "redundant_reduce";
  static constexpr int kMaxThreads = kThreads;

  /// in, out: n items in global memory, not the same array. Shared memory: 2 kWarps items. Blocks of kThreads, at most
  /// kBefore + 1.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, bool aligned, Mode mode,
                             Op op) const {
    using Item = typename Op::Item;
    RegisterTile<Op, 1, kWhole> tile;
    const std::int64_t base = block.group_index() * tile.items(kThreads);
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
  template <simt::ThreadBlock Block, class Items, Monoid Op>
  SCANLAB_HD typename Op::Item reduce_share(Block& block, Items in, std::int64_t base, bool aligned, Op op) const {
    using Item = typename Op::Item;
    constexpr int kVector = RegisterTile<Op, 1>::kVector;
    const auto first = [&](int row) { return base + (block.thread_rank() - (row + 1) * kThreads) * kVector; };
    Item reduced = Op::identity();
    if (kWhole || aligned) {
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

class RedundantReduce {
 public:
  static Description describe() {
    Description about;
    about.id = "redundant_reduce";
    about.title = "Each block reduces what comes before its tile";
    about.source = "ours; compute again rather than ask";
    about.family = "one launch, one tile";
    about.overview = false;
    about.limits = "n items of 64 KiB or less; operators whose operands may change places; not in place";
    about.cost = {.work = "about 18n; 6n in 4 blocks or fewer", .span = "30 steps, 15 vectors", .traffic = "2n"};
    return about;
  }

  explicit RedundantReduce(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (blocks() > kMaxBlocks) return Plan::refuse("redundant_reduce holds 64 KiB of items at most");
    if (!with_monoid(problem_.type, problem_.op, []<class Op>(Op) { return Op::kCommutative; })) {
      return Plan::refuse("redundant_reduce needs an operator whose operands may change places; those of " +
                          std::string(name(problem_.op)) + " may not");
    }
    // A thread's share, vector by vector; those of the lanes, and of the warps; and the tile.
    const auto vector = static_cast<std::int64_t>(16 / item_bytes(problem_.type, problem_.op));
    return {.chain = (blocks() - 1) * vector + ceil_log2(kLanes) + ceil_log2(kWarps) + tile_chain(problem_, 1, kWarps)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    if constexpr (Op::kCommutative) {
      if (problem_.items == 0) return;
      const auto launch = [&](auto kernel) {
        machine.launch(
            {.blocks = blocks(), .threads = kThreads, .shared_bytes = 2 * kWarps * sizeof(typename Op::Item)}, kernel,
            arrays.in, arrays.out, problem_.items, aligned(arrays), problem_.mode, op);
      };
      const bool few = blocks() <= kFewBlocks;
      by_whole(arrays, problem_.items, [&]<bool kWhole>(std::bool_constant<kWhole>) {
        few ? launch(RedundantReduceKernel<kFewBlocks - 1, kWhole>{})
            : launch(RedundantReduceKernel<kMaxBlocks - 1, kWhole>{});
      });
    }
  }

 private:
  static constexpr int kFewBlocks = 4;
  static constexpr int kMaxBlocks = 16;

  std::int64_t blocks() const { return ceil_div(vectors_of(problem_), kThreads); }

  Problem problem_;
};

const Registration kRedundantReduce{simt::portable_scan<RedundantReduce>()};

}  // namespace
}  // namespace scanlab::scan
