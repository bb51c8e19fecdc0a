// Forms of look_ahead that lack one of its ideas, each a kernel of its own: what an idea is worth is the time without
// it over the time with it. They have few types and operators, which speak for all.
#pragma once

#include "variants/scan/look_ahead_roles.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan {

/// The base form, of which each experiment changes a part.
template <Associative Op>
struct UsualParts {
  using Form = UsualForm;
  const Arguments<Op>& scan;

  __device__ const Arguments<Op>& of_scan() const { return scan; }
  __device__ TileAggregates<Op> aggregates() const { return scan.aggregates(); }
};

/// Block b of k takes the tiles b, b + k, b + 2 k, … instead of drawing them. Safe only where all blocks are on the
/// device at once.
template <Associative Op>
struct StaticTiles : UsualParts<Op> {
  struct Form : UsualForm {
    static constexpr bool kDraws = false;
  };
};

/// A tile's own group of states is asked for at once, whatever the number of tiles.
template <Associative Op>
struct AskedAtOnce : UsualParts<Op> {
  __device__ TileAggregates<Op> aggregates() const { return {this->scan.states, this->scan.op}; }
};

/// Heavy operators in the form of the others: the scan warps fold again what the reduce warps folded.
template <Associative Op>
struct FoldedAgain : UsualParts<Op> {
  struct Form : UsualForm {
    static constexpr bool kKeeps = false;
  };
};

/// Every lane arrives at a barrier for itself. racecheck knows no other way to hand shared memory over, so that it can
/// check the rest of the kernel in this form.
template <Associative Op>
struct EveryLaneArrives : UsualParts<Op> {
  struct Form : UsualForm {
    static constexpr bool kEveryLaneArrives = true;
  };
};

template <Associative Op, template <class> class Changed>
__global__ void __launch_bounds__(Shape{.warps = kMaxReduceWarps<Op>}.threads(), 1)
    look_ahead_with(const __grid_constant__ Arguments<Op> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  const Changed<Op> given{{arguments}};
  LookAheadBlock<Op, cuda::NoWatch, Changed<Op>>(given, shared).run();
#else
  __trap();
#endif
}

/// An experiment, the setting of look_ahead that asks for it, and the types and operators that it is compiled for.
struct ExperimentalKernel {
  enum class What { static_tiles, asked_at_once, folded_again, every_lane_arrives } what;
  const char* parameter;
  const char* value;
  const char* takes;
};
inline constexpr ExperimentalKernel kExperimentalKernels[] = {
    {ExperimentalKernel::What::static_tiles, "assignment", "static", "sums of four bytes"},
    {ExperimentalKernel::What::asked_at_once, "asking", "at_once", "sums of four bytes"},
    {ExperimentalKernel::What::folded_again, "folding", "repeated", "log_sum_exp of f32"},
    {ExperimentalKernel::What::every_lane_arrives, "arrivals", "lane", "sums of four bytes, and log_sum_exp of f32"}};

template <Associative Op>
using LookAheadKernel = void (*)(Arguments<Op>);

/// nullptr: there is none for the operator.
template <Associative Op>
LookAheadKernel<Op> experimental_kernel(ExperimentalKernel::What what) {
  using enum ExperimentalKernel::What;
  constexpr bool kHeavy = Op::kOperator == Operator{"log_sum_exp"} && sizeof(typename Op::Item) == 4;
  if constexpr (kSpeaksForAll<Op>) {
    if (what == static_tiles) return look_ahead_with<Op, StaticTiles>;
    if (what == asked_at_once) return look_ahead_with<Op, AskedAtOnce>;
    if (what == every_lane_arrives) return look_ahead_with<Op, EveryLaneArrives>;
  } else if constexpr (kHeavy) {
    if (what == folded_again) return look_ahead_with<Op, FoldedAgain>;
    if (what == every_lane_arrives) return look_ahead_with<Op, EveryLaneArrives>;
  }
  return nullptr;
}

}  // namespace scanlab::scan
#endif
