// A tile in the registers of a block: loaded once, scanned by shuffles, stored once. Several
// scans share it; they differ in how blocks tell each other the prefixes of their tiles.
//
// A thread holds vectors of 16 bytes. A warp's vectors lie in rows of 32, so that a warp reads and writes 512 bytes in
// a row:
//
//     row 0 of warp 0:  lane 0 | lane 1 | … | lane 31      item 0, 1, 2, 3 of an i32 vector are neighbours, and so are
//     row 1 of warp 0:  lane 0 | …                         the vectors of a row, the rows of a warp, and the warps
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "harness/core/associative.hpp"
#include "harness/simt/thread_block.hpp"
#include "variants/scan/packed_items.cuh"

namespace scanlab::scan {

inline constexpr int kLanes = simt::kWarpLanes;
inline constexpr int kMaxWarps = 32;  // of a block

/// Whether a warp folds such values in one instruction (redux.sync) instead of 5 steps.
template <Associative Op>
inline constexpr bool kFoldsAtOnce =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::is_integral_v<typename Op::Item> &&
    sizeof(typename Op::Item) <= sizeof(int) && kWarpReduction<Op> != WarpReduction::none;
#else
    false;
#endif

/// The scan over a warp, one value a lane: inclusive. 5 steps, or fewer where only the first few lanes count.
template <simt::ThreadBlock Block, Associative Op>
SCANLAB_HD typename Op::Item scan_warp(Block& block, typename Op::Item item, Op op, int lanes = kLanes) {
  for (int distance = 1; distance < lanes; distance *= 2) {
    const auto left = block.shuffle_up(item, distance);
    if (block.lane() >= distance) item = op(left, item);
  }
  return item;
}

// Items, and what may be none, from lane to lane.

template <simt::ThreadBlock Block, class T>
SCANLAB_HD T shuffle_down(Block& block, const T& item, int delta) {
  return block.shuffle_down(item, delta);
}
template <simt::ThreadBlock Block, class T>
SCANLAB_HD Maybe<T> shuffle_down(Block& block, const Maybe<T>& before, int delta) {
  const T item = block.shuffle_down(before.item, delta);
  return {item, block.shuffle_down(before.any, delta)};
}
template <simt::ThreadBlock Block, class T>
SCANLAB_HD T shuffle(Block& block, const T& item, int source_lane) {
  return block.shuffle(item, source_lane);
}
template <simt::ThreadBlock Block, class T>
SCANLAB_HD Maybe<T> shuffle(Block& block, const Maybe<T>& before, int source_lane) {
  const T item = block.shuffle(before.item, source_lane);
  return {item, block.shuffle(before.any, source_lane)};
}

/// Lane 0 gets the values of all lanes, folded from left to right; other lanes get nothing of use. 5 steps; or one
/// instruction (redux.sync), where there is one for such values.
template <simt::ThreadBlock Block, Associative Op>
SCANLAB_HD Before<Op> fold_warp(Block& block, std::type_identity_t<Before<Op>> item, Op op) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  using Item = typename Op::Item;
  using Word = std::conditional_t<std::is_signed_v<Item>, int, unsigned>;
  constexpr unsigned kAll = 0xFFFFFFFF;
  if constexpr (kFoldsAtOnce<Op> && kWarpReduction<Op> == WarpReduction::add) {
    return static_cast<Item>(__reduce_add_sync(kAll, static_cast<unsigned>(item)));
  } else if constexpr (kFoldsAtOnce<Op> && kWarpReduction<Op> == WarpReduction::max) {
    return static_cast<Item>(__reduce_max_sync(kAll, Word{item}));
  } else if constexpr (kFoldsAtOnce<Op> && kWarpReduction<Op> == WarpReduction::min) {
    return static_cast<Item>(__reduce_min_sync(kAll, Word{item}));
  } else
#endif
  {
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const auto right = shuffle_down(block, item, distance);
      item = op(item, right);
    }
    return item;
  }
}

/// As fold_warp, of the first `lanes` alone, which may be none of them.
template <simt::ThreadBlock Block, Associative Op>
SCANLAB_HD Before<Op> fold_lanes(Block& block, typename Op::Item item, int lanes, Op op) {
  if constexpr (HasIdentity<Op>) {
    return fold_warp(block, block.lane() < lanes ? item : Op::identity(), op);
  } else {
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const auto behind = block.shuffle_down(item, distance);
      if (block.lane() + distance < lanes) item = op(item, behind);
    }
    return {item, lanes > 0};
  }
}

/// As fold_warp, but every lane has the result.
template <simt::ThreadBlock Block, Associative Op>
SCANLAB_HD Before<Op> fold_for_all(Block& block, std::type_identity_t<Before<Op>> item, Op op) {
  const auto folded = fold_warp(block, item, op);
  if constexpr (kFoldsAtOnce<Op>) return folded;
  return shuffle(block, folded, 0);
}

