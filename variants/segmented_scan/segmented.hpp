// Shared by scans by key and of segments: the operators that they are compiled for, and what is verified.
#pragma once

#include <cstdint>
#include <string>

#include "harness/core/monoid.hpp"
#include "harness/core/variant.hpp"

namespace scanlab::segmented {

/// Sums of every type; maxima and affine maps of four bytes.
template <class Op>
inline constexpr bool kSegmented = kBasic<Op> && sizeof(typename Op::Item) <= 8 &&
                                   (Op::kOperator == Operator::plus ||
                                    (sizeof(typename Op::Element) == 4 && Op::kOperator != Operator::min));

/// Calls f with a key of the problem's width.
template <class F>
auto with_key(const Problem& problem, F f) {
  switch (problem.segments.width) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

/// A description with what all of them have in common. large: arrays of many tiles too, which take the emulator
/// minutes.
inline Description describe_segmented(Primitive primitive, bool large) {
  Description about;
  about.primitive = primitive;
  about.limits = primitive == Primitive::scan_by_key ? "keys of 1, 2, 4 or 8 bytes" : "offsets of 4 or 8 bytes";
  about.in_place = true;
  about.cost.traffic = primitive == Primitive::scan_by_key ? "2n, and n keys" : "2n, and the offsets";
  const std::vector<int> widths = primitive == Primitive::scan_by_key ? std::vector{4, 1, 2, 8} : std::vector{4, 8};
  const auto add = [&](std::int64_t n, std::int64_t mean, Lengths lengths, int width) {
    about.checked.push_back({{n, 1, 1, {segments_by(primitive), mean, lengths, width}}});
  };
  for (const std::int64_t n : {0, 1, 31, 33, 1000, 4099}) {
    for (const auto& [lengths, text] : kLengths) {
      for (const std::int64_t mean : {1, 7, 32, 500}) add(n, mean, lengths, widths[static_cast<std::size_t>(mean) % 2]);
    }
  }
  for (const int width : widths) add(2049, 20, Lengths::random, width);
  if (large) {
    for (const std::int64_t n : {70'001, 1'000'003, 5'000'011}) {
      for (const auto& [lengths, text] : kLengths) {
        for (const std::int64_t mean : {1, 9, 256, 7168, 100'000}) add(n, mean, lengths, widths.front());
      }
      for (const int width : widths) add(n, 40, Lengths::random, width);
    }
    add(5'000'000, 5'000'000, Lengths::equal, 4);
  }
  return about;
}

}  // namespace scanlab::segmented
