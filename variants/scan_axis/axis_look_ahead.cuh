// axis_look_ahead: rows of any length in one pass, by the kernel of look_ahead. This is the kernel;
// axis_look_ahead.cu launches it.
//
// Idea    Rows lie one behind the other, so that a scan of all rows is a scan of the array that restarts at every row:
//         a segmented scan. Where a segment begins need not be read from memory: an item begins a row if its place is a
//         multiple of the row's length. So look_ahead scans pairs of an item and whether it is a head, which threads
//         make while they read the items; tiles are cut as if there were no rows, and every length costs the same.
// Work    2 n, and three instructions an item for the heads.
// Traffic 2 n, and 16 bytes a tile.
// Bits    Bitwise reproducible.
// Safe    As look_ahead.
// Needs   Compute capability 9.0; items of a row that lie side by side.
// Source  Blelloch 1990 for the pairs; the heads by arithmetic are Scanlab's.
//
// Scans by key and of segments use the same kernel, with heads that a kernel before wrote into memory, a bit an item.
#pragma once

#include "variants/scan/look_ahead.cuh"
#include "variants/scan_axis/segments.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan_axis {

/// The items of the vectors of a lane, whose heads came as bits.
template <Associative Op>
struct LoadedBitItems : BitItems<Op> {
  const std::uint32_t* bits;  ///< of the tile
  int place;                  ///< of the next vector
  __device__ void begin_vector() {
    this->heads = bits[place / 32] >> (place % 32);
    place += cuda::kBulkBytes / static_cast<int>(sizeof(InOf<Op>));
  }
};

/// How heads are told by keys: whether neighbours are equal. The reduce warps compare, and leave the bits of each
/// vector for the scan warps.
template <class KeyType, class Equal>
struct Keys {
  using Key = KeyType;
  const Key* keys;
  Equal equal;
};

template <Associative Op>
using VectorBits = std::conditional_t<sizeof(InOf<Op>) == 1, std::uint16_t, std::uint8_t>;

/// For the reduce warps.
template <Associative Op, class Heads>
struct KeyedItems : BitItems<Op> {
  using Key = typename Heads::Key;
  static constexpr int kItems = cuda::kBulkBytes / static_cast<int>(sizeof(InOf<Op>));
  struct alignas(std::min<int>(cuda::kBulkBytes, kItems * sizeof(Key))) KeyVector {
    Key keys[kItems];
  };
  const Heads& by;
  const KeyVector* next_keys;
  VectorBits<Op>* bits;
  int bits_stride;
  Key before;
  bool begins;  ///< whether the next item is the first of all

  __device__ void begin_vector() {
    const KeyVector own = *next_keys++;
    std::uint32_t found = begins ? 1 : 0;
    begins = false;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!by.equal(i == 0 ? before : own.keys[i == 0 ? 0 : i - 1], own.keys[i])) found |= 1u << i;
    }
    before = own.keys[kItems - 1];
    this->heads = found;
    *bits = static_cast<VectorBits<Op>>(found);
    bits += bits_stride;
  }
};

/// For the scan warps.
template <Associative Op>
struct ReadBackItems : BitItems<Op> {
  const VectorBits<Op>* bits;
  int bits_stride;
  __device__ void begin_vector() {
    this->heads = *bits;
    bits += bits_stride;
  }
};

/// The key that a way to tell heads needs beside an item, or void.
template <class Heads>
struct KeyOf {
  using Type = void;
};
template <class Key, class Equal>
struct KeyOf<Keys<Key, Equal>> {
  using Type = Key;
};

/// The arguments of look_ahead, and the heads. HeadsType: Rows, HeadBits, or Keys.
template <Associative Op, class HeadsType>
struct SegmentedArguments {
  using Heads = HeadsType;
  struct Form : scan::UsualForm {
    static constexpr bool kHeadBits = std::is_same_v<Heads, HeadBits>;
    using Key = typename KeyOf<Heads>::Type;
  };
  scan::Arguments<Segmented<Op>> scan;
  Heads heads;

  __device__ const scan::Arguments<Segmented<Op>>& of_scan() const { return scan; }
  __device__ auto aggregates() const { return scan.aggregates(); }

  template <bool kFirst>
  __device__ auto items_from(const auto& ring, int slot, std::int64_t tile, int warp, int lane) const {
    const Op& op = scan.op.op;
    if constexpr (Form::kHeadBits) {
      return LoadedBitItems<Op>{
          {{op}}, reinterpret_cast<const std::uint32_t*>(ring.heads(slot)), ring.place_in_tile(warp, lane)};
    } else if constexpr (std::is_void_v<typename Form::Key>) {
      return heads.items_from(ring.place(tile, warp, lane), op);
    } else {
      const int stride = scan.shape.warps * scan::kLanes;
      auto* const bits = reinterpret_cast<VectorBits<Op>*>(ring.heads(slot)) + warp * scan::kLanes + lane;
      if constexpr (kFirst) {
        using Items = KeyedItems<Op, Heads>;
        const bool begins = tile == 0 && warp == 0 && lane == 0;
        const auto* const own = ring.keys(slot) + ring.place_in_tile(warp, lane);
        return Items{{{op}}, heads,  reinterpret_cast<const typename Items::KeyVector*>(own),
                     bits,   stride, begins ? own[0] : own[-1],
                     begins};
      } else {
        return ReadBackItems<Op>{{{op}}, bits, stride};
      }
    }
  }
};

template <Associative Op, class Heads>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMaxReduceWarps<Segmented<Op>>}.threads(), 1)
    segmented_look_ahead(const __grid_constant__ SegmentedArguments<Op, Heads> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  scan::LookAheadBlock<Segmented<Op>, cuda::NoWatch, SegmentedArguments<Op, Heads>>(arguments, shared).run();
#else
  __trap();
#endif
}

}  // namespace scanlab::scan_axis
#endif