/// The prefix of the calling warp, by `totals`: an item a warp, in shared memory, behind a barrier. `all`: the total of
/// the whole block.
template <simt::ThreadBlock Block, class SharedItems, Associative Op>
SCANLAB_HD Before<Op> before_warp(Block& block, SharedItems totals, Op op, typename Op::Item& all) {
  const int warps = block.num_threads() / kLanes;
  typename Op::Item total;
  if constexpr (HasIdentity<Op>) {
    total = Op::identity();
    if (block.lane() < warps) total = totals[block.lane()];
  } else {
    total = totals[block.lane() < warps ? block.lane() : warps - 1];  // an operator need not take what is no item
  }
  if constexpr (kFoldsAtOnce<Op> && HasIdentity<Op>) {
    all = fold_for_all(block, total, op);
    return fold_for_all(block, block.lane() < block.warp() ? total : Op::identity(), op);
  }
  const auto scanned = scan_warp(block, total, op, warps);
  const auto left = block.shuffle(scanned, block.warp() - 1);
  all = block.shuffle(scanned, warps - 1);
  return if_any<Op>(block.warp() != 0, left);
}

/// K values that lie side by side in an array; accessed as one where that is a power of 2, at most 16 bytes.
template <class T, int K>
struct Row {
  T item[K];
  SCANLAB_HD T& operator[](int i) { return item[i]; }
  SCANLAB_HD const T& operator[](int i) const { return item[i]; }
};
template <class T, int K>
inline constexpr bool kIsVector = std::has_single_bit(K * sizeof(T)) && K * sizeof(T) <= 16;
template <class T, int K>
using RowOf = std::conditional_t<kIsVector<T, K>, simt::Vector<T, K>, Row<T, K>>;

/// kAligned: both arrays begin at multiples of 16 bytes. Code for other arrays is omitted, which shortens small
/// kernels, whose instructions are each fetched to be executed once.
template <Associative Op, int kRows, bool kAligned = false>
class RegisterTile {
 public:
  using Item = typename Op::Item;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  static constexpr int kVector = 16 / std::max(sizeof(In), sizeof(Out));  ///< items a vector
  SCANLAB_HD static constexpr int items(int threads) { return threads * kRows * kVector; }

