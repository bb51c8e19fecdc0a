// How an array is cut into segments for verification and timing: where each begins is a pure function, the same on host
// and device, so that keys and offsets are made wherever they are needed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "harness/core/ceil.hpp"
#include "harness/core/portable.hpp"

namespace scanlab {

/// The lengths of segments, around their mean.
enum class Lengths {
  equal,   ///< all alike
  random,  ///< each from 1 to twice the mean; one of 32 is empty, and so are the first and the last one
  power,   ///< by a power law: from a quarter of the mean to a thousand times as much
};
inline constexpr std::array kLengths{std::pair{Lengths::random, std::string_view("random")},
                                     std::pair{Lengths::equal, std::string_view("equal")},
                                     std::pair{Lengths::power, std::string_view("power")}};
constexpr std::string_view name(Lengths lengths) {
  return std::ranges::find(kLengths, lengths, &std::pair<Lengths, std::string_view>::first)->second;
}

/// The array from which a scan learns where segments begin.
enum class SegmentsBy {
  none,       ///< there are no segments
  keys,       ///< a key an item; a segment is a run of equal ones
  offsets,    ///< where each segment begins, and the number of items
  flags,      ///< there are no segments: a byte an item says whether it is kept
  partition,  ///< as flags; the items that are not kept follow, in reverse order
  runs,       ///< as keys; a run gives one result, the fold of its items
  lengths,    ///< as runs; the result is how many items there are, which are not read
  unique,     ///< as lengths, and the key is the only result
};
/// Whether there is a flag an item.
constexpr bool have_flags(SegmentsBy by) { return by == SegmentsBy::flags || by == SegmentsBy::partition; }
/// Whether a run of equal keys gives its key, and one result or none.
constexpr bool fold_runs(SegmentsBy by) {
  return by == SegmentsBy::runs || by == SegmentsBy::lengths || by == SegmentsBy::unique;
}
/// Whether there is a key an item.
constexpr bool have_keys(SegmentsBy by) { return by == SegmentsBy::keys || fold_runs(by); }
/// Whether items are read, and not their keys alone.
constexpr bool read_items(SegmentsBy by) { return by != SegmentsBy::lengths && by != SegmentsBy::unique; }

/// The segments of an array.
struct Segments {
  SegmentsBy by = SegmentsBy::none;
  std::int64_t mean = 1;  ///< items of a segment, at least 1
  Lengths lengths = Lengths::random;
  int width = 4;           ///< bytes of a key: 1, 2, 4 or 8; of an offset: 4 or 8; of a flag: 1
  std::int64_t kept = 64;  ///< items of each kFlagGroup that flags keep, at places that look random
  static constexpr std::int64_t kFlagGroup = 128;
  friend bool operator==(const Segments&, const Segments&) = default;
  friend auto operator<=>(const Segments&, const Segments&) = default;

  /// The first item of a segment, in an array without end. Segments are numbered from 0, which begins at item 0.
  SCANLAB_HD std::int64_t begin(std::int64_t segment) const {
    switch (lengths) {
      case Lengths::equal:
        return segment * mean;
      case Lengths::random: {
        if (segment <= 1) return 0;
        const auto draw = [](std::int64_t s) {
          return (static_cast<std::uint64_t>(s) * 0x9E3779B97F4A7C15u ^ 0xD1B54A32D192ED03u) * 0xBF58476D1CE4E5B9u >>
                 20;
        };
        const bool empty = draw(segment) % 32 == 0 && !fold_runs(by);  // the one before; runs are not
        const std::int64_t from = empty ? segment - 1 : segment;
        if (from <= 1) return 0;
        return (from - 1) * mean + static_cast<std::int64_t>(draw(from) / 32 % static_cast<std::uint64_t>(mean));
      }
      case Lengths::power: {
        const auto rest = static_cast<double>(kPowerGroup - segment % kPowerGroup) / kPowerGroup;
        const auto group = static_cast<double>(kPowerGroup) * static_cast<double>(mean);
        return segment / kPowerGroup * kPowerGroup * mean +
               static_cast<std::int64_t>(group * (1 - std::sqrt(std::sqrt(rest))));
      }
    }
    return 0;
  }
  /// The segment of an item.
  SCANLAB_HD std::int64_t segment_of(std::int64_t item) const {
    std::int64_t segment = item / mean;
    if (lengths == Lengths::power) {
      const std::int64_t group = kPowerGroup * mean;
      const double rest = 1 - static_cast<double>(item % group) / static_cast<double>(group);
      segment = item / group * kPowerGroup + static_cast<std::int64_t>(kPowerGroup * (1 - rest * rest * rest * rest));
    }
    while (begin(segment) > item) --segment;
    while (begin(segment + 1) <= item) ++segment;
    return segment;
  }
  /// The first item from `item` on with which a segment begins.
  SCANLAB_HD std::int64_t first_from(std::int64_t item) const {
    std::int64_t segment = segment_of(item);
    while (begin(segment) < item) ++segment;
    return begin(segment);
  }

