// Which items of an array each of several ranks holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/core/ceil.hpp"
#include "harness/core/portable.hpp"

namespace scanlab::distributed {

/// Chunks of the array, or of each of its rows, are dealt out to the ranks in turn; each rank holds its own side by
/// side, row by row. One chunk per rank is the array cut in one block per rank.
struct Distribution {
  std::int64_t items = 0;  ///< of the whole array
  int ranks = 1;
  std::int64_t chunk = 1;  ///< items of a chunk, > 0; the last chunk of a row may have fewer
  std::int64_t rows = 1;   ///< of as many items, > 0

  static Distribution blocks(std::int64_t items, int ranks) {
    return {items, ranks, std::max<std::int64_t>(1, ceil_div(items, ranks))};
  }

  /// Items that a rank holds; of a row.
  std::int64_t held(int rank) const { return rows * held_of_row(rank); }
  SCANLAB_HD std::int64_t held_of_row(int rank) const {
    const std::int64_t whole = items / rows / chunk;
    const std::int64_t own = whole > rank ? (whole - rank - 1) / ranks + 1 : 0;
    return own * chunk + (whole % ranks == rank ? items / rows % chunk : 0);
  }
  /// The place in the whole array of what a rank holds at `local`.
  SCANLAB_HD std::int64_t global(int rank, std::int64_t local) const {
    const std::int64_t of_row = rows == 1 ? 0 : held_of_row(rank), row = rows == 1 ? 0 : local / of_row;
    const std::int64_t place = local - row * of_row;
    return row * (items / rows) + (place / chunk * ranks + rank) * chunk + place % chunk;
  }
  /// Ranks that hold anything: the first so many.
  int holders() const { return static_cast<int>(std::min<std::int64_t>(ranks, ceil_div(items / rows, chunk))); }

  /// Calls f(local, global, count) for each run of items that a rank holds side by side and the array has so, too.
  template <class F>
  void for_each_run(int rank, F f) const {
    const std::int64_t of_row = held_of_row(rank);
    for (std::int64_t row = 0; row < rows && of_row > 0; ++row) {
      for (std::int64_t place = 0; place < of_row; place += chunk) {
        const std::int64_t local = row * of_row + place;
        f(local, global(rank, local), std::min(chunk, of_row - place));
      }
    }
  }

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

}  // namespace scanlab::distributed
