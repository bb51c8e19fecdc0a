// IEEE 754 binary16: the element type f16, on every machine. C++20 has no such type, and CUDA's exists only where CUDA
// does. Every operation rounds to the nearest half, ties to even, as the GPU's own instructions do.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/core/portable.hpp"
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace scanlab {

struct Half {
  std::uint16_t bits;

  Half() = default;
  SCANLAB_HD constexpr explicit Half(float value) : bits(rounded(value)) {}
  SCANLAB_HD constexpr explicit Half(double value) : bits(rounded(narrowed_to_odd(value))) {}
  SCANLAB_HD constexpr explicit Half(int value) : Half(static_cast<double>(value)) {}
  SCANLAB_HD static constexpr Half from_bits(std::uint16_t bits) {
    Half half{};
    half.bits = bits;
    return half;
  }

  SCANLAB_HD constexpr explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7FFFu;
    if (magnitude >= 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
    // A half's exponent and mantissa, read as a float's, are too small by 2^112; that holds for subnormals as well.
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f));
  }
  SCANLAB_HD constexpr explicit operator double() const { return static_cast<float>(*this); }

  // A float holds more than twice as many bits as a half and two more, so that rounding a float's sum or product once
  // more gives the half that one rounding would have given.
#if defined(__CUDA_ARCH__)
  __device__ friend Half operator+(Half a, Half b) { return Half(__hadd_rn(__half(a), __half(b))); }
  __device__ friend Half operator*(Half a, Half b) { return Half(__hmul_rn(__half(a), __half(b))); }
  __device__ friend bool operator<(Half a, Half b) { return __hlt(__half(a), __half(b)); }
  __device__ friend bool operator==(Half a, Half b) { return __heq(__half(a), __half(b)); }
#else
  friend constexpr Half operator+(Half a, Half b) { return Half(static_cast<float>(a) + static_cast<float>(b)); }
  friend constexpr Half operator*(Half a, Half b) { return Half(static_cast<float>(a) * static_cast<float>(b)); }
  friend constexpr bool operator<(Half a, Half b) { return static_cast<float>(a) < static_cast<float>(b); }
  friend constexpr bool operator==(Half a, Half b) { return static_cast<float>(a) == static_cast<float>(b); }
#endif
  SCANLAB_HD friend constexpr Half operator-(Half a) { return from_bits(a.bits ^ 0x8000u); }

#if defined(__CUDACC__)
  __device__ explicit Half(__half half) : bits(__half_as_ushort(half)) {}
  __device__ explicit operator __half() const { return __ushort_as_half(bits); }
#endif

 private:
  SCANLAB_HD static constexpr std::uint16_t rounded(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000u);
    const std::uint32_t magnitude = word & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;   // NaN
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // from 65520 on: infinity
    if (magnitude < 0x38800000u) {                        // below 2^-14: subnormal, in units of 2^-24
      // Adding 1/2 leaves a float whose last place is 2^-24: the addition rounds, to even.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
    }
    const std::uint32_t odd = magnitude >> 13 & 1u;
    return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000u + 0xFFFu + odd) >> 13);
  }

  /// To float by cutting off, with the last bit set if anything was lost: what is rounded twice is then rounded once.
  SCANLAB_HD static constexpr float narrowed_to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || value != value) return nearest;
    auto word = std::bit_cast<std::uint32_t>(nearest);
    const double size = value < 0 ? -value : value;
    if (static_cast<double>(std::bit_cast<float>(word & 0x7FFFFFFFu)) > size) --word;
    return std::bit_cast<float>(word | 1u);
  }
};

/// Whether an element type is floating: the built-in types and Half.
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

}  // namespace scanlab

template <>
class std::numeric_limits<scanlab::Half> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool has_infinity = true;
  static constexpr int digits = 11;
  SCANLAB_HD static constexpr scanlab::Half infinity() { return scanlab::Half::from_bits(0x7C00); }
  SCANLAB_HD static constexpr scanlab::Half max() { return scanlab::Half::from_bits(0x7BFF); }
  SCANLAB_HD static constexpr scanlab::Half lowest() { return scanlab::Half::from_bits(0xFBFF); }
  SCANLAB_HD static constexpr scanlab::Half min() { return scanlab::Half::from_bits(0x0400); }
  SCANLAB_HD static constexpr scanlab::Half denorm_min() { return scanlab::Half::from_bits(0x0001); }
  SCANLAB_HD static constexpr scanlab::Half epsilon() { return scanlab::Half::from_bits(0x1400); }
};
