// axis_look_ahead: rows of any length in one pass, by the kernel of look_ahead.
//
// Idea    Rows lie one behind the other, so that a scan of all rows is a scan of the array that restarts at every row:
//         a segmented scan. Where a segment begins need not be read from memory: an item begins a row if its place is a
//         multiple of the row's length. So look_ahead scans pairs of an item and whether it is a head, which threads
//         make while they read the items; tiles are cut as if there were no rows, and every length costs the same.
// Work    2 n, and three instructions an item for the heads.
// Traffic 2 n, and 16 bytes a tile.
// Bits    Bitwise reproducible.
// Safe    As look_ahead.
// Needs   Compute capability 9.0; items of a row that lie side by side.
// Source  Blelloch 1990 for the pairs; the heads by arithmetic are Scanlab's.
#include "variants/scan/look_ahead.cuh"
#include "variants/scan_axis/axis.hpp"
#include "variants/scan_axis/segments.cuh"
#if defined(__CUDACC__)
#include <algorithm>

#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab::scan_axis {
namespace {

/// The arguments of look_ahead, and the rows.
template <Associative Op>
struct AxisArguments {
  using Form = scan::UsualForm;
  scan::Arguments<Segmented<Op>> scan;
  Rows rows;

  __device__ const scan::Arguments<Segmented<Op>>& of_scan() const { return scan; }
  __device__ auto aggregates() const { return scan.aggregates(); }
  __device__ RowItems<Op> items_from(std::int64_t place) const { return rows.items_from<Op>(place); }
};

template <Associative Op>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMaxReduceWarps<Segmented<Op>>}.threads(), 1)
    axis_look_ahead(const __grid_constant__ AxisArguments<Op> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  scan::LookAheadBlock<Segmented<Op>, cuda::NoWatch, AxisArguments<Op>>(arguments, shared).run();
#else
  __trap();
#endif
}

class AxisLookAhead {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(true);
    about.id = "axis_look_ahead";
    about.title = "One pass over all rows, heads by arithmetic";
    about.source = "Blelloch 1990; Scanlab";
    about.family = "single pass";
    about.limits = "rows of any length, items side by side (inner 1); compute capability 9.0 and later";
    about.cost.work = "about 2n";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit AxisLookAhead(const Problem& problem) : problem_(problem), multiprocessors_(cuda::multiprocessors()) {
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      const auto memory = static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
      const auto bytes = problem.items * static_cast<std::int64_t>(sizeof(typename Op::Item));
      shape_ = scan::shape_for<Segmented<Op>>(bytes, multiprocessors_, memory);
      tiles_ = ceil_div(bytes, shape_.tile_bytes());
      shape_ = scan::with_stages<Segmented<Op>>(shape_, ceil_div(tiles_, std::max(multiprocessors_, 1)), memory);
    });
  }

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse("axis_look_ahead needs compute capability 9.0: it copies in bulk");
    if (problem_.inner != 1)
      return Plan::refuse("axis_look_ahead scans items that lie side by side: leave out --inner");
    simt::Workspace workspace;
    const scan::AggregateMemory parts(workspace, tiles_);
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kAxis<Op>) cuda::allow(axis_look_ahead<Op>, launch_shape<Op>());
    });
    const std::int64_t in_a_tile = shape_.vectors * cuda::kBulkBytes / 4 + 5 + shape_.warps;
    const std::int64_t most = in_a_tile + scan::AggregateMemory::kMaxPerGroup / scan::kLanes + 5 + tiles_ / 64 + 4;
    return {.workspace_bytes = workspace.bytes(), .chain = std::min(most, problem_.axis())};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    scan::AggregateMemory(workspace, tiles_).prepare<Headed<typename Op::Item>>(stream, scan::TileCounter::first());
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    if (tiles_ == 0) return;
    simt::Workspace workspace(memory);
    const scan::AggregateMemory parts(workspace, tiles_);
    const bool in_bulk =
        simt::CudaMachine::aligned(in, cuda::kBulkBytes) && simt::CudaMachine::aligned(out, cuda::kBulkBytes);
    cuda::launch(axis_look_ahead<Op>, launch_shape<Op>(), stream,
                 AxisArguments<Op>{.scan = {.in = in,
                                            .out = out,
                                            .n = problem_.items,
                                            .tiles = tiles_,
                                            .mode = problem_.mode,
                                            .shape = shape_,
                                            .in_bulk = in_bulk,
                                            .counter = parts.number<std::uint64_t>(),
                                            .states = parts.states<Headed<typename Op::Item>>()},
                                   .rows = Rows(problem_.axis())});
  }

 private:
  template <class Op>
  cuda::LaunchShape launch_shape() const {
    return {.blocks = static_cast<int>(std::min<std::int64_t>(tiles_, multiprocessors_)),
            .threads = shape_.threads(),
            .shared_bytes = scan::shared_bytes<Segmented<Op>>(shape_),
            .pdl = true};
  }

  Problem problem_;
  int multiprocessors_;
  scan::Shape shape_;
  std::int64_t tiles_ = 0;
};

const Registration kAxisLookAhead{cuda::cuda_scan<AxisLookAhead>()};

}  // namespace
}  // namespace scanlab::scan_axis
#endif
