// A tile in the registers of a block: loaded once, scanned by shuffles, stored once. What the scans below have in
// common; they differ in how blocks tell each other what comes before their tiles.
//
// A thread holds vectors of 16 bytes. A warp's vectors lie in rows of 32, so that a warp reads and writes 512 bytes in
// a row:
//
//     row 0 of warp 0:  lane 0 | lane 1 | … | lane 31      item 0, 1, 2, 3 of an i32 vector are neighbours, and so are
//     row 1 of warp 0:  lane 0 | …                         the vectors of a row, the rows of a warp, and the warps
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "harness/core/monoid.hpp"
#include "harness/simt/registration.hpp"

namespace scanlab::scan {

inline constexpr int kLanes = simt::kWarpLanes;
inline constexpr int kMostWarps = 32;  // of a block

/// Whether a warp folds such values in one instruction (redux.sync) instead of 5 steps.
template <Monoid Op>
inline constexpr bool kFoldsAtOnce =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::is_integral_v<typename Op::Item> && sizeof(typename Op::Item) <= sizeof(int) && Op::kCommutative;
#else
    false;
#endif

/// The scan over a warp, one value a lane: inclusive. 5 steps, or fewer where only the first few lanes count.
template <simt::ThreadBlock Block, Monoid Op>
SCANLAB_HD typename Op::Item scan_warp(Block& block, typename Op::Item item, Op op, int lanes = kLanes) {
  for (int distance = 1; distance < lanes; distance *= 2) {
    const auto left = block.shuffle_up(item, distance);
    if (block.lane() >= distance) item = op(left, item);
  }
  return item;
}

/// Lane 0 gets the values of all lanes, folded from left to right; other lanes get nothing of use. 5 steps; or one
/// instruction (redux.sync), where there is one for such values.
template <simt::ThreadBlock Block, Monoid Op>
SCANLAB_HD typename Op::Item fold_warp(Block& block, typename Op::Item item, Op op) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  using Item = typename Op::Item;
  constexpr unsigned kAll = 0xFFFFFFFF;
  if constexpr (kFoldsAtOnce<Op> && Op::kOperator == Operator::plus) {
    return static_cast<Item>(__reduce_add_sync(kAll, static_cast<unsigned>(item)));
  } else if constexpr (kFoldsAtOnce<Op> && Op::kOperator == Operator::max) {
    return static_cast<Item>(__reduce_max_sync(kAll, int{item}));
  } else if constexpr (kFoldsAtOnce<Op> && Op::kOperator == Operator::min) {
    return static_cast<Item>(__reduce_min_sync(kAll, int{item}));
  } else
#endif
  {
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const auto right = block.shuffle_down(item, distance);
      item = op(item, right);
    }
    return item;
  }
}

/// As fold_warp, but every lane has the result.
template <simt::ThreadBlock Block, Monoid Op>
SCANLAB_HD typename Op::Item fold_for_all(Block& block, typename Op::Item item, Op op) {
  const auto folded = fold_warp(block, item, op);
  if constexpr (kFoldsAtOnce<Op>) return folded;
  return block.shuffle(folded, 0);
}

/// What comes before the calling warp, by `totals`: an item a warp, in shared memory, behind a barrier. `all`: of the
/// whole block.
template <simt::ThreadBlock Block, class SharedItems, Monoid Op>
SCANLAB_HD typename Op::Item before_warp(Block& block, SharedItems totals, Op op, typename Op::Item& all) {
  const int warps = block.num_threads() / kLanes;
  typename Op::Item total = Op::identity();
  if (block.lane() < warps) total = totals[block.lane()];
  if constexpr (kFoldsAtOnce<Op>) {
    all = fold_for_all(block, total, op);
    return fold_for_all(block, block.lane() < block.warp() ? total : Op::identity(), op);
  }
  const auto scanned = scan_warp(block, total, op, warps);
  const auto left = block.shuffle(scanned, block.warp() - 1);
  all = block.shuffle(scanned, warps - 1);
  return block.warp() == 0 ? Op::identity() : left;
}

/// kWhole: of a problem whose arrays are whole(). Then there is no code for the other ones, which tells in small
/// kernels: each of their instructions is fetched to be executed once.
template <Monoid Op, int kRows, bool kWhole = false>
class RegisterTile {
 public:
  using Item = typename Op::Item;
  static constexpr int kVector = 16 / sizeof(Item);  ///< items a vector
  static constexpr int items(int threads) { return threads * kRows * kVector; }