  /// Reads the items [base, base + items(threads)) of `in`; from n on there is what no result depends on. `aligned`:
  /// whether both arrays begin at a multiple of 16 bytes; `base` is a multiple of kVector.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void load(Block& block, simt::Global<Block, const In> in, std::int64_t base, std::int64_t n,
                       bool aligned) {
    if constexpr (kOneTail) {
      load_aligned(block, in, base, n);
    } else {
      load_any(block, in, base, n, aligned);
    }
  }

  /// Finds what comes before each vector in the tile; gives every thread the tile's aggregate. One barrier.
  /// `totals`: shared memory, one item a warp, not in use by anything else since the last barrier.
  template <simt::ThreadBlock Block, class SharedItems>
  SCANLAB_HD Item scan(Block& block, SharedItems totals, Op op) {
    // Where one instruction gives a warp's total, the rows are scanned behind the barrier, beside the totals.
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
    Before<Op> warp_total = nothing<Op>();
#pragma unroll
    for (int first = 0; first < kRows; first += kAtATime) {
      Item total[kAtATime];
#pragma unroll
      for (int i = 0; i < kAtATime; ++i) {
        total[i] = fold_vector(rows_[first + i], op);
        stay_packed(rows_[first + i]);
      }
#pragma unroll
      for (Item& each : total) each = scan_warp(block, each, op);
#pragma unroll
      for (int i = 0; i < kAtATime; ++i) {
        const int r = first + i;
        const Item left = block.shuffle_up(total[i], 1);
        const Item row_total = block.shuffle(total[i], kLanes - 1);
        before_[r] = block.lane() == 0 ? warp_total : r == 0 ? left : op(warp_total, left);
        if constexpr (kInPlace)
          rows_[r] = scanlab::bit_cast<Packed>(scan_vector(scanlab::bit_cast<Items>(rows_[r]), before_[r], op));
        warp_total = r == 0 ? row_total : op(warp_total, row_total);
      }
    }
    return item_of(warp_total);
  }

  /// The aggregate of the thread's vectors and nothing else.
  SCANLAB_HD Item fold(Op op) requires(Op::kCommutative&& HasIdentity<Op>)  // they are not neighbours
  {
    Item total = Op::identity();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Item row = fold_vector(rows_[r], op);
      total = r == 0 ? row : op(total, row);
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
  SCANLAB_HD void store(Block& block, simt::Global<Block, Out> out, std::int64_t base, std::int64_t n, bool aligned,
                        Mode mode, Before<Op> prefix, Op op) const {
    store_behind(block, out, base, n, aligned, mode, op(prefix, before_warp_), op);
  }
  /// Writes the results of the first tile, before which there is an initial value at most. Saves an operation with the
  /// identity, which compilers keep for expensive operators.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void store(Block& block, simt::Global<Block, Out> out, std::int64_t base, std::int64_t n, bool aligned,
                        Mode mode, Op op) const {
    if constexpr (kHasInitialValue<Op>) {
      store(block, out, base, n, aligned, mode, before_all(op), op);
    } else {
      store_behind(block, out, base, n, aligned, mode, before_warp_, op);
    }
  }

 private:
  using Items = RowOf<In, kVector>;
  struct Words {
    std::uint32_t word[sizeof(Items) / 4];
  };
  using Packed = std::conditional_t<sizeof(Items) % 4 == 0, Words, Items>;

  /// Whether scan_rows() puts results in the place of items, and what comes before a vector takes no registers. They
  /// are short where what is before may be none, or where a thread has more than 16 rows; it costs an operation more an
  /// item.
  static constexpr bool kInPlace = kSameTypes<Op> && (kRows > 16 || (!HasIdentity<Op> && sizeof(Item) == 4));
  static constexpr int kAtATime = kRows > 16 ? 8 : kRows;  ///< rows whose totals are in registers

  static constexpr bool kOneTail = kAligned && kSameTypes<Op> && HasIdentity<Op> && kIsVector<In, kVector>;
  static_assert(kRows % kAtATime == 0 && !(kInPlace && kOneTail), "a tail is scanned from items");

  SCANLAB_HD static Items scan_vector(Items items, Before<Op> before, Op op) {
    for (int k = 0; k < kVector; ++k) {
      items[k] = op(before, items[k]);
      before = items[k];
    }
    return items;
  }
  /// Moves a warp's row on by an item; `first` comes in. Gives every lane what goes out.
  template <simt::ThreadBlock Block, class Vector>
  SCANLAB_HD static Item shift_row(Block& block, Vector& row, Item first) {
    const Item out = block.shuffle(row[kVector - 1], kLanes - 1);
    const Item left = block.shuffle_up(row[kVector - 1], 1);
    for (int k = kVector - 1; k > 0; --k) row[k] = row[k - 1];
    row[0] = block.lane() == 0 ? first : left;
    return out;
  }

  /// `prefix`: before the warp's part.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void store_behind(Block& block, simt::Global<Block, Out> out, std::int64_t base, std::int64_t n,
                               bool aligned, Mode mode, Before<Op> prefix, Op op) const {
    [[maybe_unused]] Item before_row = item_of(prefix);
    if constexpr (kOneTail) store_tail(block, out, base, n, mode, prefix, op);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      RowOf<Out, kVector> results;
      if constexpr (kInPlace) {
        const auto items = scanlab::bit_cast<Items>(rows_[r]);
        for (int k = 0; k < kVector; ++k) results[k] = op(prefix, items[k]);
        if (mode == Mode::exclusive) before_row = shift_row(block, results, before_row);
      } else {
        results = scanned(rows_[r], op(prefix, before_[r]), mode, op);
      }
      const std::int64_t first = base + place(block, r);
      if (first >= n) continue;
      if (kIsVector<Out, kVector> && (kOneTail || aligned) && first + kVector <= n) {
        store_row(block, out, first, results);
      } else if (!kOneTail) {
        for (int k = 0; k < kVector; ++k) {
          if (first + k < n) out[first + k] = results[k];
        }
      }
    }
  }
  /// Returns the results of a vector.
  SCANLAB_HD static RowOf<Out, kVector> scanned(const Packed& row, Before<Op> running, Mode mode, Op op) {
    if constexpr (kPacks<Op>) {
      auto packed = scanlab::bit_cast<PackedItems<Items, sizeof(In)>>(row);
      packed.scan(running, mode == Mode::exclusive);
      return scanlab::bit_cast<RowOf<Out, kVector>>(packed);
    } else {
      const auto items = scanlab::bit_cast<Items>(row);
      RowOf<Out, kVector> results;
      for (int k = 0; k < kVector; ++k) {
        const Item next = op(running, static_cast<Item>(items[k]));
        results[k] = static_cast<Out>(mode == Mode::exclusive ? item_of(running) : next);
        running = next;
      }
      return results;
    }
  }
  /// The vector that the array ends within is stored by itself, and not by each row.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void store_tail(Block& block, simt::Global<Block, Out> out, std::int64_t base, std::int64_t n, Mode mode,
                             Before<Op> prefix, Op op) const {
    const std::int64_t first = n - n % kVector;
    const int row = row_of(block, first - base);
    if (first == n || row < 0) return;
    Packed items = rows_[0];
    Before<Op> before = before_[0];
#pragma unroll
    for (int r = 1; r < kRows; ++r) {
      if (r != row) continue;
      items = rows_[r];
      before = before_[r];
    }
    const RowOf<Out, kVector> results = scanned(items, op(prefix, before), mode, op);
    for (int k = 0; k < kVector; ++k) {
      if (first + k < n) out[first + k] = results[k];
    }
  }

  template <simt::ThreadBlock Block>
  SCANLAB_HD void load_any(Block& block, simt::Global<Block, const In> in, std::int64_t base, std::int64_t n,
                           bool aligned) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t first = base + place(block, r);
      Items items;
      if constexpr (kSameTypes<Op> && HasIdentity<Op>) {
        for (int k = 0; k < kVector; ++k) items[k] = Op::identity();
        if (first < n) {
          if (kIsVector<In, kVector> && aligned && first + kVector <= n) {
            items = load_row(block, in, first);
          } else {
            for (int k = 0; k < kVector; ++k) {
              if (first + k < n) items[k] = in[first + k];
            }
          }
        }
      } else if (kIsVector<In, kVector> && aligned && first + kVector <= n) {
        items = load_row(block, in, first);
      } else {  // an operator need not take what is no item
        for (int k = 0; k < kVector; ++k) items[k] = in[first + k < n ? first + k : n - 1];
      }
      rows_[r] = scanlab::bit_cast<Packed>(items);
    }
  }

  /// The vector that the array ends within is loaded by itself, and not by each row.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void load_aligned(Block& block, simt::Global<Block, const In> in, std::int64_t base, std::int64_t n) {
    Items none;
    for (int k = 0; k < kVector; ++k) none[k] = Op::identity();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t first = base + place(block, r);
      rows_[r] = scanlab::bit_cast<Packed>(first + kVector <= n ? load_row(block, in, first) : none);
    }
    const std::int64_t first = n - n % kVector;
    const int row = row_of(block, first - base);
    if (first == n || row < 0) return;
    Items tail = none;
    for (int k = 0; k < kVector; ++k) {
      if (first + k < n) tail[k] = in[first + k];
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r == row) rows_[r] = scanlab::bit_cast<Packed>(tail);
    }
  }
  /// The row whose vector of this thread begins at a place in the tile; negative: none.
  template <simt::ThreadBlock Block>
  SCANLAB_HD static int row_of(Block& block, std::int64_t in_tile) {
    const std::int64_t behind = in_tile - place(block, 0);
    if (behind < 0 || behind >= kRows * kLanes * kVector || behind % (kLanes * kVector) != 0) return -1;
    return static_cast<int>(behind) / (kLanes * kVector);
  }

  template <simt::ThreadBlock Block>
  SCANLAB_HD static Items load_row(Block& block, const simt::Global<Block, const In>& in, std::int64_t first) {
    if constexpr (kIsVector<In, kVector>) return block.template load<kVector>(in, first);
    return {};
  }
  template <simt::ThreadBlock Block>
  SCANLAB_HD static void store_row(Block& block, const simt::Global<Block, Out>& out, std::int64_t first,
                                   const RowOf<Out, kVector>& results) {
    if constexpr (kIsVector<Out, kVector>) block.template store<kVector>(out, first, results);
  }

  SCANLAB_HD static Item fold_vector(const Packed& packed, Op op) {
    if constexpr (kPacks<Op>) return scanlab::bit_cast<PackedItems<Items, sizeof(In)>>(packed).fold(Op::identity());
    const auto items = scanlab::bit_cast<Items>(packed);
    Item total = static_cast<Item>(items[0]);
    for (int k = 1; k < kVector; ++k) total = op(total, static_cast<Item>(items[k]));
    return total;
  }

  /// A compiler that unpacks 1- and 2-byte items once, for both of their uses, runs out of registers in between.
  SCANLAB_HD static void stay_packed([[maybe_unused]] Packed& packed) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<Packed, Words>) {
      for (std::uint32_t& word : packed.word) asm volatile("" : "+r"(word));
    }
#endif
  }

  /// Where the thread's vector of row r begins in the tile.
  template <simt::ThreadBlock Block>
  SCANLAB_HD static int place(Block& block, int r) {
    return ((block.warp() * kRows + r) * kLanes + block.lane()) * kVector;
  }

  Packed rows_[kRows];
  Before<Op> before_[kRows];  // of the items before a vector, in its warp's part
  Before<Op> before_warp_;    // of the parts of the warps before
};

}  // namespace scanlab::scan
