// my_cuda_scan: a plain CUDA kernel, one thread.
//
// Idea     The thread reads an item, adds it to the sum of all before, and writes the result.
// Work     n additions.
// Span     n.
// Traffic  2n items.
// Source   folklore
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab::scan {
namespace {

template <class Op>
__global__ void my_kernel(const typename Op::Item* in, typename Op::Item* out, std::int64_t n, Mode mode, Op op) {
  cuda::wait_for_kernels_before();
  typename Op::Item sum = Op::identity();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto before = sum;
    sum = op(sum, in[i]);
    out[i] = mode == Mode::inclusive ? sum : before;
  }
}

struct MyCudaScan {
  // The types and operators for which it is compiled; omit this for all.
  template <class Op>
  static constexpr bool kTakes = true;

  explicit MyCudaScan(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    Description about;
    about.id = "my_cuda_scan";
    about.title = "A plain CUDA kernel";
    about.source = "folklore";
    return about;
  }

  // Refuses the problem, or plans it. `chain` is the longest chain of additions: the d of the error bound.
  Plan plan() const {
    if (problem_.items > 1 << 24) return Plan::refuse("my_cuda_scan takes 2^24 items at most: one thread adds them up");
    return {.chain = problem_.items};
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* /*workspace*/,
           std::size_t /*its bytes*/) const {
    cuda::launch(my_kernel<Op>, {.pdl = true, .what = "my_kernel"}, stream, in, out, problem_.items, problem_.mode, op);
  }

 private:
  Problem problem_;
};

const Registration kMyCudaScan{cuda::cuda_scan<MyCudaScan>()};

}  // namespace
}  // namespace scanlab::scan
#endif
