// Sums of items of one and two bytes in words of 32 bits: an instruction an item bounds scans of bytes that L2 holds,
// and items of two bytes take fewer registers so.
//
// Fold    A dot product with ones (dp4a, dp2a) adds the items of a word.
// Scan    Bytes are kept in halves, two words of them, so that no carry meets a neighbour. Multiplication by 0x00010001
//         adds the lower half to the upper one, which scans the sums of pairs; what is before the second item of a pair
//         is the difference. 8 instructions for 4 items. Halves take an addition each, and one instruction puts two of
//         them together.
#pragma once

#include <cstdint>
#include <type_traits>

#include "harness/core/associative.hpp"

namespace scanlab::scan {

/// Whether a device adds the items of a word at once: sums modulo 2^8 and 2^16.
template <class Op>
inline constexpr bool kPacksOnDevice = kSameTypes<Op>&& HasIdentity<Op>&& std::is_integral_v<typename Op::Item> &&
                                       !std::is_same_v<typename Op::Item, bool> && sizeof(typename Op::Item) <= 2 &&
                                       kWarpReduction<Op> == WarpReduction::add;
/// Whether this code does.
template <class Op>
inline constexpr bool kPacks =
#if defined(__CUDA_ARCH__)
    kPacksOnDevice<Op>;
#else
    false;
#endif

/// A word of the bytes of `low` and `high`, numbered from 0 to 7: four numbers, from the lowest byte on.
SCANLAB_HD inline std::uint32_t pick_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t numbers) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, numbers);
#else
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= (both >> 8 * (numbers >> 4 * i & 7) & 0xFF) << 8 * i;
  return word;
#endif
}

/// The items of a vector, of kItemBytes each: 1 or 2.
template <class Vector, std::size_t kItemBytes>
struct alignas(sizeof(Vector)) PackedItems {
  using Item = std::conditional_t<kItemBytes == 1, std::uint8_t, std::uint16_t>;
  std::uint32_t word[sizeof(Vector) / sizeof(std::uint32_t)];

  /// The sum of `before` and all items.
  SCANLAB_HD Item fold(Item before) const {
    const PackedItems own = *this;
    std::uint32_t sum = before;
#pragma unroll
    for (const std::uint32_t items : own.word) {
#if defined(__CUDA_ARCH__)
      sum = kItemBytes == 1 ? __dp4a(items, 0x01010101u, sum) : __dp2a_lo(items, 0x0101u, sum);
#else
      for (std::size_t i = 0; i < 4; i += kItemBytes) sum += static_cast<Item>(items >> 8 * i);
#endif
    }
    return static_cast<Item>(sum);
  }

  /// Puts results in the place of items. Returns fold(before).
  SCANLAB_HD Item scan(Item before, bool exclusive) {
    PackedItems own = *this;
    if constexpr (kItemBytes == 1) {
      constexpr std::uint32_t kHalves = 0x00010001;
      const std::uint32_t results = exclusive ? 0x2104 : 0x3210;  // of `sums`, behind a byte of `running` if exclusive
      std::uint32_t running = before * kHalves;
#pragma unroll
      for (std::uint32_t& items : own.word) {
        const std::uint32_t first = pick_bytes(items, 0, 0x4240), second = pick_bytes(items, 0, 0x4341);
        const std::uint32_t of_pairs = (first + second) * kHalves + running;
        const std::uint32_t sums = pick_bytes(of_pairs - second, of_pairs, 0x6240);
        items = pick_bytes(sums, running, results);
        running = pick_bytes(of_pairs, 0, 0x4242);
      }
      *this = own;
      return static_cast<Item>(running);
    } else {
      std::uint32_t running = before;  // its lower half
#pragma unroll
      for (std::uint32_t& items : own.word) {
        const std::uint32_t first = running + items, second = first + (items >> 16);
        items = exclusive ? pick_bytes(running, first, 0x5410) : pick_bytes(first, second, 0x5410);
        running = second;
      }
      *this = own;
      return static_cast<Item>(running);
    }
  }
};

}  // namespace scanlab::scan
