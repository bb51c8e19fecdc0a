// matrix_2x2: the product of 2 x 2 matrices, the left one applied first (to a row of two numbers).
//
// A linear recurrence of order two, x_i = a_i x_{i-1} + b_i x_{i-2}, is a scan of such products; so are continued
// fractions. It is not commutative.
//
// Cost    eight multiplications and four additions, on items of 16 bytes.
// Error   none: products of the inputs are small integers, whatever their grouping.
// Bits    the same for any grouping of the inputs below; of others they depend on it.
// Input   item i is the inverse of g(i-1) times g(i), with g(i) = [1 a; 0 1][1 0; b 1] and a, b integers in [-3, 3].
//         Each has the determinant 1 and so an inverse of integers. Items i to j telescope to the inverse of g(i-1)
//         times g(j): no entry is above 200, and no product of two such above 80,000.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"

namespace scanlab {

struct alignas(16) Matrix2x2Float {
  float a, b;  ///< first row
  float c, d;  ///< second row
  friend SCANLAB_HD constexpr bool operator==(const Matrix2x2Float& x, const Matrix2x2Float& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
  }
  template <class F>
  void each_field(F f) const {
    f("a", a);
    f("b", b);
    f("c", c);
    f("d", d);
  }
};

template <class T>
requires std::same_as<T, float>
struct Matrix2x2 {
  using Element = T;
  using Item = Matrix2x2Float;
  static constexpr Operator kOperator{"matrix_2x2"};
  static constexpr bool kCommutative = false;
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() { return {1, 0, 0, 1}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const {
    return {left.a * right.a + left.b * right.c, left.a * right.b + left.b * right.d,
            left.c * right.a + left.d * right.c, left.c * right.b + left.d * right.d};
  }

  static constexpr bool kRounds = false;

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) {
    const float sign = random_bits(seed, Draw::constant, 0) >> 63 != 0 ? -1 : 1;
    return {1, sign, -sign, 0};  // its sixth power is the identity
  }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t) { return constant_item(seed); }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    const float shear = 1 + static_cast<float>(random_bits(seed, Draw::constant, 0) % 3);
    return i % 2 != 0 ? Item{1, -shear, 0, 1} : Item{1, shear, 0, 1};
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const Item here = held(extremes, seed, i);
    if (i == 0) return here;
    const Item before = held(extremes, seed, i - 1);
    return Matrix2x2{}({before.d, -before.b, -before.c, before.a}, here);  // the inverse, since the determinant is 1
  }

 private:
  /// g(i). In the extremes a and b are -3, 0 or 3.
  SCANLAB_HD static constexpr Item held(bool extremes, std::uint64_t seed, std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    const auto entry = [extremes](std::uint64_t from) {
      return static_cast<float>(extremes ? 3 * (static_cast<int>(from % 3) - 1) : static_cast<int>(from % 7) - 3);
    };
    const float a = entry(bits & 0xFFFFFFFFu);
    const float b = entry(bits >> 32);
    return {1 + a * b, a, b, 1};
  }
};

}  // namespace scanlab
