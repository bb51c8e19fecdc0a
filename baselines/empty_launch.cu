// One launch of a kernel that does nothing, launched early as the scans are: the floor. No scan that launches a kernel
// takes less, whatever its n.
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

__global__ void empty_kernel() { cuda::wait_for_kernels_before(); }

class EmptyLaunch {
 public:
  static Description describe() {
    return {
        .id = "empty_launch",
        .title = "Launch of an empty kernel",
        .source = "CUDA Runtime API",
        .family = "empty launch",
        .label = "empty launch",
        .kind = Kind::empty_launch,
        .limits = "any n; its time does not depend on n",
        .cost = {.work = "0", .span = "0", .traffic = "0"},
    };
  }

  explicit EmptyLaunch(const Problem&) {}
  Plan plan() const { return {}; }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item*, typename Op::Item*, void*, std::size_t) const {
    cuda::launch(empty_kernel, {.threads = 32, .pdl = true, .what = "launching an empty kernel"}, stream);
  }
};

const Registration registration{cuda::cuda_scan<EmptyLaunch>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
