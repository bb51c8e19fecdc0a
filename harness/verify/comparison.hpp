// When an output is right: one definition for host and device.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "harness/core/monoid.hpp"
#include "harness/core/portable.hpp"
#include "harness/core/rounding.hpp"
#include "harness/core/variant.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// Whether results round: those are compared within gamma_d * magnitude, all others exactly.
bool rounds(const Problem& problem);
/// The inputs that differ for a problem: a problem without exact inputs has random ones in their place.
std::vector<InputKind> distinct_inputs(std::vector<InputKind> kinds, const Problem& problem);

/// Whether an operator that rounds must be right to the last bit on this input.
template <class Op>
constexpr bool is_exact(InputKind kind) {
  return kind == InputKind::exact && kHasExactInput<Op>;
}

/// The bound's factor for an operator: 0 where nothing rounds, nullopt where the chain is too long for a bound.
template <class Op>
constexpr std::optional<double> gamma_of(std::int64_t chain, InputKind kind) {
  if constexpr (Op::kRounds) {
    return is_exact<Op>(kind) ? 0.0 : gamma(chain, kUnitRoundoff<typename Op::Element>);
  } else {
    return 0.0;
  }
}

/// The part of an item that rounds. An operator whose items have others says which; the others must be exact.
template <class Op>
SCANLAB_HD constexpr typename Op::Element rounded_part(const typename Op::Item& item) {
  if constexpr (requires { Op::rounded_part(item); }) {
    return Op::rounded_part(item);
  } else {
    return item;
  }
}

struct Verdict {
  bool right = true;
  double error_to_bound = 0;  ///< infinite if NaN, or wrong where no error is allowed
};

/// Judges an element whose exact value is value + residual * u.
template <class T>
SCANLAB_HD constexpr Verdict judge_rounded(T out, T value, float residual, float magnitude, double gamma) {
  if (out == value && residual == 0) return {};  // infinities among them, which have no difference
  // The difference of two nearby numbers is exact or errs by 2^-53 of itself; so does the rest.
  const double signed_error = (static_cast<double>(out) - static_cast<double>(value)) - residual * kUnitRoundoff<T>;
  const double error = signed_error < 0 ? -signed_error : signed_error;
  const double bound = gamma * magnitude;
  if (error <= bound) return {true, error > 0 ? error / bound : 0.0};
  const double ratio = error / bound;
  return {false, ratio > 1 ? ratio : std::numeric_limits<double>::infinity()};  // NaN is not > 1
}

/// Judges outputs by the oracle's values; `residuals` and `magnitudes` are null for exact operators.
template <class Op>
struct JudgeByValues {
  using Item = typename Op::Item;
  const Item* values;
  const float* residuals;
  const float* magnitudes;
  double gamma;

  /// Whose value an output has.
  SCANLAB_HD static constexpr std::int64_t place(std::int64_t i) { return i; }
  SCANLAB_HD constexpr Verdict operator()(const Item& out, std::int64_t i) const {
    bool right = true;
    if constexpr (!Op::kRounds) {
      right = out == values[i];
    } else if constexpr (requires { Op::rest_is_right(out, values[i]); }) {
      right = Op::rest_is_right(out, values[i]);
    }
    if (!right) return {false, std::numeric_limits<double>::infinity()};
    if constexpr (Op::kRounds) {
      return judge_rounded(rounded_part<Op>(out), rounded_part<Op>(values[i]), residuals[i], magnitudes[i], gamma);
    }
    return {};
  }
};

/// Judges the folds of runs by the oracle's values at their last items.
template <class Op>
struct JudgeRuns : JudgeByValues<Op> {
  Segments runs;
  std::int64_t items;

  SCANLAB_HD std::int64_t place(std::int64_t run) const { return runs.run_last(run, items); }
  SCANLAB_HD Verdict operator()(const typename Op::Item& out, std::int64_t run) const {
    return JudgeByValues<Op>::operator()(out, place(run));
  }
};

/// Judges the lengths of runs.
template <class Op>
struct JudgeLengths {
  using Item = typename Op::Item;
  Segments runs;
  std::int64_t items;

  SCANLAB_HD Item expected(std::int64_t run) const {
    Item length{};
    if constexpr (std::is_integral_v<Item>) {
      length = static_cast<Item>(runs.run_last(run, items) - runs.run_begin(run) + 1);
    }
    return length;
  }
  SCANLAB_HD Verdict operator()(const Item& out, std::int64_t run) const {
    return {.right = same_bits(out, expected(run)), .error_to_bound = 0};
  }
};

/// Judges keys, offsets or flags byte by byte: those of all items, or one of each run.
struct JudgeEntries {
  using Item = std::uint8_t;
  Segments segments;
  std::int64_t items;
  bool of_runs;

  SCANLAB_HD Verdict operator()(Item got, std::int64_t i) const {
    const std::int64_t number = i / segments.width;
    const std::uint64_t entry = segments.entry(of_runs ? segments.run_begin(number) : number, items);
    return {.right = got == static_cast<Item>(entry >> (8 * (i % segments.width))), .error_to_bound = 0};
  }
};

/// Judges outputs by the input, as a copy must give it: bit by bit.
template <class Op>
struct JudgeByInput {
  using Item = typename Op::Item;
  InputKind kind;
  std::uint64_t seed;
  std::int64_t items;
  ScanOrder order;

  SCANLAB_HD constexpr Item expected(std::int64_t i) const {
    return input_item<Op>(kind, seed, order.number(i), items);
  }
  SCANLAB_HD constexpr Verdict operator()(const Item& out, std::int64_t i) const {
    return {.right = same_bits(out, expected(i)), .error_to_bound = 0};
  }
};

/// Judges the items that flags keep, and those that follow them, by the input, bit by bit.
template <class Op>
struct JudgeByFlags {
  using Item = typename Op::Item;
  InputKind kind;
  std::uint64_t seed;
  std::int64_t items;
  Segments flags;
  std::int64_t kept = flags.kept_of(items);

  SCANLAB_HD Item expected(std::int64_t j) const {
    return input_item<Op>(kind, seed, flags.item_at(j, items, kept), items);
  }
  SCANLAB_HD Verdict operator()(const Item& out, std::int64_t j) const {
    return {.right = same_bits(out, expected(j)), .error_to_bound = 0};
  }
};

/// The result of a comparison of many items.
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

/// The first wrong item of a comparison: one item of the problem each, and the oracle's values for it.
struct Mismatch {
  const void* got = nullptr;
  const void* expected = nullptr;
  float residual = 0;
  float magnitude = 0;
  bool exact = false;  ///< the input's sums are, so that nothing may round
};

/// The outcome of a comparison; `first` matters only if something was wrong.
Outcome outcome_of(const Problem& problem, const Tally& tally, const Mismatch& first, std::int64_t chain);

/// Failed, if a primitive says that it has another number of results, or gives keys that differ from those of the runs.
Outcome outcome_of_count(const Problem& problem, std::uint64_t count);
Outcome outcome_of_unique(const Problem& problem, const Tally& differences);

/// The outcome of a check that cannot be made because the chain is too long.
Outcome no_bound(std::int64_t chain, ElementType type);

}  // namespace scanlab::verify
