// warp_shuffle: scan-then-propagate with tiles that a block scans in its registers.
//
// Idea    A lane takes its neighbours' values by shuffles instead of through shared memory: no banks, and one barrier a
//         tile instead of one a step. The scheme around it is that of hs_blocked and hso_blocked.
// Work    about 4 n, and 5 shuffles a vector of 16 bytes.
// Span    about 25 steps a level.
// Traffic 4 n.
// Bits    Fixed.
// Source  Sengupta, Harris and Garland, "Efficient Parallel Scan Algorithms for GPUs", NVR-2008-003, 2008, for the scan
//         of a block from scans of its warps; shuffles came with Kepler.
#include "variants/scan/scan_then_propagate.cuh"
#include "variants/scan/tile_plan.hpp"

namespace scanlab::scan {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 4;

struct WarpShuffleKernel {
  static constexpr const char* kName = "warp_shuffle";
  static constexpr int kMaxThreads = kThreads;

  /// in, out: n items in global memory, may be the same array; block b scans tile b. aggregates: one item a tile, or
  /// null. Shared memory: an item a warp.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, bool aligned, Mode mode,
                             simt::Global<Block, typename Op::Item> aggregates, Op op) const {
    using Item = typename Op::Item;
    RegisterTile<Op, kRows> tile;
    const std::int64_t base = block.group_index() * tile.items(kThreads);
    tile.load(block, in, base, n, aligned);
    const Item aggregate = tile.scan(block, block.template shared<Item>(kThreads / kLanes), op);
    if (block.thread_rank() == 0 && aggregates) aggregates[block.group_index()] = aggregate;
    tile.store(block, out, base, n, aligned, mode, op);
  }
};

struct WarpShuffle {
  template <class Op>
  static constexpr bool kTakes = kBasic<Op>;

  explicit WarpShuffle(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    Description about;
    about.id = "warp_shuffle";
    about.title = "Tiles scanned by shuffles, sums scanned recursively, then added";
    about.source = "Sengupta, Harris and Garland 2008, NVR-2008-003";
    about.family = "three launches";
    about.in_place = true;
    about.cost = {.work = "about 4n, and 4 a vector", .span = "25 steps a level", .traffic = "4n"};
    return about;
  }

  Plan plan() const {
    return {.workspace_bytes = propagate_workspace_bytes(problem_, tile_items()),
            .chain = propagate_chain(problem_.items, tile_items(), tile_chain(problem_, kRows, kThreads / kLanes))};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    using Item = typename Op::Item;
    const auto scan_tiles = [&](auto in, auto out, std::int64_t n, Mode mode, auto aggregates) {
      const bool aligned = Machine::aligned(in, 16) && Machine::aligned(out, 16);
      machine.launch(
          {.blocks = ceil_div(n, tile_items()), .threads = kThreads, .shared_bytes = kThreads / kLanes * sizeof(Item)},
          WarpShuffleKernel{}, in, out, n, aligned, mode, aggregates, op);
    };
    scan_then_propagate(machine, op, arrays.in, arrays.out, problem_.items, problem_.mode, tile_items(), workspace,
                        scan_tiles);
  }

 private:
  int tile_items() const { return kThreads * kRows * 16 / static_cast<int>(item_bytes(problem_.type, problem_.op)); }
  Problem problem_;
};

const Registration kWarpShuffle{simt::portable_scan<WarpShuffle>()};

}  // namespace
}  // namespace scanlab::scan
