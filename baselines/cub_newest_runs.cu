// CUB's folds and lengths of runs, of the newest CCCL.
#include "baselines/cub_newest.cuh"
#include "baselines/cub_runs.cuh"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
struct Runs : CubRuns<Runs<kPrimitive>, kPrimitive> {
  using CubRuns<Runs, kPrimitive>::CubRuns;

  static Description describe() {
    constexpr bool kLengths = kPrimitive == Primitive::run_length_encode;
    const std::string of = newest_cccl();
    Description about = Runs::describe_cub_runs();
    about.id = kLengths ? "cub_newest_run_lengths" : "cub_newest_reduce_by_key";
    about.title = std::string(kLengths ? "CUB DeviceRunLengthEncode" : "CUB DeviceReduce by key") + " of CCCL " + of;
    about.source = "NVIDIA CCCL " + of +
                   (kLengths ? ", cub/device/device_run_length_encode.cuh: Encode"
                             : ", cub/device/device_reduce.cuh: ReduceByKey");
    about.label = "CUB, newest";
    return about;
  }
};

const Registration reduce_by_key{cuda::cuda_scan<Runs<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration run_lengths{cuda::cuda_scan<Runs<Primitive::run_length_encode>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
