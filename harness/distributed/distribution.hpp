// Which items of an array each of several ranks holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/core/ceil.hpp"
#include "harness/core/portable.hpp"

namespace scanlab::distributed {

/// Chunks of the array are dealt out to the ranks in turn; each rank holds its own side by side. One chunk per rank is
/// the array cut in one block per rank.
struct Distribution {
  std::int64_t items = 0;  ///< of the whole array
  int ranks = 1;
  std::int64_t chunk = 1;  ///< items of a chunk, > 0; the last chunk of all may have fewer

  static Distribution blocks(std::int64_t items, int ranks) {
    return {items, ranks, std::max<std::int64_t>(1, ceil_div(items, ranks))};
  }

  /// Items that a rank holds.
  std::int64_t held(int rank) const {
    const std::int64_t whole = items / chunk;
    const std::int64_t own = whole > rank ? (whole - rank - 1) / ranks + 1 : 0;
    return own * chunk + (whole % ranks == rank ? items % chunk : 0);
  }
  /// The place in the whole array of what a rank holds at `local`.
  SCANLAB_HD std::int64_t global(int rank, std::int64_t local) const {
    return (local / chunk * ranks + rank) * chunk + local % chunk;
  }
  /// Ranks that hold anything: the first so many.
  int holders() const { return static_cast<int>(std::min<std::int64_t>(ranks, ceil_div(items, chunk))); }

  /// Calls f(local, global, count) for each run of items that a rank holds side by side and the array has so, too.
  template <class F>
  void for_each_run(int rank, F f) const {
    const std::int64_t mine = held(rank);
    for (std::int64_t local = 0; local < mine; local += chunk) {
      f(local, global(rank, local), std::min(chunk, mine - local));
    }
  }

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

}  // namespace scanlab::distributed
