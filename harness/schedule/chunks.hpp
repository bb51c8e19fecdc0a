// How an array is cut into the chunks that a schedule copies and computes one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/core/ceil.hpp"

namespace scanlab::streams {

/// A piece of the arrays: the same items of every input and of the output.
struct Chunk {
  int index = 0;
  std::int64_t first = 0;  ///< its first item in the whole array
  std::int64_t items = 0;  ///< 0: an empty tail, for which nothing is issued
  int buffer = 0;          ///< the device buffer that it is copied to and computed in

  bool empty() const { return items == 0; }
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

/// Cuts `items` (>= 0) into `chunks` (>= 1) pieces whose sizes differ by one at most, the longer first: so there are as
/// many as asked for, and with more chunks than items the last are empty. (Chunks of the rounded-up quotient, as
/// lectures have them, would be 50 for 100 items in 64, and 14 of negative length.)
///
/// `buffers` (>= 1) are used in turn; 0 gives every chunk one of its own.
inline std::vector<Chunk> split(std::int64_t items, int chunks, int buffers = 0) {
  const std::int64_t least = items / chunks;
  const std::int64_t longer = items % chunks;  // so many chunks have one item more
  std::vector<Chunk> all;
  all.reserve(static_cast<std::size_t>(chunks));
  for (int i = 0; i < chunks; ++i) {
    all.push_back({.index = i,
                   .first = i * least + std::min<std::int64_t>(i, longer),
                   .items = least + (i < longer ? 1 : 0),
                   .buffer = buffers == 0 ? i : i % buffers});
  }
  return all;
}

/// The items of the longest chunk: what a device buffer must hold.
constexpr std::int64_t longest_chunk(std::int64_t items, int chunks) { return ceil_div(items, chunks); }

}  // namespace scanlab::streams
