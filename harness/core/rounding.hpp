// How operators whose results round are checked: within gamma_d * magnitude of the exact value, which the oracle
// gathers in wider arithmetic. One definition for host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "harness/core/portable.hpp"

namespace scanlab {

/// u: half the distance from 1 to the next number, 2^-24 or 2^-53. Only of types whose sums may round.
template <class T>
inline constexpr double kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2.0;

/// gamma_d = d u / (1 - d u); nullopt where d u >= 1/2, past which it bounds nothing worth a test.
constexpr std::optional<double> gamma(std::int64_t chain, double u) {
  const double du = static_cast<double>(chain) * u;
  if (!(du < 0.5)) return std::nullopt;
  return du / (1 - du);
}

/// An output as the oracle knows it: its exact value is value + residual * u (in units of u, a residual spans the same
/// range as its value, so a float can hold it); an output may err by gamma_d * magnitude.
template <class T>
struct Rounded {
  T value;
  float residual;
  float magnitude;

  /// Rounds the exact value `high` + `low`. The magnitude is rounded up: to the nearest float takes 2^-24 off at most,
  /// and 2^-22 is added before. The rest covers the rounding of the residual too, so that no output within its bound is
  /// refused. (Magnitudes below float's normal range are those of f32 subnormals, which float holds exactly.)
  template <class Wide>
  static Rounded of(Wide high, Wide low, double magnitude) {
    const auto value = static_cast<T>(high + low);
    if (std::isinf(value)) return {value, 0, 0};
    const auto residual = static_cast<double>((high - static_cast<Wide>(value)) + low);
    return {value, static_cast<float>(residual / kUnitRoundoff<T>), static_cast<float>(magnitude * (1 + 0x1p-22))};
  }
};

/// An unevaluated sum hi + lo. hi gathers the sum, lo the rounding error of every addition to hi (Knuth's TwoSum, which
/// is exact). For doubles, lo is at most k * 2^-53 * magnitude after k additions, and each addition to it rounds by
/// 2^-53 of that; with lo folded into hi now and then, n items err by at most n * k * 2^-106 * magnitude: 2^-64 of the
/// magnitude for n = 2^30 and k = 2^12. The bound that it serves is no smaller than 2^-53 of the magnitude (gamma_1 in
/// double), a factor of 2^11 above the worst case and far more above the usual one.
template <class Wide>
struct CompensatedSum {
  Wide hi = 0;
  Wide lo = 0;

  void add(Wide x) {
    const Wide sum = hi + x;
    const Wide x_rounded = sum - hi;
    lo += (hi - (sum - x_rounded)) + (x - x_rounded);
    hi = sum;
  }
  void add(const CompensatedSum& other) {
    add(other.hi);
    lo += other.lo;
    normalise();
  }
  void normalise() {
    const Wide sum = hi + lo;
    lo = lo - (sum - hi);
    hi = sum;
  }
  void scale(Wide power_of_two) {
    hi *= power_of_two;
    lo *= power_of_two;
  }
};

/// The expected sums of floats, in double-double, with the magnitude sum|x| that bounds their error.
template <class T>
struct WideSum {
  CompensatedSum<double> sum;
  double magnitude = 0;

  void push(T item) {
    sum.add(static_cast<double>(item));
    magnitude += std::abs(static_cast<double>(item));
  }
  void append(const WideSum& right) {
    sum.add(right.sum);
    magnitude += right.magnitude;
  }
  void scale(double power_of_two) {
    sum.scale(power_of_two);
    magnitude *= std::abs(power_of_two);
  }
  void normalise() { sum.normalise(); }
  Rounded<T> rounded() const { return Rounded<T>::of(sum.hi, sum.lo, magnitude); }
};

}  // namespace scanlab
