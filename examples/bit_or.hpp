// bit_or: bitwise or.
//
// Cost    one instruction.
// Error   none.
// Bits    the same for any grouping.
// Input   mostly 0, and one item in 64 has one bit: the scan of random integers would soon be all ones.
#pragma once

#include <concepts>

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"

namespace scanlab {

template <class T>
requires std::integral<T>
struct BitOr : ElementItems<T> {  // its inputs: elements of the type, but for those below
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator{"bit_or"};  // the name of the file
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;   // computes no more than it moves
  static constexpr bool kRounds = false;  // compared exactly
  SCANLAB_HD static constexpr Item identity() { return 0; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return static_cast<T>(left | right); }
  /// A lost item shows in the result.
  SCANLAB_HD static constexpr Item scattered_item(bool extremes, std::uint64_t seed, std::int64_t i) {
    const Item any = ElementItems<T>::scattered_item(extremes, seed, i);
    return random_bits(seed, Draw::scale, i) % 64 == 0 ? static_cast<T>(any & negated(any)) : T{0};
  }
};

}  // namespace scanlab
