// one_cluster: a cluster of blocks scans what their registers hold.
//
// Idea    As one_block, on up to 16 multiprocessors that can read each other's shared memory: a block puts its
//         aggregate where each of those behind it finds it beyond one barrier of the cluster.
// Work    3 n, and 5 shuffles a vector, a warp and a block.
// Span    about 30 steps.
// Traffic 2 n.
// Bits    Fixed.
// Needs   Compute capability 9.0.
// Source  CUDA C++ Programming Guide, "Thread block clusters" and "Distributed shared memory".
#include "variants/scan/register_tile.cuh"
#if defined(__CUDACC__)
#include <cooperative_groups.h>

#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/simt/gpu_block.cuh"

namespace scanlab::scan {
namespace {

constexpr int kMostBlocks = 16;  // of a cluster
constexpr int kMostThreads = 512;
constexpr int kRows = 2;

/// in, out: n items, at most as many as the tiles of the grid, which is one cluster; may be the same array.
template <Monoid Op>
__global__ void __launch_bounds__(kMostThreads, 1)
    one_cluster(const typename Op::Item* in, typename Op::Item* out, std::int64_t n, bool aligned, Mode mode, Op op) {
#if __CUDA_ARCH__ >= 900
  using Item = typename Op::Item;
  __shared__ __align__(16) unsigned char memory[(kMostWarps + kMostBlocks) * sizeof(Item)];
  Item* const totals = reinterpret_cast<Item*>(memory);
  Item* const aggregates = totals + kMostWarps;  // of the blocks before, which put them here
  const auto cluster = cooperative_groups::this_cluster();
  cuda::wait_for_kernels_before();
  simt::GpuBlock block;
  auto started = cluster.barrier_arrive();

  RegisterTile<Op, kRows> tile;
  const std::int64_t base = block.group_index() * tile.items(block.num_threads());
  tile.load(block, in, base, n, aligned);
  const Item total = tile.scan(block, totals, op);
  cluster.barrier_wait(std::move(started));  // no block's shared memory is written before the block has started
  const auto behind = block.group_index() + 1 + block.thread_rank();
  if (behind < gridDim.x) cluster.map_shared_rank(aggregates, behind)[block.group_index()] = total;
  cluster.sync();  // every block's aggregate is there
  const Item before = block.lane() < block.group_index() ? aggregates[block.lane()] : Op::identity();
  tile.store(block, out, base, n, aligned, mode, fold_for_all(block, before, op), op);
#endif
}

class OneCluster {
 public:
  static Description describe() {
    Description about;
    about.id = "one_cluster";
    about.title = "One cluster of blocks, tiles in registers";
    about.source = "CUDA C++ Programming Guide, distributed shared memory";
    about.family = "one launch, one tile";
    about.overview = false;
    about.limits = "n items of 256 KiB or less; compute capability 9.0 and later";
    about.in_place = true;
    about.cost = {.work = "about 3n, and 4 a vector", .span = "30 steps", .traffic = "2n"};
    return about;
  }

  explicit OneCluster(const Problem& problem) : problem_(problem), shape_(shape()) {}

  Plan plan() const {
    if (vectors_of(problem_) > kMostBlocks * kMostThreads * kRows)
      return Plan::refuse("one_cluster holds 256 KiB of items at most");
    if (cuda::compute_capability() < 90) return Plan::refuse("one_cluster needs compute capability 9.0");
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) { cuda::allow(one_cluster<Op>, shape_); });
    return {.chain = tile_chain(problem_, kRows, kMostThreads / kLanes) + kMostBlocks};
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    if (problem_.items == 0) return;
    const bool aligned = simt::CudaMachine::aligned(in, 16) && simt::CudaMachine::aligned(out, 16);
    cuda::launch(one_cluster<Op>, shape_, stream, in, out, problem_.items, aligned, problem_.mode, op);
  }

 private:
  /// As many blocks as there may be, but not of less than two warps.
  cuda::LaunchShape shape() const {
    int blocks = 1;
    while (blocks < kMostBlocks && vectors_of(problem_) > blocks * 2 * kLanes * kRows) blocks *= 2;
    const auto warps =
        static_cast<int>(ceil_div(ceil_div(std::max<std::int64_t>(vectors_of(problem_), 1), blocks), kLanes * kRows));
    return {.blocks = blocks, .threads = warps * kLanes, .cluster = blocks, .early = true};
  }

  Problem problem_;
  cuda::LaunchShape shape_;
};

const Registration kOneCluster{cuda::cuda_scan<OneCluster>()};

}  // namespace
}  // namespace scanlab::scan
#endif
