// axis_columns: launches the kernel of axis_columns.cuh, which says how it works.
#include "variants/scan_axis/axis.hpp"
#include "variants/scan_axis/axis_launch.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"

namespace scanlab::scan_axis {
namespace {

class AxisColumns {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(true);
    about.id = "axis_columns";
    about.title = "One pass over tiles of columns";
    about.source = "Scanlab";
    about.family = "single pass";
    about.limits = "any shape";
    about.bitwise_reproducible = false;
    about.cost.work = "about 2n";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit AxisColumns(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kAxis<Op>) {
        const auto columns = scan_of<Op>();
        const cudaError_t error = columns.try_allow(shared_bytes_);
        if (error == cudaErrorNotSupported) {
          plan = Plan::refuse("axis_columns needs compute capability 8.0 and 96 KiB of shared memory a block");
          return;
        }
        cuda::check(error, "asking for shared memory");
        plan.workspace_bytes = columns.workspace_bytes();
        plan.chain = std::min(columns.chain(), problem_.axis());
      }
    });
    return plan;
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    cuda::check(scan_of<Op>().try_prepare(workspace, stream), "preparing axis_columns");
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t) const {
    cuda::check(scan_of<Op>().try_run(workspace, in, out, problem_.mode, op, stream), "launching axis_columns");
  }

 private:
  template <class Op>
  ColumnScan<Op> scan_of() const {
    return {{problem_.rows, problem_.axis(), problem_.inner}, multiprocessors_, shared_bytes_};
  }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
  std::size_t shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
};

const Registration kAxisColumns{cuda::cuda_scan<AxisColumns>()};

}  // namespace
}  // namespace scanlab::scan_axis
#endif