  /// Keys of n items, or offsets of their segments; 0 without segments.
  SCANLAB_HD std::int64_t entries(std::int64_t n) const {
    if (by == SegmentsBy::none) return 0;
    if (have_keys(by) || have_flags(by)) return n;
    return (n == 0 ? 0 : segment_of(n - 1) + 1) + (lengths == Lengths::random ? 1 : 0) + 1;  // the last one is empty
  }
  std::size_t array_bytes(std::int64_t n) const { return static_cast<std::size_t>(entries(n) * width); }
  /// Key or offset `i` of the entries for n items; its lowest `width` bytes count. Neighbours have different keys.
  SCANLAB_HD std::uint64_t entry(std::int64_t i, std::int64_t n) const {
    if (have_keys(by)) return static_cast<std::uint64_t>(segment_of(i)) * 0xBF58476D1CE4E5B9u;
    if (have_flags(by)) return keeps(i) ? 1 : 0;
    const std::int64_t place = begin(i);  // the last segment begins at n or later
    return static_cast<std::uint64_t>(place < n ? place : n);
  }
  /// Writes entry `i` into the array.
  SCANLAB_HD void write_entry(void* array, std::int64_t i, std::int64_t n) const {
    const std::uint64_t value = entry(i, n);
    switch (width) {
      case 1:
        static_cast<std::uint8_t*>(array)[i] = static_cast<std::uint8_t>(value);
        break;
      case 2:
        static_cast<std::uint16_t*>(array)[i] = static_cast<std::uint16_t>(value);
        break;
      case 4:
        static_cast<std::uint32_t*>(array)[i] = static_cast<std::uint32_t>(value);
        break;
      default:
        static_cast<std::uint64_t*>(array)[i] = value;
    }
  }

  /// The first item of a run, the last of n items in it, and the runs of n items. Random lengths begin with segment 1,
  /// since segment 0 is empty.
  SCANLAB_HD std::int64_t run_begin(std::int64_t run) const { return begin(run + first_run()); }
  SCANLAB_HD std::int64_t run_last(std::int64_t run, std::int64_t n) const {
    const std::int64_t next = run_begin(run + 1);
    return (next < n ? next : n) - 1;
  }
  SCANLAB_HD std::int64_t runs_of(std::int64_t n) const { return n == 0 ? 0 : segment_of(n - 1) + 1 - first_run(); }

  /// Whether flags keep item `i`.
  SCANLAB_HD bool keeps(std::int64_t i) const {
    const std::uint64_t draw = static_cast<std::uint64_t>(i / kFlagGroup) * 0x9E3779B97F4A7C15u >> 40;
    const auto place = static_cast<std::uint64_t>(i % kFlagGroup);
    return static_cast<std::int64_t>((place * (draw | 1) + draw / 2) % kFlagGroup) < kept;  // places in another order
  }
  /// The item that a selection or a partition of n items puts at place j, where it keeps `count`.
  SCANLAB_HD std::int64_t item_at(std::int64_t j, std::int64_t n, std::int64_t count) const {
    const bool is_kept = j < count;
    const std::int64_t rank = is_kept ? j : n - 1 - j, of_group = is_kept ? kept : kFlagGroup - kept;
    std::int64_t i = rank / of_group * kFlagGroup;
    for (std::int64_t before = rank % of_group;; ++i) {
      if (keeps(i) == is_kept && before-- == 0) return i;
    }
  }
  /// How many of the first n items flags keep.
  SCANLAB_HD std::int64_t kept_of(std::int64_t n) const {
    std::int64_t count = n / kFlagGroup * kept;
    for (std::int64_t i = n / kFlagGroup * kFlagGroup; i < n; ++i) count += keeps(i) ? 1 : 0;
    return count;
  }

 private:
  SCANLAB_HD std::int64_t first_run() const { return lengths == Lengths::random ? 1 : 0; }
  static constexpr std::int64_t kPowerGroup = 16384;  ///< segments from the shortest to the longest one
};

}  // namespace scanlab
