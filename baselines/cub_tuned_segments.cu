// The newest CUB's segmented scan, tuned.
#include <cub/device/device_segmented_scan.cuh>

#include "baselines/cub_segments.cuh"
#include "baselines/cub_tuned_shapes.cuh"

namespace scanlab {
namespace {

struct CubTunedSegments : CubTunedShapes<CubTunedSegments> {
  using CubTunedShapes::CubTunedShapes;
  static constexpr std::array<BlockShape, 5> kShapes{{{128, 24}, {64, 9}, {64, 4}, {32, 8}, {32, 4}}};

  static Description describe() {
    return describe_tuned(CubSegments<CubTunedSegments>::describe_sums(Primitive::segmented_scan), "cub_tuned_segments",
                          "DeviceSegmentedScan::InclusiveSegmentedSum");
  }

  template <BlockShape kShape>
  struct Tuning {
    __host__ __device__ constexpr cub::SegmentedScanPolicy operator()(::cuda::compute_capability) const {
      constexpr int kMostSegments = 512;  // the default
      return {{kShape.threads, kShape.items, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::LOAD_DEFAULT,
               cub::BLOCK_STORE_WARP_TRANSPOSE, cub::BLOCK_SCAN_WARP_SCANS, kMostSegments}};
    }
  };

  template <class Environment>
  static cudaError_t enqueue(const Problem& problem, const TunedArrays& arrays, const Environment& environment) {
    using Scan = cub::DeviceSegmentedScan;
    const std::uint32_t* const offsets = arrays.keys();
    const std::int64_t segments = problem.segments.entries(problem.items) - 1;
    return problem.mode == Mode::inclusive
               ? Scan::InclusiveSegmentedSum(arrays.in, arrays.out, offsets, offsets + 1, segments, environment)
               : Scan::ExclusiveSegmentedSum(arrays.in, arrays.out, offsets, offsets + 1, segments, environment);
  }
};

const Registration registration{cuda::cuda_scan<CubTunedSegments>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
