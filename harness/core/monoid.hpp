// The operators of a scan: associative, with an identity, applied left to right. A scan of small elements has results
// of the same type: i8 and i16 wrap, as every integer does (CUB's wider accumulator is cut down to the same bits when
// it is stored), and every f16 sum rounds to f16, as CUB's does.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/core/element.hpp"
#include "harness/core/half.hpp"
#include "harness/core/portable.hpp"

namespace scanlab {

template <class M>
concept Monoid = requires(const M op, typename M::Item item) {
  { M::identity() } -> std::same_as<typename M::Item>;
  { op(item, item) } -> std::same_as<typename M::Item>;
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

template <class T>
struct Plus {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator = Operator::plus;
  static constexpr bool kCommutative = true;
  SCANLAB_HD static constexpr Item identity() { return T{0}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return wrapping_add(left, right); }
};

template <class T>
struct Max {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator = Operator::max;
  static constexpr bool kCommutative = true;
  SCANLAB_HD static constexpr Item identity() {
    if constexpr (kIsFloating<T>) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::lowest();
    }
  }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return left < right ? right : left; }
};

template <class T>
struct Min {
  using Element = T;
  using Item = T;
  static constexpr Operator kOperator = Operator::min;
  static constexpr bool kCommutative = true;
  SCANLAB_HD static constexpr Item identity() {
    if constexpr (kIsFloating<T>) {
      return std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return right < left ? right : left; }
};

/// The map x -> scale * x + shift.
template <class T>
struct alignas(2 * sizeof(T)) AffineMap {
  T scale;
  T shift;
  friend SCANLAB_HD constexpr bool operator==(const AffineMap& a, const AffineMap& b) {
    return a.scale == b.scale && a.shift == b.shift;
  }
};

/// Composition of affine maps, the left one applied first: associative and not commutative, so that a scan that
/// swaps its operands fails. It is also what a linear recurrence x_i = scale_i * x_{i-1} + shift_i scans with.
template <class T>
struct Affine {
  using Element = T;
  using Item = AffineMap<T>;
  static constexpr Operator kOperator = Operator::affine;
  static constexpr bool kCommutative = false;
  SCANLAB_HD static constexpr Item identity() { return {T{1}, T{0}}; }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const {
    return {wrapping_multiply(left.scale, right.scale),
            wrapping_add(wrapping_multiply(right.scale, left.shift), right.shift)};
  }
};

/// The monoids of the 1980s and 2000s: four- and eight-byte elements, and no minimum. The scans of those years are
/// compiled for these; their layouts in banks of four bytes say nothing of smaller elements.
template <class Op>
inline constexpr bool kClassic = sizeof(typename Op::Element) >= 4 && Op::kOperator != Operator::min;

/// Calls `f` with the monoid that `type` and `op` name; returns what `f` returns.
template <class F>
decltype(auto) with_monoid(ElementType type, Operator op, F&& f) {
  const auto of_type = [&]<class T>() -> decltype(auto) {
    switch (op) {
      case Operator::max:
        return f(Max<T>{});
      case Operator::min:
        return f(Min<T>{});
      case Operator::affine:
        return f(Affine<T>{});
      case Operator::plus:
        break;
    }
    return f(Plus<T>{});
  };
  switch (type) {
    case ElementType::i8:
      return of_type.template operator()<std::int8_t>();
    case ElementType::i16:
      return of_type.template operator()<std::int16_t>();
    case ElementType::f16:
      return of_type.template operator()<Half>();
    case ElementType::i64:
      return of_type.template operator()<std::int64_t>();
    case ElementType::f32:
      return of_type.template operator()<float>();
    case ElementType::f64:
      return of_type.template operator()<double>();
    case ElementType::i32:
      break;
  }
  return of_type.template operator()<std::int32_t>();
}

}  // namespace scanlab
