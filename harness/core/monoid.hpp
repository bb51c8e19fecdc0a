// What an operator of a scan is: associative, with an identity, applied left to right. Each is a file of
// variants/operators/. A scan of small elements has results of the same type: i8 and i16 wrap, as every integer does
// (CUB's wider accumulator is cut down to the same bits when it is stored), and every f16 sum rounds to f16, as CUB's
// does.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "harness/core/element.hpp"
#include "harness/core/half.hpp"
#include "harness/core/portable.hpp"

namespace scanlab {

/// All that a kernel asks of an operator.
template <class M>
concept Monoid = std::is_empty_v<M> && std::is_trivially_copyable_v<typename M::Item> &&
    requires(const M op, typename M::Item item) {
  typename M::Element;                                   // the type that the command line names
  { M::kOperator } -> std::convertible_to<Operator>;     // its name there
  { M::kCommutative } -> std::convertible_to<bool>;      // whether operands may change places
  { M::kHeavy } -> std::convertible_to<bool>;            // whether it computes more than it moves
  { M::identity() } -> std::same_as<typename M::Item>;   // left and right of any item it changes nothing
  { op(item, item) } -> std::same_as<typename M::Item>;  // the left operand comes first in the array
};

/// Signed overflow is undefined in C++ and wraps on the device: integers are therefore added as unsigned, and those
/// smaller than an int, which C++ would widen to a signed one first, as unsigned int.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T>
SCANLAB_HD constexpr T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <class T>
SCANLAB_HD constexpr T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

/// Of the longest chains of additions behind two operands, what their sum has behind it. An input has 1, so that k
/// additions give k + 1; the identity has 0, since nothing is rounded beside it.
template <class T>
constexpr T longer_chain(T a, T b) {
  return a == T{0} ? b : b == T{0} ? a : (a < b ? b : a) + T{1};
}

}  // namespace scanlab
