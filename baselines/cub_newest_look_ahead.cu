// The newest CUB's look-ahead scan: bulk copies, specialised warps, tile states that hold aggregates alone. CUB chooses
// it from compute capability 10.0 on; its public tuning interface lets a user choose it on 9.0.
//
// Nobody has tuned it for 9.0; these are CUB's own shapes for 10.0, by the bytes of an item. An instantiation takes
// seconds to compile: none is spent on counts of 64 bits, on operators that the full sweep does not have, and of
// exclusive scans only on that of i32 sums, which is timed.
#include "baselines/cub_newest.cuh"

namespace scanlab {
namespace {

/// Warps that reduce and as many that scan, items a thread, and items that a look-ahead lane fetches at once.
template <class Item>
constexpr cub::ScanLookaheadPolicy shape() {
  switch (sizeof(Item)) {
    case 1:
      return {4, 159, 8};
    case 2:
      return {6, 95, 2};
    case 4:
      return std::is_same_v<Item, float> ? cub::ScanLookaheadPolicy{4, 87, 3} : cub::ScanLookaheadPolicy{4, 79, 3};
    case 8:
      return {2, 87, 5};
    default:
      return {5, 15, 8};
  }
}

template <class Item>
struct LookAhead {
  __host__ __device__ constexpr cub::ScanPolicy operator()(::cuda::compute_capability) const {
    return {cub::ScanAlgorithm::lookahead, {}, kShape};
  }
  static constexpr cub::ScanLookaheadPolicy kShape = shape<Item>();
};

struct CubNewestLookAhead : CubScanIn<CubNewestLookAhead> {
  using CubScanIn::CubScanIn;

  static constexpr bool kCountsSumsIn64Bits = false;
  template <class Op>
  static constexpr bool kTakes = kBasic<Op>;
  template <class Op>
  static constexpr bool takes_exclusive() {
    return Op::kOperator == Operator::plus && std::is_same_v<typename Op::Item, std::int32_t>;
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
        .limits = "up to 2^31 - 1 items of plus, max, min and affine; exclusive: i32 sums",
        .in_place = true,     // "When d_in and d_out are equal, the scan is performed in-place"
        .fixed_bits = false,  // without the requirement CUB promises none
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  template <class Op>
  static auto wish() {
    return ::cuda::execution::tune(LookAhead<typename Op::Item>{});
  }
};

const Registration registration{cuda::cuda_scan<CubNewestLookAhead>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
