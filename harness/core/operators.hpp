// The operators that an object is compiled for. Most have all. A scan's object has the studied ones; CMake compiles the
// scan once more for the operators that were added since, so that adding one rebuilds no scan.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/monoid.hpp"
// CMake writes it: SCANLAB_OPERATORS, and CompiledOperators, which makes templates of differently compiled objects
// differ.
#include "compiled_operators.hpp"

namespace scanlab {

#define SCANLAB_FIRST(Name)              \
  if constexpr (requires { Name<T>{}; }) \
    return Name<T>{};                    \
  else
template <class T, class... Rest>
constexpr auto first_monoid() {
  SCANLAB_OPERATORS(SCANLAB_FIRST) return first_monoid<Rest...>();
}
#undef SCANLAB_FIRST

/// One of those that an object is compiled for.
using FirstMonoid =
    decltype(first_monoid<std::int32_t, float, double, std::int64_t, std::int16_t, std::int8_t, Half>());

/// Calls `f` with the monoid that `type` and `op` name; returns what `f` returns. Throws std::invalid_argument for an
/// operator that the type does not have: see defined().
template <class F>
constexpr decltype(auto) with_monoid(ElementType type, const Operator& op, F&& f) {
  return with_element(type, [&]<class T>() -> decltype(f(FirstMonoid{})) {
#define SCANLAB_CALL(Name)                             \
  if constexpr (requires { Name<T>{}; }) {             \
    if (op == Name<T>::kOperator) return f(Name<T>{}); \
  }
    SCANLAB_OPERATORS(SCANLAB_CALL)
#undef SCANLAB_CALL
    throw std::invalid_argument(not_defined(type, op));
  });
}

/// Calls `f(type, op, monoid)` for every operator of every type that has it.
template <class F>
void for_each_monoid(F&& f) {
  for (const auto& [type, word] : named_values<ElementType>()) {
    with_element(type, [&, type = type]<class T>() {
#define SCANLAB_CALL(Name) \
  if constexpr (requires { Name<T>{}; }) f(type, Name<T>::kOperator, Name<T>{});
      SCANLAB_OPERATORS(SCANLAB_CALL)
#undef SCANLAB_CALL
    });
  }
}

/// The same as a list.
template <class = CompiledOperators>
const std::vector<std::pair<ElementType, Operator>>& compiled_monoids() {
  static const auto all = [] {
    std::vector<std::pair<ElementType, Operator>> pairs;
    for_each_monoid([&](ElementType type, const Operator& op, auto) { pairs.emplace_back(type, op); });
    return pairs;
  }();
  return all;
}

}  // namespace scanlab
