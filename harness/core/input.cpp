#include "harness/core/input.hpp"

namespace scanlab {

std::string_view name(InputKind kind) {
  constexpr std::array<std::string_view, 6> kNames{"random", "constant", "alternating", "one_hot", "extremes", "exact"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace scanlab
