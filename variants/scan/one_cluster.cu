// one_cluster: launches the kernel of one_cluster.cuh, which says how it works.
#include "variants/scan/one_cluster.cuh"

#include "variants/scan/tile_plan.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"

namespace scanlab::scan {
namespace {

class OneCluster {
 public:
  static Description describe() {
    Description about;
    about.id = "one_cluster";
    about.title = "One cluster of blocks, tiles in registers";
    about.source = "CUDA C++ Programming Guide, distributed shared memory";
    about.family = "one launch, one tile";
    about.overview = false;
    about.limits = "n items of 256 KiB or less (128 KiB for log_sum_exp); compute capability 9.0 and later";
    about.in_place = true;
    about.cost = {.work = "about 3n, and 4 a vector", .span = "30 steps", .traffic = "2n"};
    return about;
  }

  explicit OneCluster(const Problem& problem)
      : problem_(problem),
        rows_(with_monoid(problem.type, problem.op, []<class Op>(Op) { return kClusterRows<Op>; })),
        shape_(shape()) {}

  Plan plan() const {
    if (vectors_of(problem_) > kClusterBlocks * kClusterThreads * rows_)
      return Plan::refuse("one_cluster holds " + std::to_string(128 * rows_) + " KiB of items at most");
    if (cuda::compute_capability() < 90) return Plan::refuse("one_cluster needs compute capability 9.0");
    const bool has_room = with_monoid(
        problem_.type, problem_.op, [&]<class Op>(Op) { return cuda::has_room_for_clusters(one_cluster<Op>, shape_); });
    if (!has_room)
      return Plan::refuse("this device has no room for a cluster of " + std::to_string(shape_.blocks) + " blocks");
    return {.chain = tile_chain(problem_, rows_, kClusterThreads / kLanes) + kClusterBlocks};
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
    while (blocks < kClusterBlocks && vectors_of(problem_) > blocks * 2 * kLanes * rows_) blocks *= 2;
    const auto warps =
        static_cast<int>(ceil_div(ceil_div(std::max<std::int64_t>(vectors_of(problem_), 1), blocks), kLanes * rows_));
    return {.blocks = blocks, .threads = warps * kLanes, .cluster = blocks, .pdl = true};
  }

  Problem problem_;
  int rows_;  // vectors a thread
  cuda::LaunchShape shape_;
};

const Registration kOneCluster{cuda::cuda_scan<OneCluster>()};

}  // namespace
}  // namespace scanlab::scan
#endif
