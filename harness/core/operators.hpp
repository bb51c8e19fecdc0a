// Every operator, for those who must be compiled for each. The list of files is written by CMake, so that an operator
// is added by adding its file.
#pragma once

#include <stdexcept>
#include <type_traits>

#include "harness/core/monoid.hpp"
#include "operator_files.hpp"

namespace scanlab {

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

/// Calls `f` with the monoid that `type` and `op` name; returns what `f` returns. Throws std::invalid_argument for an
/// operator that the type does not have: see defined().
template <class F>
constexpr decltype(auto) with_monoid(ElementType type, Operator op, F&& f) {
  return with_element(type, [&]<class T>() -> decltype(f(Plus<T>{})) {
    switch (op) {
#define SCANLAB_CASE(id, Name)                                  \
  case Operator::id:                                            \
    if constexpr (requires { Name<T>{}; }) return f(Name<T>{}); \
    break;
      SCANLAB_OPERATORS(SCANLAB_CASE)
#undef SCANLAB_CASE
    }
    throw std::invalid_argument(not_defined(type, op));
  });
}

/// Calls `f(type, op, monoid)` for every operator of every type that has it.
template <class F>
void for_each_monoid(F&& f) {
  for (const auto& [type, op] : types_with_operators()) {
    with_monoid(type, op, [&, type = type, op = op](auto monoid) { f(type, op, monoid); });
  }
}

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
