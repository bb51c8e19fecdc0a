// The newest CUB's look-ahead scan: bulk copies, specialised warps, tile states that hold aggregates alone. CUB chooses
// it from compute capability 10.0 on; its public tuning interface lets a user choose it on 9.0.
//
// These are CUB's own shapes for 10.0, by the bytes of an item; cub_tuned has those that were found for 9.0. An
// instantiation takes seconds to compile: none is spent on counts of 64 bits, on other operators than plus, and of
// exclusive scans only on that of i32 sums, which is timed.
#include "baselines/cub_shape.cuh"
#include "harness/cuda/launch.cuh"

namespace scanlab {
namespace {

template <class Item>
constexpr CubLookAhead shape() {
  switch (sizeof(Item)) {
    case 1:
      return {4, 159, 8};
    case 2:
      return {6, 95, 2};
    case 4:
      return std::is_same_v<Item, float> ? CubLookAhead{4, 87, 3} : CubLookAhead{4, 79, 3};
    default:
      return {2, 87, 5};
  }
}

struct CubNewestLookAhead : CubScanIn<CubNewestLookAhead> {
  using CubScanIn::CubScanIn;

  static constexpr bool kCountsSumsIn64Bits = false;
  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus;
  template <class Op>
  static constexpr bool takes_exclusive() {
    return std::is_same_v<Op, Plus<std::int32_t>>;
  }

  static Description describe() {
    return {
        .id = "cub_newest_look_ahead",
        .title = "CUB DeviceScan of CCCL " + newest_cccl() + ", look-ahead",
        .source = "NVIDIA CCCL " + newest_cccl() +
                  ", cub/device/device_scan.cuh, with cuda::execution::tune of cub::ScanAlgorithm::lookahead in the "
                  "shapes that CUB has for compute capability 10.0",
        .family = "CUB",
        .label = "CUB, newest, look-ahead",
        .overview = false,
        .limits = "up to 2^31 - 1 items of plus; exclusive: i32 sums; compute capability 9.0 and later",
        .in_place = true,               // "When d_in and d_out are equal, the scan is performed in-place"
        .bitwise_reproducible = false,  // without the requirement CUB promises none
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  template <class Op>
  static std::string refusal(std::int64_t) {
    return look_ahead_refusal(describe().id, cuda::compute_capability());
  }

  template <class Op, class F>
  static cudaError_t with_wish(std::int64_t, F f) {
    return f(::cuda::execution::tune(CubTuning<shape<typename Op::Item>()>{}));
  }
};

const bool added = add_cub_scan<CubNewestLookAhead>();

}  // namespace
}  // namespace scanlab
