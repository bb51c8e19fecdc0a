// Patterns around and inside the buffers of a run, by which stray and missing writes are seen.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/core/portable.hpp"

namespace scanlab::verify {

/// Bytes of canary on each side of a buffer; buffers are aligned to as many, as cudaMalloc aligns them.
inline constexpr std::size_t kGuardBytes = 256;

/// The content of outputs and workspaces before a run, as 32-bit words: a NaN as f16, f32 and f64, and no likely
/// integer of two bytes or more. It repeats every two bytes, so that it looks the same from any such item on.
inline constexpr std::uint32_t kPoison = 0xFFF5FFF5u;

enum class Guarded { input, output, workspace };

constexpr const char* name(Guarded buffer) {
  return buffer == Guarded::input ? "input" : buffer == Guarded::output ? "output" : "workspace";
}

/// The canary of each buffer is another one: a kernel that copies one item too many would otherwise put the same bytes
/// where they were.
SCANLAB_HD constexpr std::uint32_t canary(Guarded buffer) {
  return 0xFFF1C301u + 0x11u * static_cast<std::uint32_t>(buffer);
}

/// Byte `offset` of memory filled with the 32-bit `pattern`, little-endian.
SCANLAB_HD constexpr unsigned char pattern_byte(std::uint32_t pattern, std::size_t offset) {
  return static_cast<unsigned char>(pattern >> (8 * (offset % 4)));
}

/// Returns a sentence on the canary that was overwritten, before or behind a buffer; empty if both are intact.
inline std::string damage(Guarded buffer, const unsigned char* before, const unsigned char* behind) {
  const auto intact = [&](const unsigned char* guard) {
    std::size_t i = 0;
    while (i < kGuardBytes && guard[i] == pattern_byte(canary(buffer), i)) ++i;
    return i == kGuardBytes;
  };
  if (!intact(before)) return std::string("wrote before the beginning of the ") + name(buffer);
  if (!intact(behind)) return std::string("wrote past the end of the ") + name(buffer);
  return {};
}

template <class Item>
using Bytes = std::array<unsigned char, sizeof(Item)>;

/// Whether two items are the same bits: -0 is not 0, and a NaN is itself.
template <class Item>
SCANLAB_HD constexpr bool same_bits(const Item& a, const Item& b) {
  const auto x = std::bit_cast<Bytes<Item>>(a);
  const auto y = std::bit_cast<Bytes<Item>>(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

/// Whether nothing was written over the poison. Among single bytes only one in two is recognised: the poison's other
/// byte is -1, which is too likely a result.
template <class Item>
bool is_poison(const Item& item) {
  const auto bytes = std::bit_cast<Bytes<Item>>(item);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != pattern_byte(kPoison, i)) return false;
  }
  return true;
}

}  // namespace scanlab::verify
