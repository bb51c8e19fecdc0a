// affine: composition of the maps x -> scale * x + shift, the left one applied first.
//
// It is associative and not commutative, so that a scan that swaps its operands fails. It is also what a linear
// recurrence x_i = scale_i * x_{i-1} + shift_i scans with.
//
// Cost    two multiplications and an addition, on items of two elements.
// Error   integers wrap: exact. Floats: scales are exact; |error of the shift| <= gamma_d * sum_j |shift_j| * |product
//         of the scales after j|, which is the same composition taken on absolute values.
// Bits    of floats depend on the grouping, so a scan is reproducible where its grouping is fixed; integers always are.
// Input   Scales of integers are odd: an odd number is invertible modulo 2^k, so that no item, however early, drops out
//         of a product; an even scale would wipe the past out after 32 or 64 of them. For floats, the random scale of
//         item i is ±2^(e(i) - e(i-1)) with e(i) a hash in [-2, 2] and e(-1) = 0. A product of neighbouring scales
//         telescopes to ±2^(e(j) - e(i-1)), so it stays within 2^±4 whatever n is, and multiplying by it is exact: only
//         the additions round, and a composition errs as a sum does.
//         Compositions of halves come out exact, as their sums do, and so do all on the exact input: item i is g(i)
//         after the inverse of g(i-1), where g(i) maps x to ±2^e(i) x + h(i) with e(i) in [-1, 1]. Items i to j compose
//         to g(j) after the inverse of g(i-1): a scale c within 2^±2, and the shift h(j) - c h(i-1). With |h| <= R, all
//         multiples of q, a shift is at most 5R/q times the smaller of q and cq; and the product within a composition
//         is a shift times a power of two, no larger than 8R: all exact for R <= 409 q and 8R < 65504.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"
#include "harness/core/rounding.hpp"

namespace scanlab {

template <class T>
struct alignas(2 * sizeof(T)) AffineMap {
  T scale;
  T shift;
  friend SCANLAB_HD constexpr bool operator==(const AffineMap& a, const AffineMap& b) {
    return a.scale == b.scale && a.shift == b.shift;
  }
  template <class F>
  void each_field(F f) const {
    f("scale", scale);
    f("shift", shift);
  }
};

template <class T>
struct Affine {
  using Element = T;
  using Item = AffineMap<T>;
  static constexpr Operator kOperator{"affine"};
  static constexpr bool kCommutative = false;
  static constexpr bool kHeavy = false;
  SCANLAB_HD static constexpr Item identity() { return {T{1}, T{0}}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const {
    return {wrapping_multiply(left.scale, right.scale),
            wrapping_add(wrapping_multiply(right.scale, left.shift), right.shift)};
  }

  static constexpr bool kRounds = std::is_floating_point_v<T>;
  SCANLAB_HD static constexpr T rounded_part(const Item& item) { return item.shift; }
  SCANLAB_HD static constexpr bool rest_is_right(const Item& got, const Item& expected) {
    return got.scale == expected.scale;
  }
  struct Wide {
    double scale = 1;  // a power of two with a sign: exact
    WideSum<T> shift;
    void push(const Item& item) {
      multiply(static_cast<double>(item.scale));
      shift.push(item.shift);
    }
    void append(const Wide& right) {
      multiply(right.scale);
      shift.append(right.shift);
    }
    void multiply(double by) {
      scale *= by;
      shift.scale(by);
    }
    void normalise() { shift.normalise(); }
    Rounded<T> rounded() const { return shift.rounded(); }
    Item with(T rounded_shift) const { return {static_cast<T>(scale), rounded_shift}; }
  };
  static Item chain_through(Item left, Item right) { return {T{1}, longer_chain(left.shift, right.shift)}; }

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) {
    if constexpr (std::is_integral_v<T>) {
      return {static_cast<T>(random_element<T>(random_bits(seed, Draw::constant, 1)) | 1), constant_element<T>(seed)};
    } else if constexpr (kTelescopes) {
      return {T{1}, constant_half(seed)};
    } else {
      return {T{1}, constant_element<T>(seed)};  // any other scale would let a product of n of them overflow or vanish
    }
  }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t i) {
    const Item item = constant_item(seed);
    return kTelescopes && falling(i) ? Item{item.scale, negated(item.shift)} : item;
  }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    const Item item = constant_item(seed);
    const bool odd = i % 2 != 0;
    if constexpr (std::is_integral_v<T>) {
      return odd ? Item{negated(item.scale), negated(item.shift)} : item;
    } else {
      return odd ? Item{T{-0.5f}, -item.shift} : Item{T{2}, item.shift};
    }
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    if constexpr (kTelescopes) {
      return telescoping_item(extremes, seed, i);
    } else if constexpr (kIsFloating<T>) {  // no subnormals, which a scale would not multiply exactly
      return {telescoping_scale(2, seed, i), extremes ? extreme_element<T>(bits, false) : random_element<T>(bits)};
    } else {
      const std::uint64_t scale = random_bits(seed, Draw::scale, i);
      return {static_cast<T>((extremes ? extreme_element<T>(scale) : random_element<T>(scale)) | 1),
              scattered_element<T>(extremes, seed, i)};
    }
  }
  SCANLAB_HD static constexpr Item exact_item(std::uint64_t seed, std::int64_t i) requires kRounds {
    return telescoping_item(false, seed, i);
  }

 private:
  static constexpr bool kTelescopes = std::is_same_v<T, Half>;

  /// ±2^(e(i) - e(i-1)), with |e| <= reach.
  SCANLAB_HD static constexpr T telescoping_scale(int reach, std::uint64_t seed, std::int64_t i) {
    const auto exponent = [reach](std::uint64_t bits) {
      return static_cast<int>(bits % static_cast<unsigned>(2 * reach + 1)) - reach;
    };
    const std::uint64_t bits = random_bits(seed, Draw::exponent, i);
    const int before = i == 0 ? 0 : exponent(random_bits(seed, Draw::exponent, i - 1));
    const T magnitude = power_of_two<T>(exponent(bits) - before);
    return bits >> 63 != 0 ? -magnitude : magnitude;
  }

  /// g(i) after the inverse of g(i-1).
  SCANLAB_HD static constexpr Item telescoping_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const T scale = telescoping_scale(1, seed, i);
    return {scale, T(held(extremes, seed, i) - static_cast<float>(scale) * held(extremes, seed, i - 1))};
  }

  /// h(i).
  SCANLAB_HD static constexpr float held(bool extremes, std::uint64_t seed, std::int64_t i) {
    if (i < 0) return 0;
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    if (extremes) return 7168.0f * static_cast<float>(static_cast<int>(bits % 3) - 1);
    constexpr int kReach = 409;
    return kQuantum * static_cast<float>(static_cast<int>(bits % (2 * kReach + 1)) - kReach);
  }
};

}  // namespace scanlab
