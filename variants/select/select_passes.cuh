// The passes of select_passes and runs_passes: count what each block keeps, scan the counts, and visit the items.
// Each is a part of a kernel for whoever says what that is.
#pragma once

#include <bit>

#include "harness/simt/registration.hpp"
#include "variants/operators/plus.hpp"
#include "variants/scan/register_tile.cuh"

namespace scanlab::select {

constexpr int kLanes = simt::kWarpLanes;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 8;  ///< items of a lane, a warp apart
constexpr std::int64_t kTile = std::int64_t{kThreads} * kRows;

/// The items that a warp keeps of its part of a tile: a word of lanes for each row.
struct Ballots {
  std::uint32_t rows[kRows];
  int kept;

  /// keeps(i): of item i.
  template <simt::ThreadBlock Block, class Keeps>
  SCANLAB_HD Ballots(Block& block, std::int64_t n, Keeps keeps) : rows{}, kept(0) {
    const std::int64_t first = place(block, 0);
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t i = first + r * kLanes;
      bool keep = false;
      if (i < n) keep = keeps(i);
      rows[r] = block.ballot(keep);
      kept += std::popcount(rows[r]);
    }
  }
  template <simt::ThreadBlock Block>
  SCANLAB_HD static std::int64_t place(Block& block, int row) {
    return block.group_index() * kTile + (block.warp() * kRows + row) * kLanes + block.lane();
  }
};

/// Writes how many of n items the block keeps. Shared memory: a number a warp.
template <simt::ThreadBlock Block, class Keeps>
SCANLAB_HD void count_kept(Block& block, simt::Global<Block, std::int64_t> counts, std::int64_t n, Keeps keeps) {
  auto totals = block.template shared<std::int64_t>(kWarps);
  const Ballots own(block, n, keeps);
  if (block.lane() == 0) totals[block.warp()] = own.kept;
  block.sync();  // the warps' totals are there
  if (block.thread_rank() != 0) return;
  std::int64_t all = 0;
  for (int w = 0; w < kWarps; ++w) all += totals[w];
  counts[block.group_index()] = all;
}

/// Calls visit(i, kept, kept_before) of each item. before: kept items before each block's. Shared memory: a number a
/// warp.
template <simt::ThreadBlock Block, class Keeps, class Visit>
SCANLAB_HD void visit_items(Block& block, simt::Global<Block, const std::int64_t> before, std::int64_t n, Keeps keeps,
                            Visit visit) {
  auto totals = block.template shared<std::int64_t>(kWarps);
  const Ballots own(block, n, keeps);
  if (block.lane() == 0) totals[block.warp()] = own.kept;
  block.sync();  // the warps' totals are there
  std::int64_t place = before[block.group_index()];
  for (int w = 0; w < kWarps; ++w) {
    if (w < block.warp()) place += totals[w];
  }
  const std::uint32_t below = (1u << block.lane()) - 1;
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t i = Ballots::place(block, r);
    if (i < n) visit(i, (own.rows[r] >> block.lane() & 1) != 0, place + std::popcount(own.rows[r] & below));
    place += std::popcount(own.rows[r]);
  }
}

/// One block.
struct ScanCounts {
  static constexpr const char* kName = "scan_counts";
  static constexpr int kMaxThreads = kThreads;

  /// counts: `blocks` of them, replaced by what comes before each. count: all. Shared memory: a number a warp, twice.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, std::int64_t> counts, std::int64_t blocks,
                             simt::Global<Block, std::uint64_t> count) const {
    const Plus<std::int64_t> op;
    std::int64_t running = 0;
    for (std::int64_t first = 0; first < blocks; first += kThreads) {
      const std::int64_t i = first + block.thread_rank();
      std::int64_t own = 0;
      if (i < blocks) own = counts[i];
      const std::int64_t scanned = scan::scan_warp(block, own, op);
      auto totals = block.template shared<std::int64_t>(
          kWarps, static_cast<int>(first / kThreads % 2 * kWarps * static_cast<std::int64_t>(sizeof(std::int64_t))));
      if (block.lane() == kLanes - 1) totals[block.warp()] = scanned;
      block.sync();  // the warps' totals are there; those of the round before have been read
      std::int64_t all = 0;
      const std::int64_t before = running + scan::before_warp(block, totals, op, all) + scanned - own;
      if (i < blocks) counts[i] = before;
      running += all;
    }
    if (block.thread_rank() == 0) count[0] = static_cast<std::uint64_t>(running);
  }
};

/// The grid of count_kept and visit_items.
inline simt::Grid tiles_of(std::int64_t n) {
  return {.blocks = ceil_div(n, kTile), .threads = kThreads, .shared_bytes = kWarps * sizeof(std::int64_t)};
}
inline constexpr simt::Grid kOneBlock{
    .blocks = 1, .threads = kThreads, .shared_bytes = 2 * kWarps * sizeof(std::int64_t)};

}  // namespace scanlab::select
