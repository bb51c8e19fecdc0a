// The ceiling of select: a copy that reads all items and flags, and writes as many items as are kept.
#include "baselines/vector_copy.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

constexpr int kThreads = 256;

__global__ void copy_some(const uint4* in, uint4* out, std::int64_t vectors, std::int64_t copied, const uint4* flags,
                          std::int64_t flag_vectors, std::uint32_t never) {
  cuda::wait_for_kernels_before();
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t seen = 0;
  if (first < flag_vectors) {
    const uint4 own = flags[first];
    seen = own.x | own.y | own.z | own.w;
  }
  if (first < vectors) {
    const uint4 own = in[first];
    if (first < copied) out[first] = own;
    seen |= own.x | own.y | own.z | own.w;
  }
  if ((seen & never) != 0) out[0] = {};  // never is 0: everything has to be read
}

class SelectCopy {
 public:
  explicit SelectCopy(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    Description about;
    about.id = "select_copy";
    about.title = "Copy of as many items as are kept, which reads all, and the flags";
    about.source = "Scanlab";
    about.family = "copy";
    about.label = "copy";
    about.primitive = Primitive::select;
    about.kind = Kind::copy;
    about.limits = "whole vectors of 16 bytes; arrays at multiples of these";
    about.checked = {{{4096, 1, 1, {.by = SegmentsBy::flags, .width = 1}}}};
    about.cost = {.work = "0", .span = "1", .traffic = "n items and flags, and the kept items"};
    return about;
  }

  Plan plan() const {
    const auto kept = problem_.results() * static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op));
    if (kept % kVector != 0 || problem_.array_bytes() % kVector != 0 || problem_.items % kVector != 0)
      return Plan::refuse("select_copy copies vectors of 16 bytes: give --items 2^20 or another multiple of 2048");
    return {};
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* flags, const typename Op::Item* in, typename Op::Item* out, void*,
           std::size_t) const {
    const auto vectors = static_cast<std::int64_t>(problem_.array_bytes() / kVector);
    if (vectors == 0) return;
    const auto copied = problem_.results() * static_cast<std::int64_t>(sizeof(typename Op::Item)) / kVector;
    const auto blocks = static_cast<int>(ceil_div(vectors, kThreads));
    cuda::launch(copy_some, {.blocks = blocks, .threads = kThreads, .pdl = true, .what = "launching a copy"}, stream,
                 reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out), vectors, copied,
                 static_cast<const uint4*>(flags), problem_.items / kVector, std::uint32_t{0});
  }

 private:
  static constexpr std::int64_t kVector = 16;
  Problem problem_;
};

const Registration registration{cuda::cuda_scan<SelectCopy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
