// A copy by a kernel, one 16-byte vector a thread: the ceiling of scans that load and store through registers.
#include "baselines/vector_copy.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

class CopyVector {
 public:
  static Description describe() {
    return {
        .id = "copy_vector",
        .title = "Copy kernel, one 16-byte vector a thread",
        .source = "folklore",
        .family = "copy",
        .label = "copy, vectors",
        .overview = false,
        .kind = Kind::copy,
        .cost = {.work = "0", .span = "1", .traffic = "2n"},
    };
  }

  explicit CopyVector(const Problem& problem) : bytes_(static_cast<std::int64_t>(problem.array_bytes())) {}
  Plan plan() const { return {}; }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    enqueue_vector_copy(in, out, bytes_, stream);
  }

 private:
  std::int64_t bytes_;
};

const Registration registration{cuda::cuda_scan<CopyVector>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
