// A device-to-device copy of the input: the ceiling. A scan must read and write every item once, as a copy does.
#include "baselines/device_copy.cuh"

namespace scanlab {
namespace {

struct Memcpy : DeviceCopy {
  using DeviceCopy::DeviceCopy;

  static Description describe() {
    return {
        .id = "memcpy",
        .title = "Device-to-device copy",
        .source = "cudaMemcpyAsync, CUDA Runtime API",
        .family = "copy",
        .kind = Kind::copy,
        .cost = {.work = "0", .span = "1", .traffic = "2n"},
    };
  }
};

const Registration registration{cuda::cuda_scan<Memcpy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
