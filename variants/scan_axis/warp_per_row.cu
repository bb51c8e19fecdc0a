// warp_per_row: each warp scans a row, 32 items at a time.
//
// Idea    The lanes read neighbours, scan them by five shuffles, and carry the last result on to the next 32 items. No
//         shared memory and no barrier; but a row of fewer than 32 items leaves lanes idle, and the steps of a long
//         row follow one another.
// Work    6 for each item, and 5 shuffles.
// Span    7 steps for each 32 items of a row.
// Traffic 2 n.
// Bits    Fixed: they depend on the place in the row alone.
// Source  Hillis and Steele 1986, by shuffles.
#include "harness/simt/registration.hpp"
#include "variants/scan/register_tile.cuh"
#include "variants/scan_axis/axis.hpp"

namespace scanlab::scan_axis {
namespace {

struct WarpPerRowKernel {
  static constexpr const char* kName = "warp_per_row";
  static constexpr int kMaxThreads = 256;

  /// in, out: rows * axis items, may be the same array.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t rows, std::int64_t axis,
                             Mode mode, Op op) const {
    using Item = typename Op::Item;
    const std::int64_t row = block.group_index() * (kMaxThreads / simt::kWarpLanes) + block.warp();
    if (row >= rows) return;
    Item before = Op::identity();
    for (std::int64_t first = 0; first < axis; first += simt::kWarpLanes) {
      const std::int64_t i = first + block.lane();
      Item item = Op::identity();
      if (i < axis) item = in[row * axis + i];
      const Item scanned = op(before, scan::scan_warp(block, item, op));
      const Item left = block.shuffle_up(scanned, 1);
      if (i < axis) out[row * axis + i] = mode == Mode::inclusive ? scanned : block.lane() == 0 ? before : left;
      before = block.shuffle(scanned, simt::kWarpLanes - 1);
    }
  }
};

class WarpPerRow {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(false);
    about.id = "warp_per_row";
    about.title = "A warp for each row";
    about.source = "Hillis and Steele 1986, by shuffles";
    about.family = "lines alone";
    about.limits = "rows whose items lie side by side (inner 1)";
    about.cost.work = "6n";
    about.cost.span = "7 for each 32 items of a row";
    return about;
  }

  explicit WarpPerRow(const Problem& problem) : problem_(problem) {}
  Plan plan() const {
    if (problem_.inner != 1) return Plan::refuse("warp_per_row scans items that lie side by side: leave out --inner");
    return {.chain = std::min(ceil_div(problem_.axis(), simt::kWarpLanes) + 5, problem_.axis())};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    constexpr int kThreads = WarpPerRowKernel::kMaxThreads;
    machine.launch({.blocks = ceil_div(problem_.rows * simt::kWarpLanes, kThreads), .threads = kThreads},
                   WarpPerRowKernel{}, arrays.in, arrays.out, problem_.rows, problem_.axis(), problem_.mode, op);
  }

 private:
  Problem problem_;
};

const Registration kWarpPerRow{simt::portable_scan<WarpPerRow>()};

}  // namespace
}  // namespace scanlab::scan_axis
