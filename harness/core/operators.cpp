#include "harness/core/operators.hpp"

namespace scanlab {

bool defined(ElementType type, Operator op) {
  return with_element(type, [&]<class T>() {
    switch (op) {
#define SCANLAB_CASE(id, Name) \
  case Operator::id:           \
    return requires { Name<T>{}; };
      SCANLAB_OPERATORS(SCANLAB_CASE)
#undef SCANLAB_CASE
    }
    return false;
  });
}

const std::vector<std::pair<ElementType, Operator>>& types_with_operators() {
  static const auto all = [] {
    std::vector<std::pair<ElementType, Operator>> pairs;
    for (const auto& [type, type_name] : named_values<ElementType>()) {
      for (const auto& [op, op_name] : named_values<Operator>()) {
        if (defined(type, op)) pairs.emplace_back(type, op);
      }
    }
    return pairs;
  }();
  return all;
}

std::string not_defined(ElementType type, Operator op) {
  std::string types;
  for (const auto& [other, word] : named_values<ElementType>()) {
    if (defined(other, op)) types += (types.empty() ? "" : ", ") + std::string(word);
  }
  return "there is no " + std::string(name(op)) + " of " + std::string(name(type)) + ": choose " + types;
}

std::size_t item_bytes(ElementType type, Operator op) {
  return with_monoid(type, op, []<class Op>(Op) { return sizeof(typename Op::Item); });
}

}  // namespace scanlab
