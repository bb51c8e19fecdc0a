// The newest CUB's folds, lengths and keys of runs, tuned.
#include "baselines/cub_runs.cuh"
#include "baselines/cub_tuned_shapes.cuh"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
struct CubTunedRuns : CubTunedShapes<CubTunedRuns<kPrimitive>> {
  using Base = CubTunedShapes<CubTunedRuns>;
  using Base::Base;
  static constexpr bool kFolds = kPrimitive == Primitive::reduce_by_key, kUnique = kPrimitive == Primitive::unique;
  static constexpr auto kShapes =
      kUnique  ? std::array<BlockShape, 5>{{{320, 18}, {384, 19}, {256, 25}, {384, 13}, {512, 15}}}
      : kFolds ? std::array<BlockShape, 5>{{{256, 18}, {160, 22}, {128, 19}, {128, 21}, {384, 14}}}
               : std::array<BlockShape, 5>{{{256, 18}, {160, 22}, {128, 27}, {192, 22}, {256, 22}}};

  static Description describe() {
    constexpr CubName kName = cub_name(kPrimitive);
    return Base::describe_tuned(CubRuns<CubTunedRuns, kPrimitive>::describe_cub_runs({}, {}),
                                std::string("cub_tuned_") + kName.id, kName.function);
  }

  template <BlockShape kShape>
  struct Tuning {
    using Policy = std::conditional_t<kFolds, cub::ReduceByKeyPolicy,
                                      std::conditional_t<kUnique, cub::SelectPolicy, cub::RleEncodePolicy>>;
    __host__ __device__ constexpr Policy operator()(::cuda::compute_capability) const {
      Policy policy{};
      policy.lookback = {kShape.threads,
                         kShape.items,
                         cub::BLOCK_LOAD_WARP_TRANSPOSE,
                         cub::LOAD_DEFAULT,
                         cub::BLOCK_SCAN_WARP_SCANS,
                         {}};
      policy.lookback.lookback_delay = {cub::LookbackDelayAlgorithm::no_delay, 0, 700};
      if (kUnique) policy.lookback.lookback_delay = {cub::LookbackDelayAlgorithm::fixed_delay, 76, 1150};
      return policy;
    }
  };

  template <class Environment>
  static cudaError_t enqueue(const Problem& problem, const TunedArrays& arrays, const Environment& environment) {
    const auto [entries, in, out, count, unique] = arrays;
    const std::uint32_t* const keys = arrays.keys();
    const auto items = static_cast<int>(problem.items);
    if constexpr (kFolds) {
      return cub::DeviceReduce::ReduceByKey(keys, unique, in, out, count, ::cuda::std::plus<>{}, items, environment);
    } else if constexpr (kUnique) {
      return cub::DeviceSelect::Unique(keys, unique, count, items, environment);
    } else {
      return cub::DeviceRunLengthEncode::Encode(keys, unique, out, count, items, environment);
    }
  }
};

const Registration reduce_by_key{cuda::cuda_scan<CubTunedRuns<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration run_lengths{cuda::cuda_scan<CubTunedRuns<Primitive::run_length_encode>>(Origin::baseline)};
const Registration unique{cuda::cuda_scan<CubTunedRuns<Primitive::unique>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
