// key_wave and segment_wave: segmented scans in which a few blocks a multiprocessor scan a tile each, which their
// registers hold. This is the kernel; segmented_wave.cu launches it.
//
// Idea    As one_wave, over pairs of an item and whether a segment begins there: a tile in registers is its items and a
//         bit an item. By key, neighbouring keys are compared as they come from memory. By offsets, a block looks up
//         which offsets fall into its tile while its items are on their way, so that no kernel marks heads before.
// Work    4 n, a comparison an item or an atomic operation an offset, and 5 shuffles of pairs a vector, a warp and a
//         block.
// Span    about 40 steps, and one way to memory and back; by offsets, two.
// Traffic 2 n, and n keys, or the offsets and a few hundred of them a block.
// Bits    Fixed for a device.
// Safe    As one_wave.
// Source  Blelloch 1990 for the pairs; one_wave.
#pragma once

#include "variants/scan/one_wave.cuh"
#include "variants/scan_axis/segments.cuh"
#if defined(__CUDACC__)
#include "variants/segmented_scan/heads.cuh"

namespace scanlab::segmented {

/// Heads by key.
template <class KeyType, class EqualType>
struct KeyHeads {
  using Key = KeyType;
  static constexpr int kBytes = sizeof(Key);  ///< that are read of each item's
  template <int kItems>
  struct Found {};

  const Key* keys;
  EqualType equal;
};

/// Heads by offsets, which do not fall.
template <class Offset>
struct OffsetHeads {
  using Key = void;
  static constexpr int kBytes = 0;
  template <int kItems>
  struct Found {
    std::uint32_t bits[kItems / 32];
  };

  const Offset* begins;
  std::int64_t segments;

  /// Marks the heads in a tile. Every thread looks at one of as many offsets, evenly spaced; those between the last one
  /// before the tile and the first one behind it are read.
  template <int kItems>
  __device__ void find(simt::GpuBlock& block, Found<kItems>& found, std::int64_t base, int items,
                       std::int64_t n) const {
    const int threads = block.num_threads(), thread = block.thread_rank();
    const std::int64_t end = min(base + items, n);
    for (int word = thread; word < kItems / 32; word += threads) found.bits[word] = 0;
    const std::int64_t step = ceil_div(segments, std::int64_t{threads}), probe = thread * step;
    const auto begin = static_cast<std::int64_t>(probe < segments ? begins[probe] : static_cast<Offset>(n));
    const int before = __syncthreads_count(begin < base), inside = __syncthreads_count(begin < end);
    const std::int64_t last = min(inside * step, segments);
#pragma unroll 4
    for (std::int64_t s = max(before - 1, 0) * step + thread; s < last; s += threads) {
      const std::int64_t place = static_cast<std::int64_t>(begins[s]) - base;
      if (place >= 0 && place < end - base) atomicOr(&found.bits[place / 32], 1u << (place % 32));
    }
    block.sync();  // the heads are marked
  }
};

/// A tile in the registers of a block: rows of vectors, as RegisterTile has them, with a bit an item.
template <Associative Op, int kRows>
class HeadedTile {
 public:
  using Pairs = scan_axis::Segmented<Op>;
  using Item = typename Pairs::Item;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  static constexpr int kVector = 16 / static_cast<int>(std::max(sizeof(In), sizeof(Out)));
  static constexpr int kMostItems = scan::kWaveWarps * scan::kLanes * kRows * kVector;

