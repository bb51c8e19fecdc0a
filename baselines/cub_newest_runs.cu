// CUB's folds, lengths and keys of runs, of the newest CCCL.
#include "baselines/cub_newest.cuh"
#include "baselines/cub_runs.cuh"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
struct Runs : CubRuns<Runs<kPrimitive>, kPrimitive> {
  using CubRuns<Runs, kPrimitive>::CubRuns;

  static Description describe() {
    Description about = Runs::describe_cub_runs("newest_", newest_cccl());
    about.label = "CUB, newest";
    return about;
  }
};

const Registration reduce_by_key{cuda::cuda_scan<Runs<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration run_lengths{cuda::cuda_scan<Runs<Primitive::run_length_encode>>(Origin::baseline)};
const Registration unique{cuda::cuda_scan<Runs<Primitive::unique>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
