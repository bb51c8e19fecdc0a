// CUB's selection by flags, of the toolkit's CCCL.
#include "baselines/cub_select.cuh"

namespace scanlab {
namespace {

struct CubSelect : CubFlagged<CubSelect> {
  using CubFlagged::CubFlagged;

  static Description describe() {
    Description about = describe_flagged();
    about.id = "cub_select";
    about.title = "CUB DeviceSelect";
    about.source = "NVIDIA CCCL of the CUDA toolkit, cub/device/device_select.cuh";
    about.label = "CUB";
    return about;
  }
};

const Registration registration{cuda::cuda_scan<CubSelect>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
