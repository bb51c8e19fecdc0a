// Sums of bytes in words of 32 bits, four items at a time: an instruction an item is what bounds scans of bytes.
//
// Fold    A dot product with ones (dp4a) adds four items.
// Scan    Items are kept in halves, two words of them, so that no carry meets a neighbour. Multiplication by 0x00010001
//         adds the lower half to the upper one, which scans the sums of pairs; what is before the second item of a pair
//         is the difference. 8 instructions for 4 items.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "harness/core/associative.hpp"

namespace scanlab::scan {

/// Whether items are added four at a time: sums modulo 2^8, on a device. Those of 2 bytes gain nothing by it.
template <class Op>
inline constexpr bool kPacks =
#if defined(__CUDA_ARCH__)
    kSameTypes<Op>&& std::is_integral_v<typename Op::Item> &&
    sizeof(typename Op::Item) == 1 && kWarpReduction<Op> == WarpReduction::add;
#else
    false;
#endif

template <class Vector>
struct PackedBytes;

#if defined(__CUDACC__)

/// The items of a vector. A compiler that sees them one by one unpacks them, and packs the results.
template <class Vector>
struct alignas(sizeof(Vector)) PackedBytes {
  std::uint32_t word[sizeof(Vector) / sizeof(std::uint32_t)];

  /// The sum of `before` and all items.
  __device__ std::uint8_t fold(std::uint8_t before) const {
    const PackedBytes own = *this;
    std::uint32_t sum = before;
#pragma unroll
    for (const std::uint32_t items : own.word) sum = __dp4a(items, 0x01010101u, sum);
    return static_cast<std::uint8_t>(sum);
  }

  /// Puts results in the place of items. Returns fold(before).
  __device__ std::uint8_t scan(std::uint8_t before, bool exclusive) {
    constexpr std::uint32_t kHalves = 0x00010001;
    const std::uint32_t shift = exclusive ? 0x2104 : 0x3210;  // brings in what is before, or nothing
    PackedBytes own = *this;
    std::uint32_t running = before * kHalves;
#pragma unroll
    for (std::uint32_t& items : own.word) {
      const std::uint32_t first = __byte_perm(items, 0, 0x4240), second = __byte_perm(items, 0, 0x4341);
      const std::uint32_t of_pairs = (first + second) * kHalves + running;
      const std::uint32_t sums = __byte_perm(of_pairs - second, of_pairs, 0x6240);
      items = __byte_perm(sums, running, shift);
      running = __byte_perm(of_pairs, 0, 0x4242);
    }
    *this = own;
    return static_cast<std::uint8_t>(running);
  }
};

#endif

}  // namespace scanlab::scan
