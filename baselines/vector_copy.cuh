// A copy by ordinary loads and stores, one vector a thread, between pointers of any alignment.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "harness/core/variant.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab {

/// The part that is copied as vectors, and the bytes before and after it.
struct VectorSplit {
  std::int64_t head = 0;  ///< bytes until both pointers are aligned to a vector
  std::int64_t vectors = 0;
  std::int64_t tail = 0;  ///< bytes after the last whole vector
};

/// Whether some number of bytes further on both pointers are aligned to `vector_bytes`.
inline bool align_together(const void* a, const void* b, std::size_t vector_bytes) {
  return (reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) % vector_bytes == 0;
}

inline VectorSplit split(const void* in, std::int64_t bytes, std::int64_t vector_bytes) {
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(in) % vector_bytes);
  const std::int64_t head = std::min(bytes, past == 0 ? 0 : vector_bytes - past);
  return {head, (bytes - head) / vector_bytes, (bytes - head) % vector_bytes};
}

/// Copies the bytes before and after the vectors. The first threads of a grid do it: there are fewer of each than a
/// vector has.
__device__ inline void copy_ends(const char* in, char* out, const VectorSplit& split, std::int64_t vector_bytes,
                                 std::int64_t thread) {
  if (thread < split.head) out[thread] = in[thread];
  const std::int64_t end = split.head + split.vectors * vector_bytes + thread;
  if (thread < split.tail) out[end] = in[end];
}

template <class Vector>
__global__ void vector_copy_kernel(const char* in, char* out, VectorSplit split) {
  cuda::wait_for_kernels_before();
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < split.vectors) {
    reinterpret_cast<Vector*>(out + split.head)[i] = reinterpret_cast<const Vector*>(in + split.head)[i];
  }
  copy_ends(in, out, split, sizeof(Vector), i);
}

template <class Vector>
void enqueue_vector_copy_of(const void* in, void* out, std::int64_t bytes, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const VectorSplit pieces = split(in, bytes, sizeof(Vector));
  const auto blocks = static_cast<int>(std::max<std::int64_t>(ceil_div(pieces.vectors, kThreads), 1));
  cuda::launch(vector_copy_kernel<Vector>,
               {.blocks = blocks, .threads = kThreads, .pdl = true, .what = "launching a copy by vectors"}, stream,
               static_cast<const char*>(in), static_cast<char*>(out), pieces);
}

/// Vectors of 16 bytes, or the largest that both pointers can be aligned to.
inline void enqueue_vector_copy(const void* in, void* out, std::int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  if (align_together(in, out, 16)) return enqueue_vector_copy_of<uint4>(in, out, bytes, stream);
  if (align_together(in, out, 8)) return enqueue_vector_copy_of<std::uint64_t>(in, out, bytes, stream);
  if (align_together(in, out, 4)) return enqueue_vector_copy_of<std::uint32_t>(in, out, bytes, stream);
  if (align_together(in, out, 2)) return enqueue_vector_copy_of<std::uint16_t>(in, out, bytes, stream);
  enqueue_vector_copy_of<std::uint8_t>(in, out, bytes, stream);
}

}  // namespace scanlab
