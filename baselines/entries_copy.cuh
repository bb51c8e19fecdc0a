// A copy of the items that also reads the keys or offsets: the same bytes as a scan by key or of segments must move.
#pragma once

#include "baselines/vector_copy.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab {

template <class Vector>
__global__ void copy_and_read(const char* in, char* out, VectorSplit split, const uint4* entries, std::int64_t vectors,
                              std::uint32_t never) {
  cuda::wait_for_kernels_before();
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t seen = 0;
  for (std::int64_t i = first; i < vectors; i += std::int64_t{gridDim.x} * blockDim.x) {
    const uint4 entry = entries[i];
    seen |= entry.x | entry.y | entry.z | entry.w;
  }
  if (first < split.vectors) {
    reinterpret_cast<Vector*>(out + split.head)[first] = reinterpret_cast<const Vector*>(in + split.head)[first];
  }
  copy_ends(in, out, split, sizeof(Vector), first);
  if ((seen & never) != 0) out[0] = 0;  // never is 0: the entries have to be read
}

/// The base of a copy that describes itself.
class EntriesCopy {
 public:
  explicit EntriesCopy(const Problem& problem) : problem_(problem) {}
  Plan plan() const { return {}; }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const typename Op::Item* in, typename Op::Item* out, void*,
           std::size_t) const {
    const auto bytes = static_cast<std::int64_t>(problem_.array_bytes());
    if (bytes == 0) return;
    if (align_together(in, out, 16)) return enqueue<uint4>(in, out, bytes, entries, stream);
    enqueue<typename Op::Element>(in, out, bytes, entries, stream);
  }

 protected:
  static Description describe_copy(Primitive primitive) {
    Description about;
    about.title = "Copy that reads the keys or offsets, too";
    about.source = "Scanlab";
    about.family = "copy";
    about.label = "copy";
    about.primitive = primitive;
    about.kind = Kind::copy;
    about.in_place = true;
    about.checked = {{{1000, 1, 1, {segments_by(primitive), 20}}}, {{70'001, 1, 1, {segments_by(primitive), 20}}}};
    about.cost = {.work = "0", .span = "1", .traffic = "2n, and the keys or offsets"};
    return about;
  }

 private:
  template <class Vector>
  void enqueue(const void* in, void* out, std::int64_t bytes, const void* entries, cudaStream_t stream) const {
    constexpr int kThreads = 256;
    const VectorSplit pieces = split(in, bytes, sizeof(Vector));
    const auto blocks = static_cast<int>(std::max<std::int64_t>(ceil_div(pieces.vectors, kThreads), 1));
    const auto vectors = static_cast<std::int64_t>(problem_.segments.array_bytes(problem_.items) / sizeof(uint4));
    cuda::launch(copy_and_read<Vector>,
                 {.blocks = blocks, .threads = kThreads, .pdl = true, .what = "launching a copy"}, stream,
                 static_cast<const char*>(in), static_cast<char*>(out), pieces, static_cast<const uint4*>(entries),
                 vectors, std::uint32_t{0});
  }

  Problem problem_;
};

}  // namespace scanlab
