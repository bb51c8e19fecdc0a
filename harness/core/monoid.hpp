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

/// Calls `f.operator()<T>()` with the type that `type` names; returns what it returns.
template <class F>
constexpr decltype(auto) with_element(ElementType type, F&& f) {
  switch (type) {
    case ElementType::i8:
      return f.template operator()<std::int8_t>();
    case ElementType::i16:
      return f.template operator()<std::int16_t>();
    case ElementType::f16:
      return f.template operator()<Half>();
    case ElementType::i64:
      return f.template operator()<std::int64_t>();
    case ElementType::f32:
      return f.template operator()<float>();
    case ElementType::f64:
      return f.template operator()<double>();
    case ElementType::i32:
      break;
  }
  return f.template operator()<std::int32_t>();
}

/// The name of a type: the inverse of with_element().
template <class T>
inline constexpr ElementType kElementType = std::is_same_v<T, double>  ? ElementType::f64
                                            : std::is_same_v<T, float> ? ElementType::f32
                                            : std::is_same_v<T, Half>  ? ElementType::f16
                                            : sizeof(T) == 8           ? ElementType::i64
                                            : sizeof(T) == 4           ? ElementType::i32
                                            : sizeof(T) == 2           ? ElementType::i16
                                                                       : ElementType::i8;

/// The operators of the sweeps of every scan. The others are compiled for the scans that are held against the vendor's,
/// and for CUB's: each takes its time to compile.
template <class Op>
inline constexpr bool kBasic = Op::kOperator == Operator::plus || Op::kOperator == Operator::max ||
                               Op::kOperator == Operator::min || Op::kOperator == Operator::affine;

/// The pairs that the 1980s and 2000s had: four- and eight-byte elements, and no minimum. The scans of those years are
/// compiled for these; their layouts in banks of four bytes say nothing of smaller elements.
template <class Op>
inline constexpr bool kClassic = kBasic<Op> && sizeof(typename Op::Element) >= 4 && Op::kOperator != Operator::min;

}  // namespace scanlab
