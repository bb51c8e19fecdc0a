// The error bound of CUB's scan, for the baselines that call it.
#pragma once

#include <cstdint>

#include "harness/core/variant.hpp"

namespace scanlab {

/// Longest chain of additions of a decoupled look-back scan as CUB does it. At worst each tile adds its aggregate to
/// its predecessor's prefix, a chain of as many additions as tiles, which hold 4 KiB or more; inside a tile, a thread's
/// items, the lanes' and the warps' prefixes add fewer than 128.
inline std::int64_t cub_chain(const Problem& problem) {
  const auto bytes = problem.items * static_cast<std::int64_t>(item_bytes(problem.type, problem.op));
  return ceil_div(bytes, 4096) + 128;
}

/// The chain of look-ahead: a thread adds up to 160 items, where look-back's adds 24, once for its tile's
/// aggregate and once for its own prefix.
constexpr std::int64_t kLookAheadChain = 2 * 160;

}  // namespace scanlab
