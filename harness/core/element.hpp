// The element types, the operators and the two modes, with the names used on the command line, in
// results files and in figures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/core/associative.hpp"
#include "operator_list.hpp"

namespace scanlab {

enum class ElementType { i8, i16, i32, i64, f16, f32, f64 };
/// One per file of variants/operators/, from which CMake writes the list.
enum class Operator {
#define SCANLAB_NAME(id, Name) id,
  SCANLAB_OPERATORS(SCANLAB_NAME)
#undef SCANLAB_NAME
};

/// Every value of an enumeration with its name, in declaration order.
template <class E>
constexpr auto named_values() {
  using Entry = std::pair<E, std::string_view>;
  if constexpr (std::is_same_v<E, ElementType>) {
    return std::array{Entry{E::i8, "i8"},   Entry{E::i16, "i16"}, Entry{E::i32, "i32"}, Entry{E::i64, "i64"},
                      Entry{E::f16, "f16"}, Entry{E::f32, "f32"}, Entry{E::f64, "f64"}};
  } else if constexpr (std::is_same_v<E, Operator>) {
#define SCANLAB_ENTRY(id, Name) Entry{E::id, #id},
    return std::to_array<Entry>({SCANLAB_OPERATORS(SCANLAB_ENTRY)});
#undef SCANLAB_ENTRY
  } else {
    return std::array{Entry{E::inclusive, "inclusive"}, Entry{E::exclusive, "exclusive"}};
  }
}

template <class E>
constexpr std::string_view name(E value) {
  for (const auto& [candidate, text] : named_values<E>()) {
    if (candidate == value) return text;
  }
  return "?";
}

template <class E>
constexpr std::optional<E> parse(std::string_view text) {
  for (const auto& [candidate, known] : named_values<E>()) {
    if (known == text) return candidate;
  }
  return std::nullopt;
}

constexpr bool is_floating(ElementType type) {
  return type == ElementType::f16 || type == ElementType::f32 || type == ElementType::f64;
}

/// Bytes of one element (not of one item: an affine item is a pair of elements).
constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::i8:
      return 1;
    case ElementType::i16:
    case ElementType::f16:
      return 2;
    case ElementType::i32:
    case ElementType::f32:
      return 4;
    case ElementType::i64:
    case ElementType::f64:
      break;
  }
  return 8;
}

/// Whether a type has an operator: not all of them have each.
bool defined(ElementType type, Operator op);

/// Every operator of every type that has it, types in the order of their declaration.
const std::vector<std::pair<ElementType, Operator>>& types_with_operators();

/// One sentence, for an operator that a type does not have.
std::string not_defined(ElementType type, Operator op);

/// Bytes of one scanned item. Throws std::invalid_argument where the operator is not defined.
std::size_t item_bytes(ElementType type, Operator op);

}  // namespace scanlab
