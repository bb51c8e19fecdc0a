// one_cluster: a cluster of blocks scans what their registers hold. The kernel; one_cluster.cu launches it.
//
// Idea    As one_block, on up to 16 multiprocessors that can read each other's shared memory: a block puts its
//         aggregate where each of those behind it finds it beyond one barrier of the cluster.
// Work    3 n, and 5 shuffles a vector, a warp and a block.
// Span    about 30 steps.
// Traffic 2 n.
// Bits    Fixed.
// Needs   Compute capability 9.0.
// Source  CUDA C++ Programming Guide, "Thread block clusters" and "Distributed shared memory".
#pragma once

#include "variants/scan/one_block.cuh"
#include "variants/scan/register_tile.cuh"
#if defined(__CUDACC__)
#include <cooperative_groups.h>

#include "harness/cuda/launch.cuh"
#include "harness/simt/gpu_block.cuh"

namespace scanlab::scan {

inline constexpr int kClusterBlocks = 16;    // at most
inline constexpr int kClusterThreads = 512;  // of a block, at most
/// Vectors a thread.
template <Associative Op>
inline constexpr int kClusterRows = kOneBlockRows<Op>;

/// in, out: n items, at most as many as the tiles of the grid, which is one cluster; may be the same array.
template <Associative Op>
__global__ void __launch_bounds__(kClusterThreads, 1)
    one_cluster(const InOf<Op>* in, OutOf<Op>* out, std::int64_t n, bool aligned, Mode mode, Op op) {
#if __CUDA_ARCH__ >= 900
  using Item = typename Op::Item;
  __shared__ __align__(16) unsigned char memory[(kMaxWarps + kClusterBlocks) * sizeof(Item)];
  Item* const totals = reinterpret_cast<Item*>(memory);
  Item* const aggregates = totals + kMaxWarps;  // of the blocks before, which put them here
  const auto cluster = cooperative_groups::this_cluster();
  cuda::wait_for_kernels_before();
  simt::GpuBlock block;
  auto started = cluster.barrier_arrive();

  RegisterTile<Op, kClusterRows<Op>> tile;
  const std::int64_t base = block.group_index() * tile.items(block.num_threads());
  tile.load(block, in, base, n, aligned);
  const Item total = tile.scan(block, totals, op);
  cluster.barrier_wait(std::move(started));  // no block's shared memory is written before the block has started
  const auto behind = block.group_index() + 1 + block.thread_rank();
  if (behind < gridDim.x) cluster.map_shared_rank(aggregates, behind)[block.group_index()] = total;
  cluster.sync();  // every block's aggregate is there
  Item before{};
  if (block.lane() < block.group_index()) before = aggregates[block.lane()];
  const auto prefix = shuffle(block, fold_lanes(block, before, static_cast<int>(block.group_index()), op), 0);
  if constexpr (kHasInitialValue<Op>) {
    tile.store(block, out, base, n, aligned, mode, op(before_all(op), prefix), op);
  } else {
    tile.store(block, out, base, n, aligned, mode, prefix, op);
  }
#else
  __trap();  // results would stay unwritten
#endif
}

}  // namespace scanlab::scan
#endif