  /// in_vectors: items, results and keys begin at multiples of 16 bytes. The keys of a row are loaded behind its items:
  /// all items first would be slower.
  template <class Heads>
  __device__ void load(const In* in, const Heads& heads, std::int64_t base, std::int64_t n, bool in_vectors) {
    using Key = std::conditional_t<std::is_void_v<typename Heads::Key>, In, typename Heads::Key>;
    constexpr bool kByKey = !std::is_void_v<typename Heads::Key>;
    static_assert(sizeof(Key) * kVector <= 16, "the keys of a vector are read as one");
    const Key* keys = nullptr;
    if constexpr (kByKey) keys = heads.keys;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t first = base + place(r);
      simt::Vector<Key, kVector> own{};
      Key before{};
      for (int k = 0; k < kVector; ++k) rows_[r].item[k] = In{};
      if (in_vectors && first + kVector <= n) {
        rows_[r] = block_.template load<kVector>(in, first);
        if constexpr (kByKey) own = block_.template load<kVector>(keys, first);
      } else {
        for (int k = 0; k < kVector; ++k) {
          if (first + k >= n) break;
          rows_[r].item[k] = in[first + k];
          if constexpr (kByKey) own.item[k] = keys[first + k];
        }
      }
      if constexpr (kByKey) {
        if (block_.lane() == 0 && first > 0 && first <= n) before = keys[first - 1];
        const Key left = block_.shuffle_up(own.item[kVector - 1], 1);
        if (block_.lane() != 0) before = left;
        heads_[r] = find_heads(own.item, before, first, n, heads.equal);
      }
    }
  }
  /// Heads by offsets, once they are marked.
  template <class Found>
  __device__ void read_heads(const Found& found) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      heads_[r] = found.bits[place(r) / 32] >> (place(r) % 32) & ((1u << kVector) - 1);
    }
  }

  /// Finds what comes before each vector in its warp's part; gives every lane the aggregate of the part.
  __device__ Item scan_rows(Pairs op) {
    Item total[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      auto items = items_of(r, op);
      total[r] = Pairs::identity();
      for (const In& item : rows_[r].item) total[r] = op(total[r], items.next(item));
      total[r] = scan::scan_warp(block_, total[r], op);
    }
    Item warp_total = Pairs::identity();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Item left = block_.shuffle_up(total[r], 1);
      const Item row_total = block_.shuffle(total[r], scan::kLanes - 1);
      before_[r] = block_.lane() == 0 ? warp_total : op(warp_total, left);
      warp_total = op(warp_total, row_total);
    }
    return warp_total;
  }

  /// prefix: what comes before the warp's part.
  __device__ void store(Out* out, std::int64_t base, std::int64_t n, bool in_vectors, Mode mode, const Item& prefix,
                        Pairs op) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      auto items = items_of(r, op);
      Item running = op(prefix, before_[r]);
      simt::Vector<Out, kVector> results;
      for (int k = 0; k < kVector; ++k) {
        const Item own = items.next(rows_[r].item[k]), next = op(running, own);
        results.item[k] = items.result(mode, running, own, next);
        running = next;
      }
      const std::int64_t first = base + place(r);
      if (in_vectors && first + kVector <= n) {
        block_.template store<kVector>(out, first, results);
      } else {
        for (int k = 0; k < kVector; ++k) {
          if (first + k < n) out[first + k] = results.item[k];
        }
      }
    }
  }

 private:
  __device__ scan_axis::BitItems<Op> items_of(int r, const Pairs& op) const { return {{op.op}, heads_[r]}; }
  __device__ int place(int r) const { return ((block_.warp() * kRows + r) * scan::kLanes + block_.lane()) * kVector; }

  mutable simt::GpuBlock block_;
  simt::Vector<In, kVector> rows_[kRows];
  std::uint32_t heads_[kRows];
  Item before_[kRows];
};

/// in, out: n items, may be the same array. last_run, states: of AggregateMemory, for a tile a block.
template <Associative Op, class Heads, int kRows>
__global__ void __launch_bounds__(scan::kWaveWarps* scan::kLanes, scan::wave_blocks_at_a_time(sizeof(InOf<Op>)))
    segmented_wave(const InOf<Op>* in, OutOf<Op>* out, Heads heads, std::int64_t n, bool in_vectors, Mode mode,
                   int multiprocessors, std::uint32_t* last_run,
                   typename scan::TileState<scan_axis::Headed<typename Op::Item>>::Word* states, Op op) {
  using Tile = HeadedTile<Op, kRows>;
  using Item = typename Tile::Item;
  __shared__ __align__(
      16) unsigned char memory[(scan::kWaveWarps + scan::kMaxWaveBlocks / scan::kLanes) * sizeof(Item)];
  __shared__ typename Heads::template Found<Tile::kMostItems> found;
  __shared__ std::uint32_t this_run;
  Item* const totals = reinterpret_cast<Item*>(memory);
  const typename Tile::Pairs pairs{op};
  simt::GpuBlock block;
  cuda::wait_for_kernels_before();
  const int warps = block.num_threads() / scan::kLanes;

  const std::uint32_t run_before = block.thread_rank() == 0 ? block.load_atomic(last_run, 0) : 0;
  Tile tile;
  const int items = block.num_threads() * kRows * Tile::kVector;
  const std::int64_t base = block.group_index() * items;
  cuda::stagger_load(multiprocessors, items * (static_cast<int>(sizeof(InOf<Op>)) + Heads::kBytes));
  tile.load(in, heads, base, n, in_vectors);
  if constexpr (Heads::kBytes == 0) {
    heads.find(block, found, base, items, n);
    tile.read_heads(found);
  }
  const Item total = tile.scan_rows(pairs);
  if (block.lane() == 0) totals[block.warp()] = total;
  if (block.thread_rank() == 0) this_run = run_before + 1;
  block.sync();  // the warps' totals are there, and this_run
  const std::uint32_t run = this_run;
  Item aggregate;
  const Item before_warp = scan::before_warp(block, totals, pairs, aggregate);
  if (block.thread_rank() == 0) scan::store_state<Item>(block, states, block.group_index(), aggregate, run);
  const Item prefix = scan::blocks_before(block, states, run, totals + scan::kWaveWarps, pairs);
  tile.store(out, base, n, in_vectors, mode, pairs(prefix, before_warp), pairs);
  // The last block has seen an aggregate of every other, so each has read the number before it is changed.
  if (block.thread_rank() == 0 && block.group_index() == gridDim.x - 1) block.store_atomic(last_run, 0, run);
}

}  // namespace scanlab::segmented
#endif
