// complex_multiply: the product of complex numbers (re, im).
//
// Cost    four multiplications and two additions, on items of two floats.
// Error   none: products of the inputs come out exact, whatever their grouping. A bound would mean nothing: each of
//         n - 1 multiplications errs by up to sqrt(5) u of the whole product, so that it ends at n = 2^22.
// Bits    the same for any grouping of the inputs below; of others they depend on it.
// Input   item i is g(i) / g(i-1), where g is a power of i, times 1 + i or 1, times 2^e with e in [-2, 2] ([-30, 30] in
//         the extremes): all have an inverse in few bits, and a product of neighbours telescopes to one of them.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"

namespace scanlab {

struct alignas(8) ComplexFloat {
  float re;
  float im;
  friend SCANLAB_HD constexpr bool operator==(const ComplexFloat& a, const ComplexFloat& b) {
    return a.re == b.re && a.im == b.im;
  }
  template <class F>
  void each_field(F f) const {
    f("re", re);
    f("im", im);
  }
};

template <class T>
requires std::same_as<T, float>
struct ComplexMultiply {
  using Element = T;
  using Item = ComplexFloat;
  static constexpr Operator kOperator{"complex_multiply"};
  static constexpr bool kCommutative = false;  // it is; but what is folded out of order overflows where no run does
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() { return {1, 0}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const {
    return {left.re * right.re - left.im * right.im, left.re * right.im + left.im * right.re};
  }

  static constexpr bool kRounds = false;

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) {
    return unit(1 + 2 * static_cast<int>(random_bits(seed, Draw::constant, 0) % 2));  // i or -i: powers stay small
  }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t) { return constant_item(seed); }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    const Item item = ComplexMultiply{}({2, 2}, constant_item(seed));
    return i % 2 != 0 ? inverse(item) : item;
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const Item here = held(extremes, seed, i);
    return i == 0 ? here : ComplexMultiply{}(inverse(held(extremes, seed, i - 1)), here);
  }

 private:
  /// A power of i.
  SCANLAB_HD static constexpr Item unit(int power) {
    const float sign = power % 4 < 2 ? 1 : -1;
    return power % 2 == 0 ? Item{sign, 0} : Item{0, sign};
  }
  /// Exact where |z|^2 is a power of two.
  SCANLAB_HD static constexpr Item inverse(Item z) {
    const float norm = z.re * z.re + z.im * z.im;
    return {z.re / norm, -z.im / norm};
  }
  /// g(i).
  SCANLAB_HD static constexpr Item held(bool extremes, std::uint64_t seed, std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    const int reach = extremes ? 30 : 2;
    const auto exponent = static_cast<int>((bits >> 8) % static_cast<unsigned>(2 * reach + 1)) - reach;
    const float scale = power_of_two<float>(exponent);
    const Item direction = (bits >> 4 & 1) != 0 ? Item{scale, scale} : Item{scale, 0};
    return ComplexMultiply{}(direction, unit(static_cast<int>(bits & 3)));
  }
};

}  // namespace scanlab
