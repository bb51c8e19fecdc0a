// Shapes of CUB's scan as its public tuning interface takes them. Compiled against the newest CCCL.
#pragma once

#include "baselines/cub_newest.cuh"
#include "baselines/cub_shape.hpp"

namespace scanlab {
namespace {

constexpr cub::ScanPolicy cub_policy(const CubLookAhead& shape) {
  return {cub::ScanAlgorithm::lookahead,
          {},
          {shape.warps, shape.items, shape.ahead, shape.ahead_stages, shape.index_stages}};
}

constexpr cub::ScanPolicy cub_policy(const CubLookBack& shape) {
  return {cub::ScanAlgorithm::lookback,
          {shape.threads,
           shape.items,
           cub::BLOCK_LOAD_WARP_TRANSPOSE,
           cub::LOAD_DEFAULT,
           cub::BLOCK_STORE_WARP_TRANSPOSE,
           cub::BLOCK_SCAN_WARP_SCANS,
           {shape.delay == CubLookBack::Delay::fixed ? cub::LookbackDelayAlgorithm::fixed_delay
                                                     : cub::LookbackDelayAlgorithm::exponential_backon,
            static_cast<unsigned>(shape.nanoseconds), static_cast<unsigned>(shape.l2_latency)}},
          {}};
}

/// The selector that cuda::execution::tune needs: a policy for each compute capability. A class template, so that the
/// shape is part of the type.
template <auto kShape>
struct CubTuning {
  __host__ __device__ constexpr cub::ScanPolicy operator()(::cuda::compute_capability) const {
    return cub_policy(kShape);
  }
};

/// The addition of device_scan_in for sums, in a shape.
template <class Op, auto kShape>
using CubAdd = std::conditional_t<Op::kOperator == Operator::plus && kShape.accumulator == CubAccumulator::item,
                                  ::cuda::std::plus<typename Op::Item>, void>;

}  // namespace
}  // namespace scanlab
