// Shared by folds, lengths and keys of runs: the operators that they are compiled for, and what is verified.
#pragma once

#include <type_traits>

#include "variants/operators/plus.hpp"
#include "variants/segmented_scan/segmented.hpp"

namespace scanlab::runs {

/// Folds as scans by key have them; lengths, and keys alone, as i32.
template <Primitive kPrimitive, class Op>
inline constexpr bool kFolded =
    kPrimitive == Primitive::reduce_by_key ? segmented::kSegmented<Op> : std::is_same_v<Op, Plus<std::int32_t>>;

/// The first part of ids.
constexpr const char* prefix(Primitive primitive) {
  return primitive == Primitive::reduce_by_key ? "runs" : primitive == Primitive::unique ? "unique" : "lengths";
}

/// A description with what all of them have in common. large: arrays of many tiles too, which take the emulator
/// minutes.
inline Description describe_runs(Primitive primitive, bool large) {
  Description about;
  about.primitive = primitive;
  about.limits = "keys of 1, 2, 4 or 8 bytes";
  about.cost.traffic = primitive == Primitive::reduce_by_key ? "n items and keys, and one of each a run"
                       : primitive == Primitive::unique      ? "n keys, and one a run"
                                                             : "n keys, and a key and a length a run";
  const auto add = [&](std::int64_t n, std::int64_t mean, Lengths kind, int width) {
    about.checked.push_back({{n, 1, 1, {segments_by(primitive), mean, kind, width}}});
  };
  constexpr int kWidths[] = {4, 1, 2, 8};
  for (const std::int64_t n : {0, 1, 31, 33, 1000, 4099}) {
    for (const std::int64_t mean : {1, 7, 32, 500}) {
      add(n, mean, Lengths::equal, kWidths[mean % 4]);
      add(n, mean, Lengths::random, kWidths[n % 4]);
    }
  }
  if (large) {
    for (const std::int64_t n : {70'001, 1'000'003, 5'000'011}) {
      for (const std::int64_t mean : {1, 9, 256, 7168, 100'000}) {
        for (const auto& [kind, text] : kLengths) {
          if (mean > 1 || kind != Lengths::power) add(n, mean, kind, 4);
        }
      }
      for (const int width : kWidths) add(n, 40, Lengths::random, width);
    }
    add(5'000'000, 5'000'000, Lengths::equal, 4);
  }
  return about;
}

}  // namespace scanlab::runs
