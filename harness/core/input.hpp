// The inputs of every operator are made from draws that are a pure function of (seed, purpose, i), the same bits
// on host and device, and elements with full mantissas. Each operator makes its items of them, in its own file.
//
// Floats are kept so that every partial sum is finite and within what a float can hold: |x| <= 2^81, so that 2^30
// items, and an affine scale of 2^4 on top, stay below 2^116. Doubles are not smaller than 2^-101 unless zero: the
// oracle keeps its error magnitudes as floats.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "harness/core/monoid.hpp"

namespace scanlab {

enum class InputKind {
  random,       ///< integers over their whole range; floats in (-1, 1), full mantissas, eight exponents
  constant,     ///< one random item, n times; where that would overflow, with another sign or order now and then
  alternating,  ///< one random item and its opposite by turns
  one_hot,      ///< the operator's identity everywhere but at one random place
  extremes,     ///< integers: lowest, highest, 0, -1, 1; floats: huge, tiny, subnormal, signed zeros, ordinary
  exact,        ///< floats whose sums are exact in any grouping, where an operator has such; else random
};
inline constexpr std::array kInputKinds{InputKind::random,  InputKind::constant, InputKind::alternating,
                                        InputKind::one_hot, InputKind::extremes, InputKind::exact};
constexpr std::string_view name(InputKind kind) {
  return std::array{
      "random", "constant", "alternating", "one_hot", "extremes", "exact"}[static_cast<std::size_t>(kind)];
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
SCANLAB_HD constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// The purpose of a draw: draws of one item for different purposes are independent.
enum class Draw : std::uint64_t { value = 1, scale = 2, exponent = 3, constant = 4, place = 5 };

SCANLAB_HD constexpr std::uint64_t random_bits(std::uint64_t seed, Draw draw, std::int64_t i) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
  const std::uint64_t key = mix(seed + kGolden * static_cast<std::uint64_t>(draw));
  return mix(key + kGolden * (static_cast<std::uint64_t>(i) + 1));
}

/// ±1.m * 2^exponent, with the sign and the mantissa m from `bits`: its highest bit and its lowest ones.
template <class T>
SCANLAB_HD constexpr T make_float(std::uint64_t bits, int exponent) {
  if constexpr (sizeof(T) == 2) {
    return T::from_bits(static_cast<std::uint16_t>(bits >> 63 << 15 | static_cast<std::uint64_t>(exponent + 15) << 10 |
                                                   (bits & 0x3FFu)));
  } else if constexpr (sizeof(T) == 4) {
    const auto sign = static_cast<std::uint32_t>(bits >> 63) << 31;
    return std::bit_cast<T>(sign | static_cast<std::uint32_t>(exponent + 127) << 23 |
                            (static_cast<std::uint32_t>(bits) & 0x7FFFFFu));
  } else {
    const std::uint64_t sign = bits >> 63 << 63;
    return std::bit_cast<T>(sign | static_cast<std::uint64_t>(exponent + 1023) << 52 | (bits & 0xFFFFFFFFFFFFFu));
  }
}

/// Exactly 2^exponent.
template <class T>
SCANLAB_HD constexpr T power_of_two(int exponent) {
  return make_float<T>(0, exponent);
}

template <class T>
SCANLAB_HD constexpr T random_element(std::uint64_t bits) {
  if constexpr (kIsFloating<T>) {
    return make_float<T>(bits, -1 - static_cast<int>(bits >> 52 & 7));
  } else {
    return static_cast<T>(bits >> (64 - 8 * sizeof(T)));
  }
}

/// `subnormals`: whether a float may be one. (Doubles never are: see the top of this file.)
template <class T>
SCANLAB_HD constexpr T extreme_element(std::uint64_t bits, bool subnormals = true) {
  const auto choice = static_cast<int>(bits >> 55 & 7);
  if constexpr (kIsFloating<T>) {
    constexpr bool kHalf = sizeof(T) == 2;
    const T sign = bits >> 63 != 0 ? T{-1} : T{1};
    if (choice == 0) return sign * T{0};
    if (choice <= 2) return make_float<T>(bits, kHalf ? 15 : 80);
    if (choice == 3) return make_float<T>(bits, kHalf ? -14 : -100);
    if (choice == 4 && subnormals && sizeof(T) <= 4) return sign * std::numeric_limits<T>::denorm_min();
    return random_element<T>(bits);
  } else {
    if (choice <= 1) return std::numeric_limits<T>::lowest();
    if (choice <= 3) return std::numeric_limits<T>::max();
    return choice == 4 ? T{0} : choice <= 6 ? static_cast<T>(-1) : T{1};
  }
}

/// The element of the kinds random and extremes.
template <class T>
SCANLAB_HD constexpr T scattered_element(bool extremes, std::uint64_t seed, std::int64_t i) {
  const std::uint64_t bits = random_bits(seed, Draw::value, i);
  return extremes ? extreme_element<T>(bits) : random_element<T>(bits);
}

/// The one element of the constant, alternating and one-hot inputs. Integers are made odd: never 0, nor the lowest.
template <class T>
SCANLAB_HD constexpr T constant_element(std::uint64_t seed) {
  const T value = random_element<T>(random_bits(seed, Draw::constant, 0));
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value | 1);
  } else {
    return value;
  }
}

template <class T>
SCANLAB_HD constexpr T negated(T x) {
  return wrapping_multiply(static_cast<T>(-1), x);
}

/// The inputs of an operator whose items are elements and that cannot overflow. `kEven`: of constant integers, which
/// are odd otherwise, for an identity that is odd.
template <class T, bool kEven = false>
struct ElementItems {
  SCANLAB_HD static constexpr T constant_item(std::uint64_t seed) {
    const T odd = constant_element<T>(seed);
    if constexpr (kEven && std::is_integral_v<T>) {
      return static_cast<T>(odd & ~1);
    } else {
      return odd;
    }
  }
  SCANLAB_HD static constexpr T repeated_item(std::uint64_t seed, std::int64_t) { return constant_item(seed); }
  SCANLAB_HD static constexpr T alternating_item(std::uint64_t seed, std::int64_t i) {
    return i % 2 != 0 ? negated(constant_item(seed)) : constant_item(seed);
  }
  SCANLAB_HD static constexpr T scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    return scattered_element<T>(extremes, seed, i);
  }
};

// Sums and compositions of halves are made exact, whatever their grouping: u is 2^-11, and past a thousand additions
// gamma_d bounds nothing. They are then compared exactly, which is stricter than a bound.

inline constexpr float kQuantum = 0x1p-4f;  ///< the unit of halves whose sums are exact
inline constexpr std::int64_t kRun = 64;    ///< constant halves of one sign: 64 times 31 quanta are below 2^11

/// A few quanta, with a sign.
SCANLAB_HD constexpr Half constant_half(std::uint64_t seed) {
  const std::uint64_t bits = random_bits(seed, Draw::constant, 0);
  const float quanta = static_cast<float>((bits >> 32 & 31) | 1);
  return Half((bits >> 63 != 0 ? -kQuantum : kQuantum) * quanta);
}

/// Whether a constant input of halves has the other sign at item i, so that its sums rise and fall.
SCANLAB_HD constexpr bool falling(std::int64_t i) { return i / kRun % 2 != 0; }

}  // namespace scanlab
