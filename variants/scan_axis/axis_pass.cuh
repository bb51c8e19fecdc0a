// Shared by the passes along an axis: they differ in the scan that they launch, and in what they refuse.
#pragma once

#include "variants/scan_axis/axis.hpp"
#include "variants/scan_axis/axis_launch.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"

namespace scanlab::scan_axis {

/// The base of a scan that describes itself and has
///   template <Associative Op> using Scan = …;           // RowScan, or ColumnScan
///   static std::string refusal(const Problem&);         // empty: it takes the problem
///   static constexpr const char* kNeeds = …;            // what a device without the means is told
template <class Variant>
class AxisPass {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe_pass() {
    Description about = describe_axis(true);
    about.family = "single pass";
    about.cost.work = "about 2n";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit AxisPass(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (std::string reason = Variant::refusal(problem_); !reason.empty()) return Plan::refuse(std::move(reason));
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kAxis<Op>) {
        const auto scan = scan_of<Op>();
        const cudaError_t error = scan.try_allow(shared_bytes_);
        if (error == cudaErrorNotSupported) {
          plan = Plan::refuse(Variant::kNeeds);
          return;
        }
        cuda::check(error, "asking for shared memory");
        plan.workspace_bytes = scan.workspace_bytes();
        plan.chain = std::min(scan.chain(), problem_.axis());
      }
    });
    return plan;
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    cuda::check(scan_of<Op>().try_prepare(workspace, stream), "preparing a scan along an axis");
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t) const {
    cuda::check(scan_of<Op>().try_run(workspace, in, out, problem_.mode, op, stream), "launching a scan along an axis");
  }

 private:
  template <class Op>
  auto scan_of() const {
    using Scan = typename Variant::template Scan<Op>;
    return Scan({problem_.rows, problem_.axis(), problem_.inner}, multiprocessors_, shared_bytes_);
  }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
  std::size_t shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
};

}  // namespace scanlab::scan_axis
#endif