  /// Reads the items [base, base + items(threads)) of `in`; from n on there are identities. `aligned`: whether `in`
  /// begins at a multiple of 16 bytes; `base` is a multiple of kVector.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void load(Block& block, simt::Global<Block, const Item> in, std::int64_t base, std::int64_t n,
                       bool aligned) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t first = base + place(block, r);
      Items items;
      for (int k = 0; k < kVector; ++k) items[k] = Op::identity();
      if (first < n) {
        if (kWhole || (aligned && first + kVector <= n)) {
          items = block.template load<kVector>(in, first);
        } else {
          for (int k = 0; k < kVector; ++k) {
            if (first + k < n) items[k] = in[first + k];
          }
        }
      }
      rows_[r] = std::bit_cast<Packed>(items);
    }
  }

  /// Finds what comes before each vector in the tile; gives every thread the tile's aggregate. One barrier.
  /// `totals`: shared memory, one item a warp, not in use by anything else since the last barrier.
  template <simt::ThreadBlock Block, class SharedItems>
  SCANLAB_HD Item scan(Block& block, SharedItems totals, Op op) {
    // Where a warp's total is had in one instruction, the rows are scanned behind the barrier, beside the totals.
    Item warp_total;
    if constexpr (kFoldsAtOnce<Op>) {
      warp_total = fold_warp(block, fold(op), op);
    } else {
      warp_total = scan_rows(block, op);
    }
    if (block.lane() == 0) totals[block.warp()] = warp_total;
    block.sync();  // the warps' totals are there
    const Item all = place_warp(block, totals, op);
    if constexpr (kFoldsAtOnce<Op>) scan_rows(block, op);
    return all;
  }

  // The parts of scan(), for those who have something to do between them, and the aggregate before them all.

  /// Finds what comes before each vector in its warp's part; gives every lane the aggregate of the part.
  template <simt::ThreadBlock Block>
  SCANLAB_HD Item scan_rows(Block& block, Op op) {
    Item total[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      total[r] = fold_vector(rows_[r], op);
      stay_packed(rows_[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) total[r] = scan_warp(block, total[r], op);
    Item warp_total = Op::identity();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Item left = block.shuffle_up(total[r], 1);
      const Item row_total = block.shuffle(total[r], kLanes - 1);
      before_[r] = block.lane() == 0 ? warp_total : op(warp_total, left);
      warp_total = op(warp_total, row_total);
    }
    return warp_total;
  }

  /// The aggregate of the thread's vectors and nothing else.
  SCANLAB_HD Item fold(Op op) requires(Op::kCommutative)  // they are not neighbours
  {
    Item total = Op::identity();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      total = op(total, fold_vector(rows_[r], op));
      stay_packed(rows_[r]);
    }
    return total;
  }

  /// Finds what comes before the warp's part in the tile; gives every thread the tile's aggregate. `totals`: the
  /// aggregates of the warps, in shared memory, behind a barrier.
  template <simt::ThreadBlock Block, class SharedItems>
  SCANLAB_HD Item place_warp(Block& block, SharedItems totals, Op op) {
    Item aggregate;
    before_warp_ = before_warp(block, totals, op, aggregate);
    return aggregate;
  }

  /// Writes the results to `out`, with `prefix` before the tile.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void store(Block& block, simt::Global<Block, Item> out, std::int64_t base, std::int64_t n, bool aligned,
                        Mode mode, Item prefix, Op op) const {
    prefix = op(prefix, before_warp_);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const auto items = std::bit_cast<Items>(rows_[r]);
      Item running = op(prefix, before_[r]);
      Items results;
      for (int k = 0; k < kVector; ++k) {
        const Item next = op(running, items[k]);
        results[k] = mode == Mode::exclusive ? running : next;
        running = next;
      }
      const std::int64_t first = base + place(block, r);
      if (first >= n) continue;
      if (kWhole || (aligned && first + kVector <= n)) {
        block.template store<kVector>(out, first, results);
      } else {
        for (int k = 0; k < kVector; ++k) {
          if (first + k < n) out[first + k] = results[k];
        }
      }
    }
  }

 private:
  using Items = simt::Vector<Item, kVector>;
  struct Packed {
    std::uint32_t word[4];
  };

  SCANLAB_HD static Item fold_vector(const Packed& packed, Op op) {
    const auto items = std::bit_cast<Items>(packed);
    Item total = items[0];
    for (int k = 1; k < kVector; ++k) total = op(total, items[k]);
    return total;
  }

  /// A compiler that unpacks 1- and 2-byte items once, for both of their uses, runs out of registers in between.
  SCANLAB_HD static void stay_packed([[maybe_unused]] Packed& packed) {
#if defined(__CUDA_ARCH__)
    for (std::uint32_t& word : packed.word) asm volatile("" : "+r"(word));
#endif
  }

  /// Where the thread's vector of row r begins in the tile.
  template <simt::ThreadBlock Block>
  SCANLAB_HD static int place(Block& block, int r) {
    return ((block.warp() * kRows + r) * kLanes + block.lane()) * kVector;
  }

  Packed rows_[kRows];
  Item before_[kRows];  // of the items before a vector, in its warp's part
  Item before_warp_;    // of the parts of the warps before
};

/// Vectors of 16 bytes that hold the items of a problem.
inline std::int64_t vectors_of(const Problem& problem) {
  return ceil_div(problem.items * static_cast<std::int64_t>(item_bytes(problem.type, problem.op)), 16);
}

/// Longest chain of additions in a tile of so many rows and warps: along a vector, its row, the rows and the warps;
/// then what comes before the tile, before the vector, and before the item.
inline std::int64_t tile_chain(const Problem& problem, int rows, int warps) {
  const auto vector = static_cast<std::int64_t>(16 / item_bytes(problem.type, problem.op));
  return (vector - 1) + ceil_log2(kLanes) + (rows - 1) + ceil_log2(warps) + 2 + vector;
}

/// Whether both arrays can be accessed by vectors.
template <class Machine, class Item>
bool aligned(const simt::Arrays<Machine, Item>& arrays) {
  return Machine::aligned(arrays.in, 16) && Machine::aligned(arrays.out, 16);
}

/// Whether they can be accessed by vectors and hold nothing else.
template <class Machine, class Item>
bool whole(const simt::Arrays<Machine, Item>& arrays, std::int64_t n) {
  return aligned(arrays) && n * sizeof(Item) % 16 == 0;
}

/// What `run` gives for std::true_type if the arrays are whole(), else for std::false_type: of kernels that come in
/// both.
template <class Machine, class Item, class Run>
auto by_whole(const simt::Arrays<Machine, Item>& arrays, std::int64_t n, Run run) {
  return whole(arrays, n) ? run(std::true_type{}) : run(std::false_type{});
}

}  // namespace scanlab::scan
