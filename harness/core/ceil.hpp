// Whole numbers rounded up.
#pragma once

#include <cstdint>

namespace scanlab {

/// ceil(log2 n) for n >= 1.
constexpr int ceil_log2(std::int64_t n) {
  int levels = 0;
  while ((std::int64_t{1} << levels) < n) ++levels;
  return levels;
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace scanlab
