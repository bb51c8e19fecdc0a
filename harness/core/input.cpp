#include "harness/core/input.hpp"

namespace scanlab {

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
      return "extremes";
    case InputKind::exact:
      break;
  }
  return "exact";
}

}  // namespace scanlab
