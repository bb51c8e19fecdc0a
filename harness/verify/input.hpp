// What variants are verified and timed on: item i is a pure function of (kind, seed, i, n), the same bits on host and
// device, so that nothing large travels and any item can be made again.
//
// Floating inputs keep every partial sum finite and within what a float can hold: |x| <= 2^81, so that 2^30 items, and
// an affine scale of 2^4 on top, stay below 2^116. Doubles are not smaller than 2^-101 unless zero: the oracle keeps
// its error magnitudes as floats.
//
// Affine maps. Of integers, scales are odd: an odd number is invertible modulo 2^k, so that no item, however early,
// drops out of a product; an even scale would wipe the past out after 32 or 64 of them. Of floats, the random scale of
// item i is ±2^(e(i) - e(i-1)) with e(i) a hash in [-2, 2] and e(-1) = 0. A product of neighbouring scales telescopes
// to ±2^(e(j) - e(i-1)), so it stays within 2^±4 whatever n is, and multiplying by it is exact: only the additions
// round. A scan of affine maps then errs as a sum does: |error of the shift| <= gamma_d * sum_j |shift_j| * |product of
// the scales after j|, which is the same composition taken on absolute values; and its scales must be exact.
//
// Halves. u is 2^-11: past a thousand additions gamma_d bounds nothing. Sums and compositions of halves are therefore
// made exact, whatever the grouping, and compared exactly, which is stricter than a bound. Sums telescope: item i is
// h(i) - h(i-1), with h(-1) = 0 and every other h a small multiple of one quantum, so that the sum of items i to j is
// h(j) - h(i-1), which a half holds; every output is an h. A sum commutes, and CUB adds halves two by two, every other
// item of a thread: with |h| at most 15 quanta (480 each in the extremes) any 64 items, neighbours or not, have an
// exact sum too. So do affine maps: item i is g(i) after the inverse of g(i-1), where g(i) maps x to ±2^e(i) x + h(i)
// with e(i) in [-1, 1]. Items i to j compose to g(j) after the inverse of g(i-1): a scale c within 2^±2, and the shift
// h(j) - c h(i-1). With |h| <= R, all multiples of q, a shift is at most 5R/q times the smaller of q and cq; and the
// product within a composition is a shift times a power of two, no larger than 8R: all exact for R <= 409 q and 8R <
// 65504. The other kinds stay exact on their own: an alternating sum goes nowhere, and the constant item changes its
// sign every kRun items, so that its sums rise and fall.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "harness/core/monoid.hpp"
#include "harness/core/portable.hpp"

namespace scanlab::verify {

enum class InputKind {
  random,       ///< integers over their whole range; floats in (-1, 1), full mantissas, eight exponents
  constant,     ///< one random item, n times; sums of halves: with another sign every kRun items
  alternating,  ///< one random item with alternating sign
  one_hot,      ///< the operator's identity everywhere but at one random place
  extremes,     ///< integers: lowest, highest, 0, -1, 1; floats: huge, tiny, subnormal, signed zeros, ordinary
};
inline constexpr std::array kInputKinds{InputKind::random, InputKind::constant, InputKind::alternating,
                                        InputKind::one_hot, InputKind::extremes};
std::string_view name(InputKind kind);

/// The finaliser of SplitMix64: every input bit reaches every output bit.
SCANLAB_HD constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// What a hash is drawn for: draws of one item are independent of each other.
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

/// `subnormals`: whether a float may be one. An affine scale would not multiply it exactly. (Doubles never are: see the
/// top of this file.)
template <class T>
SCANLAB_HD constexpr T extreme_element(std::uint64_t bits, bool subnormals) {
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
    return choice == 4 ? T{0} : choice <= 6 ? T{-1} : T{1};
  }
}

template <class T>
SCANLAB_HD constexpr T negated(T x) {
  return wrapping_multiply(T{-1}, x);
}

/// Whether sums or compositions of this operator are made to come out exact: see "Halves" at the top of this file.
template <class Op>
inline constexpr bool kExactSums = std::is_same_v<typename Op::Element, Half> &&
                                   (Op::kOperator == Operator::plus || Op::kOperator == Operator::affine);

inline constexpr float kQuantum = 0x1p-4f;  ///< of halves whose sums are exact
inline constexpr std::int64_t kRun = 64;    ///< constant halves of one sign: 64 times 31 quanta are below 2^11

/// The one item of the constant, alternating and one-hot inputs; never the identity.
template <class Op>
SCANLAB_HD constexpr typename Op::Item constant_item(std::uint64_t seed) {
  using T = typename Op::Element;
  const std::uint64_t bits = random_bits(seed, Draw::constant, 0);
  T value = random_element<T>(bits);
  if constexpr (std::is_integral_v<T>) {  // the identities: 0 and the lowest are even, the highest is odd
    value = static_cast<T>(Op::kOperator == Operator::min ? value & ~1 : value | 1);
  } else if constexpr (kExactSums<Op>) {
    const float quanta = static_cast<float>((bits >> 32 & 31) | 1);
    value = T((bits >> 63 != 0 ? -kQuantum : kQuantum) * quanta);
  }
  if constexpr (Op::kOperator == Operator::affine) {
    if constexpr (std::is_integral_v<T>) {
      return {static_cast<T>(random_element<T>(random_bits(seed, Draw::constant, 1)) | 1), value};
    } else {
      return {T{1}, value};  // any other scale would let a product of n of them overflow or vanish
    }
  } else {
    return value;
  }
}

