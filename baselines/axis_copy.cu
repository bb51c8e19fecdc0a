// A device-to-device copy of a tensor: the ceiling of scans along an axis, which move the same bytes.
#include "baselines/device_copy.cuh"

namespace scanlab {
namespace {

struct AxisCopy : DeviceCopy {
  using DeviceCopy::DeviceCopy;

  static Description describe() {
    Description about;
    about.id = "axis_copy";
    about.title = "Device-to-device copy of a tensor";
    about.source = "cudaMemcpyAsync, CUDA Runtime API";
    about.family = "copy";
    about.label = "memcpy";
    about.primitive = Primitive::scan_axis;
    about.kind = Kind::copy;
    about.checked = {{{32, 64}}, {{33, 3, 33}}};
    about.cost = {.work = "0", .span = "1", .traffic = "2n"};
    return about;
  }
};

const Registration registration{cuda::cuda_scan<AxisCopy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
