// The inputs on which variants are verified and timed: item i is a pure function of (kind, seed, i, n), the same bits
// on host and device, so that nothing large travels and any item can be made again. Each operator makes its own. Items
// are numbered in the order in which they are scanned, since what an operator makes does not overflow in that order.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"
#include "harness/core/variant.hpp"

namespace scanlab::verify {

template <class Op>
SCANLAB_HD constexpr typename Op::Item one_hot_item(std::uint64_t seed, std::int64_t i, std::int64_t n) {
  const std::uint64_t place = random_bits(seed, Draw::place, n) % static_cast<std::uint64_t>(n);
  if (static_cast<std::uint64_t>(i) != place) return Op::identity();
  return Op::alternating_item(seed, 1);  // that of affine maps has a scale that is not 1
}

/// Whether an operator that rounds has inputs on which it does not, so that one lost item of 2^30 is seen.
template <class Op>
inline constexpr bool kHasExactInput = Op::kRounds&& requires {
  Op::exact_item(std::uint64_t{}, std::int64_t{});
};

/// Item i of n, 0 <= i < n.
template <class Op>
SCANLAB_HD constexpr typename Op::Item input_item(InputKind kind, std::uint64_t seed, std::int64_t i, std::int64_t n) {
  switch (kind) {
    case InputKind::constant:
      return Op::repeated_item(seed, i);
    case InputKind::alternating:
      return Op::alternating_item(seed, i);
    case InputKind::one_hot:
      return one_hot_item<Op>(seed, i, n);
    case InputKind::exact:
      if constexpr (kHasExactInput<Op>) return Op::exact_item(seed, i);
      break;
    case InputKind::random:
    case InputKind::extremes:
      break;
  }
  return Op::scattered_item(kind == InputKind::extremes, seed, i);
}

/// The order in which the items of a problem are scanned: row by row, where the items of a row may lie apart.
struct ScanOrder {
  std::int64_t axis;
  std::int64_t inner;

  explicit ScanOrder(const Problem& problem) : axis(problem.axis()), inner(problem.inner) {}

  /// The place in the array of the i-th item.
  SCANLAB_HD std::int64_t place(std::int64_t i) const {
    if (inner == 1) return i;  // no divisions for each item of an array
    const std::int64_t line = i / axis;
    return (line / inner * axis + i % axis) * inner + line % inner;
  }
  /// The number of the item at a place of the array.
  SCANLAB_HD std::int64_t number(std::int64_t place) const {
    if (inner == 1) return place;
    const std::int64_t row = place / (axis * inner), rest = place % (axis * inner);
    return (row * inner + rest % inner) * axis + rest / inner;
  }
};

}  // namespace scanlab::verify
