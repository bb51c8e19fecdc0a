// CUB's scan by key, of the toolkit.
#include "baselines/cub_segments.cuh"

namespace scanlab {
namespace {

struct CubOfToolkit : CubByKey<CubOfToolkit> {
  using CubByKey::CubByKey;

  static Description describe() {
    Description about = describe_sums(Primitive::scan_by_key);
    about.id = "cub_by_key";
    about.title = "CUB DeviceScan by key";
    about.source = "NVIDIA CCCL, cub/device/device_scan.cuh: InclusiveSumByKey, ExclusiveSumByKey";
    about.label = "CUB";
    return about;
  }
};

const Registration registration{cuda::cuda_scan<CubOfToolkit>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
