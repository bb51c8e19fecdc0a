// When an output is right: one definition for host and device.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "harness/core/monoid.hpp"
#include "harness/core/portable.hpp"
#include "harness/core/variant.hpp"
#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// Whether results round: those are compared within gamma_d * magnitude, all others exactly. Sums of halves are exact
/// on the inputs made for them, for which a bound would mean nothing (see input.hpp).
constexpr bool rounds(ElementType type, Operator op) {
  return (type == ElementType::f32 || type == ElementType::f64) && (op == Operator::plus || op == Operator::affine);
}
constexpr bool rounds(const Problem& problem) { return rounds(problem.type, problem.op); }

template <class Op>
inline constexpr bool kRounds = std::is_floating_point_v<typename Op::Element> &&
                                (Op::kOperator == Operator::plus || Op::kOperator == Operator::affine);

/// u: half the distance from 1 to the next number, 2^-24 or 2^-53. Only of types whose sums may round.
template <class T>
inline constexpr double kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2.0;

/// gamma_d = d u / (1 - d u); nullopt where d u >= 1/2, past which it bounds nothing worth a test.
constexpr std::optional<double> gamma(std::int64_t chain, double u) {
  const double du = static_cast<double>(chain) * u;
  if (!(du < 0.5)) return std::nullopt;
  return du / (1 - du);
}

/// The bound's factor for an operator: 0 where nothing rounds, nullopt where the chain is too long for a bound.
template <class Op>
constexpr std::optional<double> gamma_of(std::int64_t chain) {
  if constexpr (kRounds<Op>) {
    return gamma(chain, kUnitRoundoff<typename Op::Element>);
  } else {
    return 0.0;
  }
}

struct Verdict {
  bool right = true;
  double error_to_bound = 0;  ///< infinite if NaN, or wrong where no error is allowed
};

/// Of an element whose exact value is value + residual * u.
template <class T>
SCANLAB_HD constexpr Verdict judge_rounded(T out, T value, float residual, float magnitude, double gamma) {
  // The difference of two nearby numbers is exact or errs by 2^-53 of itself; so does the rest.
  const double signed_error = (static_cast<double>(out) - static_cast<double>(value)) - residual * kUnitRoundoff<T>;
  const double error = signed_error < 0 ? -signed_error : signed_error;
  const double bound = gamma * magnitude;
  if (error <= bound) return {true, error > 0 ? error / bound : 0.0};
  const double ratio = error / bound;
  return {false, ratio > 1 ? ratio : std::numeric_limits<double>::infinity()};  // NaN is not > 1
}

template <class T>
SCANLAB_HD constexpr Verdict judge_exact(const T& out, const T& value) {
  if (out == value) return {};
  return {false, std::numeric_limits<double>::infinity()};
}

/// Judges output i against the oracle's expected value; `residuals` and `magnitudes` are null for exact operators.
template <class Op>
SCANLAB_HD constexpr Verdict judge(const typename Op::Item& out, const typename Op::Item* values,
                                   const float* residuals, const float* magnitudes, std::int64_t i, double gamma) {
  if constexpr (!kRounds<Op>) {
    return judge_exact(out, values[i]);
  } else if constexpr (Op::kOperator == Operator::affine) {
    const Verdict scale = judge_exact(out.scale, values[i].scale);
    if (!scale.right) return scale;
    return judge_rounded(out.shift, values[i].shift, residuals[i], magnitudes[i], gamma);
  } else {
    return judge_rounded(out, values[i], residuals[i], magnitudes[i], gamma);
  }
}

/// What a comparison of many items found.
struct Tally {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t wrong = 0;
  std::int64_t first = kNone;  ///< index of the first wrong item
  double worst = 0;            ///< largest error/bound

  SCANLAB_HD constexpr void count(const Verdict& verdict, std::int64_t i) {
    if (verdict.error_to_bound > worst) worst = verdict.error_to_bound;
    if (verdict.right) return;
    ++wrong;
    if (i < first) first = i;
  }
  SCANLAB_HD constexpr void add(const Tally& other) {
    wrong += other.wrong;
    if (other.first < first) first = other.first;
    if (other.worst > worst) worst = other.worst;
  }
};

/// The first wrong item of a comparison: one item of the problem each, and what the oracle knows of it.
struct Mismatch {
  const void* got = nullptr;
  const void* expected = nullptr;
  float residual = 0;
  float magnitude = 0;
};

/// One sentence: how many items are wrong, the first of them, what it holds and what it should hold.
std::string describe_mismatch(const Problem& problem, const Tally& tally, const Mismatch& first, std::int64_t chain);

/// The outcome of a comparison; `mismatch` is looked at only if something was wrong.
Outcome outcome_of(const Problem& problem, const Tally& tally, const Mismatch& first, std::int64_t chain);

/// Of a check that cannot be made because the chain is too long.
Outcome no_bound(std::int64_t chain, ElementType type);

}  // namespace scanlab::verify
