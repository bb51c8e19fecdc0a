// CUB's selection by flags, of the newest CCCL.
#include "baselines/cub_newest.cuh"
#include "baselines/cub_select.cuh"

namespace scanlab {
namespace {

struct CubNewestSelect : CubFlagged<CubNewestSelect> {
  using CubFlagged::CubFlagged;

  static Description describe() {
    Description about = describe_flagged();
    about.id = "cub_newest_select";
    about.title = "CUB DeviceSelect of CCCL " + newest_cccl();
    about.source = "NVIDIA CCCL " + newest_cccl() + ", cub/device/device_select.cuh, with its defaults";
    about.label = "CUB, newest";
    return about;
  }
};

const Registration registration{cuda::cuda_scan<CubNewestSelect>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
