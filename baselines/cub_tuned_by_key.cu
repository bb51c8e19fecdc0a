// The newest CUB's scan by key, tuned.
#include "baselines/cub_segments.cuh"
#include "baselines/cub_tuned_shapes.cuh"

namespace scanlab {
namespace {

struct CubTunedByKey : CubTunedShapes<CubTunedByKey> {
  using CubTunedShapes::CubTunedShapes;
  static constexpr std::array<BlockShape, 7> kShapes{
      {{128, 23}, {128, 19}, {128, 27}, {128, 31}, {192, 23}, {256, 23}, {256, 18}}};

  static Description describe() {
    return describe_tuned(CubSegments<CubTunedByKey>::describe_sums(Primitive::scan_by_key), "cub_tuned_by_key",
                          "DeviceScan::InclusiveSumByKey");
  }

  template <BlockShape kShape>
  struct Tuning {
    __host__ __device__ constexpr cub::ScanByKeyPolicy operator()(::cuda::compute_capability) const {
      // On an H200 a fixed delay is faster than none, the default.
      return {cub::ScanByKeyAlgorithm::lookback,
              {kShape.threads,
               kShape.items,
               cub::BLOCK_LOAD_WARP_TRANSPOSE,
               cub::LOAD_DEFAULT,
               cub::BLOCK_STORE_WARP_TRANSPOSE,
               cub::BLOCK_SCAN_WARP_SCANS,
               {cub::LookbackDelayAlgorithm::fixed_delay, 400, 700}}};
    }
  };

  template <class Environment>
  static cudaError_t enqueue(const Problem& problem, const TunedArrays& arrays, const Environment& environment) {
    const auto count = static_cast<std::uint32_t>(problem.items);
    const ::cuda::std::equal_to<> equal;
    return problem.mode == Mode::inclusive
               ? cub::DeviceScan::InclusiveSumByKey(arrays.keys(), arrays.in, arrays.out, count, equal, environment)
               : cub::DeviceScan::ExclusiveSumByKey(arrays.keys(), arrays.in, arrays.out, count, equal, environment);
  }
};

const Registration registration{cuda::cuda_scan<CubTunedByKey>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
