// bit_or: bitwise or.
//
// Cost    one instruction.
// Error   none.
// Bits    the same for any grouping.
// Input   any integer.
#pragma once

#include <concepts>

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"

namespace scanlab {

template <class T>
requires std::integral<T>
struct BitOr : ElementItems<T> {  // its inputs: elements of the type
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator{"bit_or"};  // the name of the file
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;   // computes no more than it moves
  static constexpr bool kRounds = false;  // compared exactly
  SCANLAB_HD static constexpr Item identity() { return 0; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return static_cast<T>(left | right); }
};

}  // namespace scanlab
