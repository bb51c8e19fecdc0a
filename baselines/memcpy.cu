// A device-to-device copy of the input: the ceiling. A scan must read and write every item once, as a copy does.
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

class Memcpy {
 public:
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

  explicit Memcpy(const Problem& problem) : bytes_(problem.ideal_bytes() / 2) {}
  Plan plan() const { return {}; }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    cuda::check(cudaMemcpyAsync(out, in, bytes_, cudaMemcpyDeviceToDevice, stream), "copying on the device");
  }

 private:
  std::size_t bytes_;
};

const Registration registration{cuda::cuda_scan<Memcpy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
