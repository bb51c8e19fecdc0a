// Scan-then-propagate: how a scan of one tile by one block becomes a scan of any n.
//
//   1. every block scans its tile and writes the tile's aggregate;
//   2. the aggregates are scanned exclusively, by the same scheme, recursively, until they fit one tile;
//   3. every block adds its tile's offset to its items.
//
// Traffic 4n and a little: read and write in 1, read and write in 3. Launches: 2 L - 1 for L levels.
// Source: Harris, Sengupta and Owens 2007 (GPU Gems 3, ch. 39.2.4), and many before them.
#pragma once

#include <cstdint>

#include "harness/core/monoid.hpp"
#include "harness/simt/registration.hpp"

namespace scanlab::scan {

/// Adds to every item of a tile the scanned aggregate of the tiles before it. One block a tile.
struct AddOffsetsKernel {
  static constexpr const char* kName = "add_offsets";
  static constexpr int kMaxThreads = 1024;

  /// items: n items in global memory, scanned tile by tile, changed in place. offsets: one a tile.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, typename Op::Item> items, std::int64_t n,
                             simt::Global<Block, const typename Op::Item> offsets, int tile, Op op) const {
    using Item = typename Op::Item;
    block.step("add offsets", 0);
    const std::int64_t base = block.group_index() * tile;
    const Item offset = offsets[block.group_index()];
    for (int j = block.thread_rank(); j < tile && base + j < n; j += block.num_threads()) {
      const Item item = items[base + j];
      items[base + j] = op(offset, item);
    }
  }
};

/// The levels of the recursion for n items: items at each level, from n down to what fits one tile.
struct Levels {
  static constexpr int kMax = 8;
  std::int64_t items[kMax] = {};
  int count = 0;
  Levels(std::int64_t n, int tile) {
    items[count++] = n;
    while (items[count - 1] > tile) {
      items[count] = ceil_div(items[count - 1], tile);
      ++count;
    }
  }
};

/// Workspace bytes of `scan_then_propagate`: one aggregate a tile, at every level but the last.
inline std::size_t propagate_workspace_bytes(const Problem& problem, int tile) {
  simt::Workspace workspace;
  const Levels levels(problem.items, tile);
  for (int level = 1; level < levels.count; ++level) {
    workspace.take<std::byte>(levels.items[level] * static_cast<std::int64_t>(item_bytes(problem.type, problem.op)));
  }
  return workspace.bytes();
}

/// Longest chain of additions: each level scans a tile and adds one offset.
inline std::int64_t propagate_chain(std::int64_t n, int tile, int tile_chain) {
  return Levels(n, tile).count * (tile_chain + 1);
}

/// Applications of the operator: `tile_operations(count)` for each tile at each level, and one for each item that is
/// given an offset.
template <class TileOperations>
std::int64_t propagate_operations(std::int64_t n, int tile, TileOperations tile_operations) {
  const Levels levels(n, tile);
  std::int64_t sum = 0;
  for (int level = 0; level < levels.count; ++level) {
    const std::int64_t items = levels.items[level];
    sum += items / tile * tile_operations(tile) + tile_operations(items % tile);
    if (level + 1 < levels.count) sum += items;
  }
  return sum;
}

/// Scans `n` items from `in` to `out` (which may be the same array).
///
///   scan_tiles(in, out, n, mode, aggregates)  launches the scan of each tile by one block; `aggregates` is null if
///                                             there is one tile, else takes one item a tile
template <class Machine, Monoid Op, class ScanTiles>
void scan_then_propagate(Machine& machine, Op op, typename Machine::template Global<const typename Op::Item> in,
                         typename Machine::template Global<typename Op::Item> out, std::int64_t n, Mode mode, int tile,
                         simt::Workspace& workspace, const ScanTiles& scan_tiles) {
  using Item = typename Op::Item;
  using Items = typename Machine::template Global<Item>;
  using ConstItems = typename Machine::template Global<const Item>;
  const std::int64_t tiles = ceil_div(n, tile);
  if (tiles <= 1) {
    scan_tiles(in, out, n, mode, Items{});
    return;
  }
  const Items aggregates = machine.global(workspace.take<Item>(tiles), tiles, "aggregates");
  scan_tiles(in, out, n, mode, aggregates);
  scan_then_propagate(machine, op, ConstItems(aggregates), aggregates, tiles, Mode::exclusive, tile, workspace,
                      scan_tiles);
  machine.launch({.blocks = tiles, .threads = 512}, AddOffsetsKernel{}, out, n, ConstItems(aggregates), tile, op);
}

}  // namespace scanlab::scan
