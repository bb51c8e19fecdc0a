// The element types, the operators and the two modes, with the names used on the command line, in
// results files and in figures.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/core/associative.hpp"

namespace scanlab {

enum class ElementType { i8, i16, i32, i64, f16, f32, f64 };

/// An operator by its id, which is the name of its file in variants/operators/. No header lists them.
struct Operator {
  char id[32];  // ends with a 0

  friend constexpr bool operator==(const Operator&, const Operator&) = default;
  friend constexpr auto operator<=>(const Operator&, const Operator&) = default;

  static const Operator plus, max, min, affine;
};
inline constexpr Operator Operator::plus{"plus"};
inline constexpr Operator Operator::max{"max"};
inline constexpr Operator Operator::min{"min"};
inline constexpr Operator Operator::affine{"affine"};

/// Every operator with its name, in alphabetical order.
const std::vector<std::pair<Operator, std::string_view>>& all_operators();

/// Every value of an enumeration with its name, in declaration order; every operator with its name.
template <class E>
constexpr decltype(auto) named_values() {
  using Entry = std::pair<E, std::string_view>;
  if constexpr (std::is_same_v<E, ElementType>) {
    return std::array{Entry{E::i8, "i8"},   Entry{E::i16, "i16"}, Entry{E::i32, "i32"}, Entry{E::i64, "i64"},
                      Entry{E::f16, "f16"}, Entry{E::f32, "f32"}, Entry{E::f64, "f64"}};
  } else if constexpr (std::is_same_v<E, Operator>) {
    return all_operators();
  } else {
    return std::array{Entry{E::inclusive, "inclusive"}, Entry{E::exclusive, "exclusive"}};
  }
}

template <class E>
constexpr std::string_view name(const E& value) {
  for (const auto& [candidate, text] : named_values<E>()) {
    if (candidate == value) return text;
  }
  return "?";
}

constexpr bool is_floating(ElementType type) {
  return type == ElementType::f16 || type == ElementType::f32 || type == ElementType::f64;
}

/// Bytes of one element (not of one item: an affine item is a pair of elements).
constexpr std::size_t element_bytes(ElementType type) {
  constexpr std::array<std::size_t, 7> kBytes{1, 2, 4, 8, 2, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

/// Whether a type has an operator: not all of them have each.
bool defined(ElementType type, const Operator& op);

/// Every operator of every type that has it, types in the order of their declaration.
const std::vector<std::pair<ElementType, Operator>>& types_with_operators();

/// One sentence, for an operator that a type does not have.
std::string not_defined(ElementType type, const Operator& op);

/// Bytes of one scanned item. Throws std::invalid_argument where the operator is not defined.
std::size_t item_bytes(ElementType type, const Operator& op);

}  // namespace scanlab
