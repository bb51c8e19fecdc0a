// block_per_row: each block scans a row, a tile of registers at a time.
//
// Idea    As warp_per_row, with more threads: a tile of 4 vectors a thread is scanned at once, and its total carried on
//         to the next. Rows shorter than a tile leave threads idle, and the tiles of a long row follow one another;
//         few rows leave the device empty.
// Work    about 3 n, and 5 shuffles a vector.
// Span    the tiles of a row.
// Traffic 2 n. Rows that do not begin at a multiple of 16 bytes are read item by item.
// Bits    Fixed: they depend on the place in the row alone.
// Source  CUB's DeviceSegmentedScan takes a block for a segment.
#include "harness/simt/registration.hpp"
#include "variants/scan/register_tile.cuh"
#include "variants/scan/tile_plan.hpp"
#include "variants/scan_axis/axis.hpp"

namespace scanlab::scan_axis {
namespace {

constexpr int kRows = 4;  ///< vectors a thread

struct BlockPerRowKernel {
  static constexpr const char* kName = "block_per_row";
  static constexpr int kMaxThreads = 256;

  /// in, out: axis items a block, may be the same array. Shared memory: two items a warp.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t axis, bool aligned, Mode mode,
                             Op op) const {
    using Item = typename Op::Item;
    using Tile = scan::RegisterTile<Op, kRows>;
    constexpr int kWarps = kMaxThreads / simt::kWarpLanes;
    const std::int64_t first = block.group_index() * axis;
    Item running = Op::identity();
    for (std::int64_t base = 0, t = 0; base < axis; base += Tile::items(kMaxThreads), ++t) {
      Tile tile;
      tile.load(block, in, first + base, first + axis, aligned);
      // Alternate tiles use alternate totals: a slow warp may still read those of the tile before.
      auto totals = block.template shared<Item>(kWarps, t % 2 * kWarps * sizeof(Item));
      const Item aggregate = tile.scan(block, totals, op);
      tile.store(block, out, first + base, first + axis, aligned, mode, running, op);
      running = op(running, aggregate);
    }
  }
};

class BlockPerRow {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(false);
    about.id = "block_per_row";
    about.title = "A block for each row";
    about.source = "as CUB's DeviceSegmentedScan";
    about.family = "lines alone";
    about.limits = "rows whose items lie side by side (inner 1)";
    about.cost.work = "about 3n";
    about.cost.span = "the tiles of a row";
    return about;
  }

  explicit BlockPerRow(const Problem& problem) : problem_(problem) {}
  Plan plan() const {
    if (problem_.inner != 1) return Plan::refuse("block_per_row scans items that lie side by side: leave out --inner");
    const auto bytes = static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op));
    const std::int64_t tile = kRows * 16 / bytes * BlockPerRowKernel::kMaxThreads;
    const std::int64_t most = ceil_div(problem_.axis(), tile) + kRows * 16 / bytes + kRows + 5 + 8;
    return {.chain = std::min(most, problem_.axis())};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    using Item = typename Op::Item;
    constexpr int kThreads = BlockPerRowKernel::kMaxThreads;
    const bool aligned = scan::aligned(arrays) && problem_.axis() * static_cast<std::int64_t>(sizeof(Item)) % 16 == 0;
    machine.launch({.blocks = problem_.axis() == 0 ? 0 : problem_.rows,
                    .threads = kThreads,
                    .shared_bytes = 2 * kThreads / simt::kWarpLanes * sizeof(Item)},
                   BlockPerRowKernel{}, arrays.in, arrays.out, problem_.axis(), aligned, problem_.mode, op);
  }

 private:
  Problem problem_;
};

const Registration kBlockPerRow{simt::portable_scan<BlockPerRow>()};

}  // namespace
}  // namespace scanlab::scan_axis