/// Item i of the constant input.
template <class Op>
SCANLAB_HD constexpr typename Op::Item repeated_item(std::uint64_t seed, std::int64_t i) {
  typename Op::Item item = constant_item<Op>(seed);
  if constexpr (kExactSums<Op>) {
    const bool falling = i / kRun % 2 != 0;
    if constexpr (Op::kOperator == Operator::affine) {
      if (falling) item.shift = -item.shift;
    } else {
      if (falling) item = -item;
    }
  }
  return item;
}

template <class Op>
SCANLAB_HD constexpr typename Op::Item alternating_item(std::uint64_t seed, std::int64_t i) {
  using T = typename Op::Element;
  const typename Op::Item item = constant_item<Op>(seed);
  const bool odd = i % 2 != 0;
  if constexpr (Op::kOperator != Operator::affine) {
    return odd ? negated(item) : item;
  } else if constexpr (std::is_integral_v<T>) {
    if (odd) return {negated(item.scale), negated(item.shift)};
    return item;
  } else {
    if (odd) return {T{-0.5f}, -item.shift};
    return {T{2}, item.shift};
  }
}

template <class Op>
SCANLAB_HD constexpr typename Op::Item one_hot_item(std::uint64_t seed, std::int64_t i, std::int64_t n) {
  const std::uint64_t place = random_bits(seed, Draw::place, n) % static_cast<std::uint64_t>(n);
  if (static_cast<std::uint64_t>(i) != place) return Op::identity();
  return alternating_item<Op>(seed, 1);  // its affine map has a scale that is not 1
}

/// ±2^(e(i) - e(i-1)): see the top of this file.
template <class T>
SCANLAB_HD constexpr T telescoping_scale(std::uint64_t seed, std::int64_t i) {
  constexpr int kReach = sizeof(T) == 2 ? 1 : 2;  // of e
  const auto exponent = [](std::uint64_t bits) { return static_cast<int>(bits % (2 * kReach + 1)) - kReach; };
  const std::uint64_t bits = random_bits(seed, Draw::exponent, i);
  const int before = i == 0 ? 0 : exponent(random_bits(seed, Draw::exponent, i - 1));
  const T magnitude = power_of_two<T>(exponent(bits) - before);
  return bits >> 63 != 0 ? -magnitude : magnitude;
}

/// h(i): see "Halves" at the top of this file.
template <class Op>
SCANLAB_HD constexpr float held(bool extremes, std::uint64_t seed, std::int64_t i) {
  constexpr bool kAffine = Op::kOperator == Operator::affine;
  if (i < 0) return 0;
  const std::uint64_t bits = random_bits(seed, Draw::value, i);
  if (extremes) return (kAffine ? 7168.0f : 480.0f) * static_cast<float>(static_cast<int>(bits % 3) - 1);
  if constexpr (kAffine) {
    constexpr int kReach = 409;
    return kQuantum * static_cast<float>(static_cast<int>(bits % (2 * kReach + 1)) - kReach);
  } else {  // even and odd by turns, so that no item is 0: one that is left out is missed
    return kQuantum * static_cast<float>(2 * static_cast<int>(bits % 15) - 14 + (i % 2 == 0 ? 1 : 0));
  }
}

/// Of the kinds random and extremes, where sums are exact.
template <class Op>
SCANLAB_HD constexpr typename Op::Item telescoping_item(bool extremes, std::uint64_t seed, std::int64_t i) {
  using T = typename Op::Element;
  const float before = held<Op>(extremes, seed, i - 1);
  const float here = held<Op>(extremes, seed, i);
  if constexpr (Op::kOperator == Operator::affine) {
    const T scale = telescoping_scale<T>(seed, i);
    return {scale, T(here - static_cast<float>(scale) * before)};
  } else {
    const bool negative_zero = here == before && random_bits(seed, Draw::value, i) >> 63 != 0;
    return negative_zero ? -T{0} : T(here - before);
  }
}

/// Of the kinds random and extremes.
template <class Op>
SCANLAB_HD constexpr typename Op::Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
  using T = typename Op::Element;
  constexpr bool kAffine = Op::kOperator == Operator::affine;
  if constexpr (kExactSums<Op>) {
    return telescoping_item<Op>(extremes, seed, i);
  } else {
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    const T value = extremes ? extreme_element<T>(bits, !kAffine) : random_element<T>(bits);
    if constexpr (!kAffine) {
      return value;
    } else if constexpr (kIsFloating<T>) {
      return {telescoping_scale<T>(seed, i), value};
    } else {
      const std::uint64_t scale = random_bits(seed, Draw::scale, i);
      return {static_cast<T>((extremes ? extreme_element<T>(scale, false) : random_element<T>(scale)) | 1), value};
    }
  }
}

/// Item i of n, 0 <= i < n.
template <class Op>
SCANLAB_HD constexpr typename Op::Item input_item(InputKind kind, std::uint64_t seed, std::int64_t i, std::int64_t n) {
  switch (kind) {
    case InputKind::constant:
      return repeated_item<Op>(seed, i);
    case InputKind::alternating:
      return alternating_item<Op>(seed, i);
    case InputKind::one_hot:
      return one_hot_item<Op>(seed, i, n);
    case InputKind::random:
    case InputKind::extremes:
      break;
  }
  return scattered_item<Op>(kind == InputKind::extremes, seed, i);
}

}  // namespace scanlab::verify
