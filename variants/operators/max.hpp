// max: the largest.
//
// Cost    one comparison; on the GPU one instruction.
// Error   none.
// Bits    the same for any grouping.
// Input   any element of the type.
#pragma once

#include "harness/core/input.hpp"
#include "harness/core/monoid.hpp"

namespace scanlab {

template <class T>
struct Max : ElementItems<T> {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator{"max"};
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  static constexpr WarpReduction kWarpReduction = WarpReduction::max;
  SCANLAB_HD static constexpr Item identity() {
    if constexpr (kIsFloating<T>) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::lowest();
    }
  }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return left < right ? right : left; }

  static constexpr bool kRounds = false;
};

}  // namespace scanlab
