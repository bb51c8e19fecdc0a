// Kernels before and after one that is timed, as a program has them: what it reads was just written, what it writes is
// read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "harness/cuda/buffer.hpp"

namespace scanlab::cuda {

class Neighbours {
 public:
  /// Throws OutOfMemory.
  Neighbours();

  /// Enqueues a kernel that reads `bytes` bytes and writes them again, unchanged. data: device memory, aligned to 16
  /// bytes.
  void produce(void* data, std::size_t bytes, cudaStream_t stream) const;
  /// Enqueues a kernel that reads `bytes` bytes. Likewise.
  void consume(const void* data, std::size_t bytes, cudaStream_t stream) const;

 private:
  int most_blocks_;
  DeviceBuffer sum_;
};

}  // namespace scanlab::cuda
