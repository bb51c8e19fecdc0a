// CUB's scan by key, of the newest CCCL.
#include "baselines/cub_newest.cuh"
#include "baselines/cub_segments.cuh"

namespace scanlab {
namespace {

struct CubNewestByKey : CubByKey<CubNewestByKey> {
  using CubByKey::CubByKey;

  static Description describe() {
    Description about = describe_sums(Primitive::scan_by_key);
    about.id = "cub_newest_by_key";
    about.title = "CUB DeviceScan by key, of CCCL " + newest_cccl();
    about.source = "NVIDIA CCCL " + newest_cccl() + ", cub/device/device_scan.cuh, with its defaults";
    about.label = "CUB, newest";
    return about;
  }
};

const Registration registration{cuda::cuda_scan<CubNewestByKey>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
