// The newest CUB's selection and partition by flags, tuned.
#include "baselines/cub_select.cuh"
#include "baselines/cub_tuned_shapes.cuh"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
struct CubTunedFlagged : CubTunedShapes<CubTunedFlagged<kPrimitive>> {
  using Base = CubTunedShapes<CubTunedFlagged>;
  using Base::Base;
  static constexpr bool kPartition = kPrimitive == Primitive::partition;
  static constexpr auto kShapes = kPartition ? std::array<BlockShape, 4>{{{256, 22}, {256, 18}, {192, 24}, {320, 17}}}
                                             : std::array<BlockShape, 4>{{{384, 15}, {384, 13}, {256, 19}, {512, 11}}};

  static Description describe() {
    return Base::describe_tuned(CubFlagged<CubTunedFlagged, kPrimitive>::describe_flagged({}),
                                "cub_tuned_" + std::string(name(kPrimitive)),
                                kPartition ? "DevicePartition::Flagged" : "DeviceSelect::Flagged");
  }

  template <BlockShape kShape>
  struct Tuning {
    using Policy = std::conditional_t<kPartition, cub::PartitionPolicy, cub::SelectPolicy>;
    __host__ __device__ constexpr Policy operator()(::cuda::compute_capability) const {
      Policy policy{};
      policy.lookback = {
          kShape.threads,
          kShape.items,
          cub::BLOCK_LOAD_DIRECT,
          cub::LOAD_DEFAULT,
          cub::BLOCK_SCAN_WARP_SCANS,
          {cub::LookbackDelayAlgorithm::fixed_delay, kPartition ? 72u : 100u, kPartition ? 1165u : 1100u}};
      return policy;
    }
  };

  template <class Environment>
  static cudaError_t enqueue(const Problem& problem, const TunedArrays& arrays, const Environment& environment) {
    const auto* const flags = static_cast<const std::uint8_t*>(arrays.entries);
    const auto items = static_cast<int>(problem.items);
    if constexpr (kPartition) {
      return cub::DevicePartition::Flagged(arrays.in, flags, arrays.out, arrays.count, items, environment);
    } else {
      return cub::DeviceSelect::Flagged(arrays.in, flags, arrays.out, arrays.count, items, environment);
    }
  }
};

const Registration of_select{cuda::cuda_scan<CubTunedFlagged<Primitive::select>>(Origin::baseline)};
const Registration of_partition{cuda::cuda_scan<CubTunedFlagged<Primitive::partition>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
