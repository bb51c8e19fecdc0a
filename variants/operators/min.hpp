// min: the smallest.
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
struct Min : ElementItems<T, true> {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator{"min"};
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  static constexpr WarpReduction kWarpReduction = WarpReduction::min;
  SCANLAB_HD static constexpr Item identity() {
    if constexpr (kIsFloating<T>) {
      return std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return right < left ? right : left; }

  static constexpr bool kRounds = false;
};

}  // namespace scanlab
