// Kernels before and after one that is timed, as a program has them: what it reads was just written, what it writes is
// read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "harness/cuda/buffer.hpp"

namespace scanlab::cuda {

/// Its constructor throws OutOfMemory.
class Neighbours {
 public:
  /// Enqueues a kernel that reads `bytes` bytes and writes them again, unchanged. data: device memory, aligned to 16
  /// bytes.
  void produce(void* data, std::size_t bytes, cudaStream_t stream) const;
  /// Enqueues a kernel that reads `bytes` bytes. Likewise.
  void consume(const void* data, std::size_t bytes, cudaStream_t stream) const;

 private:
  DeviceBuffer sum_{sizeof(std::uint32_t)};
};

}  // namespace scanlab::cuda
