// Sums of bytes in words of 32 bits, four items at a time: an instruction an item bounds scans of bytes that L2 holds.
//
// Fold    A dot product with ones (dp4a) adds four items.
// Scan    Items are kept in halves, two words of them, so that no carry meets a neighbour. Multiplication by 0x00010001
//         adds the lower half to the upper one, which scans the sums of pairs; what is before the second item of a pair
//         is the difference. 8 instructions for 4 items.
#pragma once

#include <cstdint>
#include <type_traits>

#include "harness/core/associative.hpp"

namespace scanlab::scan {

/// Whether items are added four at a time: sums modulo 2^8, on a device. Items of 2 bytes gain nothing by it.
template <class Op>
inline constexpr bool kPacks =
#if defined(__CUDA_ARCH__)
    kSameTypes<Op>&& HasIdentity<Op>&& std::is_integral_v<typename Op::Item> &&
    !std::is_same_v<typename Op::Item, bool> && sizeof(typename Op::Item) == 1 &&
    kWarpReduction<Op> == WarpReduction::add;
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

/// The items of a vector.
template <class Vector>
struct alignas(sizeof(Vector)) PackedBytes {
  std::uint32_t word[sizeof(Vector) / sizeof(std::uint32_t)];

  /// The sum of `before` and all items.
  SCANLAB_HD std::uint8_t fold(std::uint8_t before) const {
    const PackedBytes own = *this;
    std::uint32_t sum = before;
#pragma unroll
    for (const std::uint32_t items : own.word) {
#if defined(__CUDA_ARCH__)
      sum = __dp4a(items, 0x01010101u, sum);
#else
      for (int i = 0; i < 4; ++i) sum += items >> 8 * i & 0xFF;
#endif
    }
    return static_cast<std::uint8_t>(sum);
  }

  /// Puts results in the place of items. Returns fold(before).
  SCANLAB_HD std::uint8_t scan(std::uint8_t before, bool exclusive) {
    constexpr std::uint32_t kHalves = 0x00010001;
    const std::uint32_t results = exclusive ? 0x2104 : 0x3210;  // of `sums`, behind a byte of `running` if exclusive
    PackedBytes own = *this;
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
    return static_cast<std::uint8_t>(running);
  }
};

}  // namespace scanlab::scan
