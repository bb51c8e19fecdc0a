// log_sum_exp: log(exp(a) + exp(b)), the sum of numbers of which only the logarithms are kept.
//
// Scans of it run along hidden Markov models and through softmax: exp(x) itself would overflow.
//
// Cost    a comparison, an exponential, a logarithm and three additions: it computes more than it moves.
// Error   |error| <= gamma_d * (max|x_j| + log n + 6). One application errs by u (|result| + 6): the last addition by
//         u |result|; the rest is below 6 u, with 2 ulp of exp and 1 of log1p, since log1p(exp(d)) <= log 2 and |d|
//         exp(d) < 0.4 for d <= 0. It passes on the errors of its operands by weights that add up to 1.
// Bits    depend on the grouping, so a scan is reproducible where its grouping is fixed.
// Input   within ±16, in the extremes within ±600, where a float's exp overflows and a long double's does not: the
//         oracle adds exp(x) up as it stands.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"
#include "harness/core/rounding.hpp"

namespace scanlab {

template <class T>
requires std::same_as<T, float> || std::same_as<T, double>
struct LogSumExp {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator{"log_sum_exp"};
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = true;
  SCANLAB_HD static constexpr Item identity() { return -std::numeric_limits<T>::infinity(); }
  SCANLAB_HD Item operator()(Item left, Item right) const {
    const T high = left < right ? right : left;
    const T low = left < right ? left : right;
    const T difference = low - high;
    if constexpr (std::same_as<T, float>) {
      return difference == difference ? high + log1pf(expf(difference)) : high + low;  // equal infinities; NaN
    } else {
      return difference == difference ? high + log1p(exp(difference)) : high + low;
    }
  }

  static constexpr bool kRounds = true;
  struct Wide {
    static_assert(std::numeric_limits<long double>::digits >= 64, "of doubles, the oracle needs more than a double");
    CompensatedSum<long double> sum;
    double largest = 0;  // |x|
    double items = 0;
    T last = identity();
    void push(T x) {
      if (x == identity()) return;
      last = x;
      sum.add(std::exp(static_cast<long double>(x)));
      largest = std::fmax(largest, std::abs(static_cast<double>(x)));
      items += 1;
    }
    void append(const Wide& right) {
      sum.add(right.sum);
      largest = std::fmax(largest, right.largest);
      items += right.items;
      if (right.items > 0) last = right.last;
    }
    void normalise() { sum.normalise(); }
    Rounded<T> rounded() const {
      if (items <= 1) return {last, 0, 0};  // no operator was applied: exact
      return Rounded<T>::from(std::log(sum.hi + sum.lo), 0.0L, largest + std::log(items) + 6);
    }
  };

  SCANLAB_HD static constexpr Item constant_item(std::uint64_t seed) { return 16 * constant_element<T>(seed); }
  SCANLAB_HD static constexpr Item repeated_item(std::uint64_t seed, std::int64_t) { return constant_item(seed); }
  SCANLAB_HD static constexpr Item alternating_item(std::uint64_t seed, std::int64_t i) {
    return i % 2 != 0 ? -constant_item(seed) : constant_item(seed);
  }
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const std::uint64_t bits = random_bits(seed, Draw::value, i);
    const T ordinary = 16 * random_element<T>(bits);
    if (!extremes) return ordinary;
    const auto choice = static_cast<int>(bits >> 55 & 7);
    if (choice == 0) return identity();
    if (choice == 1) return bits >> 63 != 0 ? T{-0.0f} : T{0};
    if (choice == 2) return std::numeric_limits<float>::denorm_min();
    return choice <= 4 ? 37 * ordinary : ordinary;
  }
};

}  // namespace scanlab
