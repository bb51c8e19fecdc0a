// one_block: a single block scans what its registers hold. The kernel; one_block.cu launches it.
//
// Idea    For few items the launch is the cost: one launch, one read, one write, one barrier.
// Work    3 n, and 5 shuffles a vector and a warp.
// Span    about 25 steps.
// Traffic 2 n.
// Bits    Fixed.
// Source  Sengupta, Harris and Garland, "Efficient Parallel Scan Algorithms for GPUs", NVR-2008-003, 2008, for the scan
//         of a block from scans of its warps.
#pragma once

#include "variants/scan/register_tile.cuh"

namespace scanlab::scan {

inline constexpr int kOneBlockThreads = 512;  // more of them take longer to start and to meet than they save

/// Vectors a thread, where a block then holds the items. Two cost less to scan than twice the threads; but not where an
/// operation takes long, since a thread scans its vectors one after another.
template <Associative Op>
inline constexpr int kOneBlockRows = Op::kHeavy ? 1 : 2;

template <int kRows, bool kAligned>
struct OneBlockKernel {
  static constexpr const char* kName = "one_block";
  static constexpr int kMaxThreads = kOneBlockThreads;

  /// in, out: n items in global memory, at most as many as the block's tile; may be the same array. Shared memory: an
  /// item a warp. One block.
  template <simt::ThreadBlock Block, Associative Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const InOf<Op>> in, simt::Global<Block, OutOf<Op>> out,
                             std::int64_t n, bool aligned, Mode mode, Op op) const {
    using Item = typename Op::Item;
    RegisterTile<Op, kRows, kAligned> tile;
    block.step("load", 0);
    tile.load(block, in, 0, n, aligned);
    block.step("scan", 0);
    tile.scan(block, block.template shared<Item>(block.num_threads() / kLanes), op);
    block.step("store", 0);
    tile.store(block, out, 0, n, aligned, mode, op);
  }
};

}  // namespace scanlab::scan
