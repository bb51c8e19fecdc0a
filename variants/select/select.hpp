// Shared by selections and partitions: the types that they are compiled for, and what is verified.
#pragma once

#include <type_traits>

#include "harness/core/monoid.hpp"
#include "harness/core/variant.hpp"

namespace scanlab::select {

/// Every type, once, since no operator is applied to items; and the affine maps that have 16 bytes.
template <class Op>
inline constexpr bool kSelected = kBasic<Op> &&
                                  (Op::kOperator == Operator::plus ||
                                   (Op::kOperator == Operator::affine && std::is_same_v<typename Op::Element, double>));

/// A description with what all of them have in common. primitive: select, or partition. large: arrays of many tiles
/// too, which take the emulator minutes.
inline Description describe_select(Primitive primitive, bool large) {
  Description about;
  const SegmentsBy by = segments_by(primitive);
  about.primitive = primitive;
  about.limits = "flags of a byte";
  about.cost.traffic =
      by == SegmentsBy::partition ? "2n items, and the flags" : "n items and flags, and the kept items";
  const auto add = [&](std::int64_t n, std::int64_t kept) {
    about.checked.push_back({{n, 1, 1, {.by = by, .width = 1, .kept = kept}}});
  };
  for (const std::int64_t n : {0, 1, 31, 33, 1000, 4099, 20'000}) {
    for (const std::int64_t kept : {0, 1, 64, 127, 128}) add(n, kept);
  }
  if (large) {
    for (const std::int64_t n : {70'001, 1'000'003, 5'000'011}) {
      for (const std::int64_t kept : {0, 1, 50, 64, 127, 128}) add(n, kept);
    }
  }
  return about;
}

}  // namespace scanlab::select
