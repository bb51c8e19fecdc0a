// axis_look_ahead: rows of any length in one pass, by the kernel of look_ahead. This is the kernel;
// axis_look_ahead.cu launches it.
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
#pragma once

#include "variants/scan/look_ahead.cuh"
#include "variants/scan_axis/segments.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan_axis {

/// The arguments of look_ahead, and the rows.
template <Associative Op>
struct AxisArguments {
  using Form = scan::UsualForm;
  scan::Arguments<Segmented<Op>> scan;
  Rows rows;

  __device__ const scan::Arguments<Segmented<Op>>& of_scan() const { return scan; }
  __device__ auto aggregates() const { return scan.aggregates(); }
  __device__ RowItems<Op> items_from(std::int64_t place) const { return rows.items_from(place, scan.op.op); }
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

}  // namespace scanlab::scan_axis
#endif
