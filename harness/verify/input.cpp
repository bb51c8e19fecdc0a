#include "harness/verify/input.hpp"

namespace scanlab::verify {

std::string_view name(InputKind kind) {
  switch (kind) {
    case InputKind::random:
      return "random";
    case InputKind::constant:
      return "constant";
    case InputKind::alternating:
      return "alternating";
    case InputKind::one_hot:
      return "one_hot";
    case InputKind::extremes:
      break;
  }
  return "extremes";
}

std::optional<InputKind> parse_input_kind(std::string_view text) {
  for (const InputKind kind : kInputKinds) {
    if (name(kind) == text) return kind;
  }
  return std::nullopt;
}

}  // namespace scanlab::verify
