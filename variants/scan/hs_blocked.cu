// hs_blocked: Hillis and Steele's scan a block at a time, made to fit any n.
//
// Idea    Scan-then-propagate: every block scans a tile of 1024 items as hs_block does, the tiles' aggregates are
//         scanned recursively, and added.
// Work    about 10 n: 9 n in tiles of 1024, and n for the offsets.
// Span    10 steps a level, ceil(log2 n / 10) levels.
// Traffic 4 n.
// Source  Hillis and Steele 1986 for the tile; GPU Gems 3, ch. 39.2.4 for the scheme.
#include "variants/scan/hs_steps.cuh"
#include "variants/scan/scan_then_propagate.cuh"

namespace scanlab::scan {
namespace {

constexpr int kTile = 1024;  // one item a thread

struct HsTilesKernel {
  static constexpr const char* kName = "hs_tiles";
  static constexpr int kMaxThreads = kTile;

  /// in, out: n items in global memory, may be the same array; block b scans items [b * 1024, (b + 1) * 1024).
  /// aggregates: one item a tile, or null. Shared memory: 2 * 1024 items.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, Mode mode,
                             simt::Global<Block, typename Op::Item> aggregates, Op op) const {
    using Item = typename Op::Item;
    block.step("load", 0);
    const int t = block.thread_rank();
    const std::int64_t base = block.group_index() * kTile;
    const int count = static_cast<int>(n - base < kTile ? n - base : kTile);
    auto temp = block.template shared<Item>(2 * kTile);

    Item item = Op::identity();
    if (t < count) item = in[base + t];
    item = hs_scan_tile(block, temp, count, item, op);
    if (t == count - 1 && aggregates) aggregates[block.group_index()] = item;
    if (mode == Mode::exclusive) {
      // Shift right by one through shared memory: the aggregate above needs the inclusive result.
      block.sync();  // the last step's readers are done with the buffer that is overwritten here
      block.step("shift", 0);
      if (t < count) temp[t] = item;
      block.sync();  // neighbours' results are in place
      block.step("store", 0);
      item = Op::identity();
      if (t > 0 && t < count) item = temp[t - 1];
    }
    if (t < count) out[base + t] = item;
  }
};

struct HsBlocked {
  explicit HsBlocked(const Problem& problem) : problem_(problem) {}

  template <class Op>
  static constexpr bool kTakes = kClassic<Op>;

  static Description describe() {
    Description about;
    about.id = "hs_blocked";
    about.title = "Hillis-Steele by blocks, sums scanned recursively, then added";
    about.source = "Hillis and Steele 1986; Harris, Sengupta and Owens 2007";
    about.family = "Hillis–Steele";
    about.cost = {.work = "about 10 n",
                  .span = "10 steps a level, ceil(log2 n / 10) levels",
                  .traffic = "4n",
                  .operations =
                      [](const Problem& problem) {
                        return std::optional(propagate_operations(problem.items, kTile, hs_additions));
                      },
                  .swaps = [](const Problem&) { return std::optional<std::int64_t>(0); }};
    return about;
  }

  Plan plan() const {
    return {.workspace_bytes = propagate_workspace_bytes(problem_, kTile),
            .chain = propagate_chain(problem_.items, kTile, ceil_log2(kTile))};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    using Item = typename Op::Item;
    const auto scan_tiles = [&](auto in, auto out, std::int64_t n, Mode mode, auto aggregates) {
      machine.launch({.blocks = ceil_div(n, kTile), .threads = kTile, .shared_bytes = 2 * kTile * sizeof(Item)},
                     HsTilesKernel{}, in, out, n, mode, aggregates, op);
    };
    scan_then_propagate(machine, op, arrays.in, arrays.out, problem_.items, problem_.mode, kTile, workspace,
                        scan_tiles);
  }

 private:
  Problem problem_;
};

const Registration kHsBlocked{simt::portable_scan<HsBlocked>()};

}  // namespace
}  // namespace scanlab::scan
