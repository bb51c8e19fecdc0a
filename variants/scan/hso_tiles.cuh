// The HSO kernel that scans tiles, one a block: what hso_block and hso_blocked launch, with and without padding.
#pragma once

#include <cstdint>

#include "variants/scan/hso_tree.cuh"

namespace scanlab::scan {

/// Scans each tile of 2048 items by the HSO tree.
///
///   in, out     n items in global memory, may be the same array; block b scans [b * 2048, (b + 1) * 2048)
///   aggregates  one item a tile, or null
///   shared      at.extent(min(n, 2048)) items
///   threads     half the items of a full tile
///   cost        2 (m - 1) additions and m - 1 swaps for a tile of m items, 2 ceil(log2 m) + 2 barriers;
///               m more additions if inclusive
///   source      Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39
template <class Padding>
struct HsoTilesKernel {
  static constexpr const char* kName = "hso_tiles";
  static constexpr int kMaxThreads = kHsoTile / 2;
  Padding at;
  Loading load;

  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, Mode mode,
                             simt::Global<Block, typename Op::Item> aggregates, Op op) const {
    using Item = typename Op::Item;
    const int t = block.thread_rank();
    const std::int64_t base = block.group_index() * kHsoTile;
    const int count = static_cast<int>(n - base < kHsoTile ? n - base : kHsoTile);
    const int levels = ceil_log2(count);
    auto tile = block.template shared<Item>(at.extent(count));

    block.step("load", 0);
    const int a = load.first(t);
    const int b = load.second(t, block.num_threads());
    Item item_a = Op::identity();
    Item item_b = Op::identity();
    if (a < count) {
      item_a = in[base + a];
      tile[at(a)] = item_a;
    }
    if (b < count) {
      item_b = in[base + b];
      tile[at(b)] = item_b;
    }

    up_sweep(block, tile, at, count, levels, op);
    block.sync();  // the root is in place
    block.step("clear the root", 0);
    if (t == 0) {
      if (aggregates) {
        const Item aggregate = tile[at(count - 1)];
        aggregates[block.group_index()] = aggregate;
      }
      tile[at(count - 1)] = Op::identity();
    }
    down_sweep(block, tile, at, count, levels, op);
    block.sync();  // the leaves' prefixes are in place
    block.step("store", 0);

    if (a < count) {
      const Item prefix = tile[at(a)];
      out[base + a] = mode == Mode::inclusive ? op(prefix, item_a) : prefix;
    }
    if (b < count) {
      const Item prefix = tile[at(b)];
      out[base + b] = mode == Mode::inclusive ? op(prefix, item_b) : prefix;
    }
  }
};

/// Launches the kernel over n items.
template <class Machine, class Padding, class In, class Out, Monoid Op>
void launch_hso_tiles(Machine& machine, Padding at, Loading load, In in, Out out, std::int64_t n, Mode mode,
                      Out aggregates, Op op) {
  const int widest = static_cast<int>(n < kHsoTile ? n : kHsoTile);
  machine.launch({.blocks = ceil_div(n, kHsoTile),
                  .threads = (widest + 1) / 2,
                  .shared_bytes = static_cast<std::size_t>(at.extent(widest)) * sizeof(typename Op::Item)},
                 HsoTilesKernel<Padding>{at, load}, in, out, n, mode, aggregates, op);
}

}  // namespace scanlab::scan
