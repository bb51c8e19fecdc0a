// An operator of a scan is associative, has an identity, and is applied left to right. Each is a file of
// variants/operators/. A scan of small elements has results of the same type: i8 and i16 wrap, as every integer does
// (CUB's wider accumulator is cut down to the same bits when it is stored), and every f16 sum rounds to f16, as CUB's
// does.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "harness/core/associative.hpp"
#include "harness/core/element.hpp"
#include "harness/core/half.hpp"
#include "harness/core/portable.hpp"
#include "harness/core/wrapping.hpp"

namespace scanlab {

/// All that a variant asks of an operator: what its kernels ask, and the names that the command line has for it.
template <class M>
concept Monoid = Associative<M> && HasIdentity<M> && std::is_empty_v<M> && requires {
  typename M::Element;
  { M::kOperator } -> std::convertible_to<Operator>;
  requires 16 % sizeof(typename M::Item) == 0;  // so that vectors of 16 bytes hold whole items
};

/// The longest chain of additions behind a sum, from those behind its two operands. An input has 1, so that k
/// additions give k + 1; the identity has 0, since nothing is rounded beside it.
template <class T>
constexpr T longer_chain(T a, T b) {
  return a == T{0} ? b : b == T{0} ? a : (a < b ? b : a) + T{1};
}

}  // namespace scanlab
