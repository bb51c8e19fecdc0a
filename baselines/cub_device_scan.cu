// CUB's device-wide scan: what the hand-written scans are measured against.
//
// One pass with decoupled look-back (Merrill & Garland 2016): every item is read once and written once, and a tile
// learns what is before it from its predecessors' published aggregates and prefixes. Called as CUB's manual calls it,
// with the operators that CUB recognises, so that it may choose its tuned policies.
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <limits>

#include "baselines/cub_chain.hpp"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

// Counts of more than 31 bits came with CUB 2.7; before, DeviceScan took an int.
constexpr bool kTakes64BitCounts = CUB_VERSION >= 200700;

#if CUB_VERSION >= 200800
using Maximum = ::cuda::maximum<>;
#else
using Maximum = cub::Max;
#endif

/// Calls DeviceScan with `op` in CUB's terms. With a null workspace it only writes the bytes it needs.
template <class Op, class Count>
cudaError_t device_scan(Mode mode, void* workspace, std::size_t& bytes, const typename Op::Item* in,
                        typename Op::Item* out, Count count, cudaStream_t stream) {
  using Scan = cub::DeviceScan;
  if constexpr (Op::kOperator == Operator::plus) {
    return mode == Mode::inclusive ? Scan::InclusiveSum(workspace, bytes, in, out, count, stream)
                                   : Scan::ExclusiveSum(workspace, bytes, in, out, count, stream);
  } else {
    const auto op = [] {
      if constexpr (Op::kOperator == Operator::max) {
        return Maximum{};
      } else {
        return Op{};
      }
    }();
    return mode == Mode::inclusive ? Scan::InclusiveScan(workspace, bytes, in, out, op, count, stream)
                                   : Scan::ExclusiveScan(workspace, bytes, in, out, op, Op::identity(), count, stream);
  }
}

class CubDeviceScan {
 public:
  static Description describe() {
    return {
        .id = "cub_device_scan",
        .title = "CUB DeviceScan",
        .source =
            "NVIDIA CCCL, cub/device/device_scan.cuh; decoupled look-back: D. Merrill and M. Garland, "
            "Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002, 2016",
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  explicit CubDeviceScan(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (!kTakes64BitCounts && problem_.items > std::numeric_limits<int>::max()) {
      return Plan::refuse("this version of CUB counts items in 32 bits");
    }
    Plan plan;
    const cudaError_t error = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      return enqueue<Op>(nullptr, plan.workspace_bytes, nullptr, nullptr, nullptr);
    });
    if (error != cudaSuccess) {
      return Plan::refuse(std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error));
    }
    plan.chain = cub_chain(problem_);
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t bytes) const {
    cuda::check(enqueue<Op>(workspace, bytes, in, out, stream), "cub::DeviceScan");
  }

 private:
  /// 32-bit counts wherever they suffice, as a caller who knows n would.
  template <class Op>
  cudaError_t enqueue(void* workspace, std::size_t& bytes, const typename Op::Item* in, typename Op::Item* out,
                      cudaStream_t stream) const {
    if constexpr (kTakes64BitCounts) {
      if (problem_.items > std::numeric_limits<int>::max()) {
        return device_scan<Op>(problem_.mode, workspace, bytes, in, out, problem_.items, stream);
      }
    }
    return device_scan<Op>(problem_.mode, workspace, bytes, in, out, static_cast<int>(problem_.items), stream);
  }

  Problem problem_;
};

const Registration registration{cuda::cuda_scan<CubDeviceScan>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
