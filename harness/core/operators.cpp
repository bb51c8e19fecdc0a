#include "harness/core/operators.hpp"

#include <algorithm>
#include <map>

namespace scanlab {

const std::vector<std::pair<Operator, std::string_view>>& all_operators() {
  static const auto all = [] {
    std::map<Operator, std::string_view> named;
    for_each_monoid(
        [&]<class Op>(ElementType, const Operator&, Op) { named.emplace(Op::kOperator, Op::kOperator.id); });
    return std::vector<std::pair<Operator, std::string_view>>(named.begin(), named.end());
  }();
  return all;
}

bool defined(ElementType type, const Operator& op) {
  return std::ranges::find(types_with_operators(), std::pair(type, op)) != types_with_operators().end();
}

const std::vector<std::pair<ElementType, Operator>>& types_with_operators() { return compiled_monoids(); }

std::string not_defined(ElementType type, const Operator& op) {
  std::string types;
  for (const auto& [other, word] : named_values<ElementType>()) {
    if (defined(other, op)) types += (types.empty() ? "" : ", ") + std::string(word);
  }
  return "there is no " + std::string(name(op)) + " of " + std::string(name(type)) + ": choose " + types;
}

std::size_t item_bytes(ElementType type, const Operator& op) {
  return with_monoid(type, op, []<class Op>(Op) { return sizeof(typename Op::Item); });
}

}  // namespace scanlab
