// A device-to-device copy of a tensor: the ceiling of scans along an axis, which move the same bytes.
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

class AxisCopy {
 public:
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

  explicit AxisCopy(const Problem& problem) : bytes_(problem.ideal_bytes() / 2) {}
  Plan plan() const { return {}; }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    cuda::check(cudaMemcpyAsync(out, in, bytes_, cudaMemcpyDeviceToDevice, stream), "copying on the device");
  }

 private:
  std::size_t bytes_;
};

const Registration registration{cuda::cuda_scan<AxisCopy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
