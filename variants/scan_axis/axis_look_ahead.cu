// axis_look_ahead: launches the kernel of axis_look_ahead.cuh, which says how it works.
#include "variants/scan_axis/axis.hpp"
#include "variants/scan_axis/axis_launch.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"

namespace scanlab::scan_axis {
namespace {

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

  explicit AxisLookAhead(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse("axis_look_ahead needs compute capability 9.0: it copies in bulk");
    if (problem_.inner != 1)
      return Plan::refuse("axis_look_ahead scans items that lie side by side: leave out --inner");
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kAxis<Op>) {
        const auto rows = scan_of<Op>();
        cuda::check(rows.try_allow(shared_bytes_), "asking for shared memory");
        plan.workspace_bytes = rows.workspace_bytes();
        plan.chain = std::min(rows.chain(), problem_.axis());
      }
    });
    return plan;
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    cuda::check(scan_of<Op>().try_prepare(workspace, stream), "preparing axis_look_ahead");
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t) const {
    cuda::check(scan_of<Op>().try_run(workspace, in, out, problem_.mode, op, stream), "launching axis_look_ahead");
  }

 private:
  template <class Op>
  RowScan<Op> scan_of() const {
    return {{problem_.rows, problem_.axis(), problem_.inner}, multiprocessors_, shared_bytes_};
  }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
  std::size_t shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
};

const Registration kAxisLookAhead{cuda::cuda_scan<AxisLookAhead>()};

}  // namespace
}  // namespace scanlab::scan_axis
#endif
