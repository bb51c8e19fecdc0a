// The newest CUB's scan with run-to-run determinism required: the same bits on every run of one n on one GPU.
//
// Floating-point sums alone. CUB takes the requirement for integers as well, and then runs what cub_newest runs: exact
// addition has one result in any order. Other operators and f16 it rejects at compile time.
#include "baselines/cub_newest.cuh"

namespace scanlab {
namespace {

struct CubNewestDeterministic : CubScanIn<CubNewestDeterministic> {
  using CubScanIn::CubScanIn;

  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus&& std::is_floating_point_v<typename Op::Item>;

  static Description describe() {
    return {
        .id = "cub_newest_deterministic",
        .title = "CUB DeviceScan of CCCL " + newest_cccl() + ", run-to-run determinism required",
        .source =
            "NVIDIA CCCL " + newest_cccl() +
            ", cub/device/device_scan.cuh, with cuda::execution::require(cuda::execution::determinism::run_to_run)",
        .family = "CUB",
        .label = "CUB, newest, deterministic",
        .overview = false,
        .limits = "any n; f32 and f64 sums (with integers CUB runs what cub_newest is)",
        .in_place = true,  // "When d_in and d_out are equal, the scan is performed in-place"
        .bitwise_reproducible = true,
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  template <class Op, class F>
  static cudaError_t with_wish(std::int64_t, F f) {
    return f(::cuda::execution::require(::cuda::execution::determinism::run_to_run));
  }
};

const bool added = add_cub_scan<CubNewestDeterministic>();

}  // namespace
}  // namespace scanlab
