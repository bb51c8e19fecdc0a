// Hillis and Steele's scan of one tile in shared memory, by one block.
#pragma once

#include <cstdint>

#include "harness/core/monoid.hpp"
#include "harness/simt/registration.hpp"

namespace scanlab::scan {

/// n ceil(log2 n) - 2^ceil(log2 n) + 1: step d adds to every item but the first 2^d.
constexpr std::int64_t hs_additions(std::int64_t n) {
  if (n == 0) return 0;
  const int steps = ceil_log2(n);
  return n * steps - (std::int64_t{1} << steps) + 1;
}

/// The cost of one Hillis-Steele scan over all n items.
inline Cost hs_cost(std::string traffic) {
  return {.work = "n ceil(log2 n) - 2^ceil(log2 n) + 1",
          .span = "ceil(log2 n)",
          .traffic = std::move(traffic),
          .operations = [](const Problem& problem) { return std::optional(hs_additions(problem.items)); },
          .swaps = [](const Problem&) { return std::optional<std::int64_t>(0); }};
}

/// Scans inclusively the `count` items that the block's threads hold in `item`, one a thread (threads past `count`
/// hold nothing), and returns to each thread its result.
///
///   temp    shared memory, 2 * count items: the two buffers, one read while the other is written
///   cost    ceil(log2 count) steps, count * ceil(log2 count) - 2^ceil(log2 count) + 1 additions, one barrier a step
///   source  Hillis and Steele 1986, "Data parallel algorithms"
template <simt::ThreadBlock Block, class SharedItems, Monoid Op>
SCANLAB_HD typename Op::Item hs_scan_tile(Block& block, SharedItems temp, int count, typename Op::Item item, Op op) {
  using Item = typename Op::Item;
  const int t = block.thread_rank();
  int in = 0;
  if (t < count) temp[t] = item;
  for (int offset = 1; offset < count; offset *= 2) {
    block.sync();  // the buffer about to be read is complete, and no thread still reads the one about to be written
    block.step("offset", offset);
    const int out = count - in;  // the buffers begin at 0 and at count
    if (t < count) {
      const Item right = temp[in + t];
      if (t >= offset) {
        const Item left = temp[in + t - offset];
        item = op(left, right);
      } else {
        item = right;
      }
      temp[out + t] = item;
    }
    in = out;
  }
  return item;
}

}  // namespace scanlab::scan
