// Device memory that owns itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "harness/cuda/error.hpp"
#include "harness/cuda/owned.hpp"

namespace scanlab::cuda {

/// Uninitialised device memory, aligned to 256 bytes as cudaMalloc aligns it. Zero bytes give a null pointer.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws OutOfMemory, which says `bytes`.
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* data = nullptr;
    const cudaError_t error = cudaMalloc(&data, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky: the next call must not report it again
      throw OutOfMemory(bytes);
    }
    check(error, "allocating device memory");
    data_.reset(data);
  }

  void* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  Owned<void*, cudaFree> data_;
  std::size_t bytes_ = 0;
};

}  // namespace scanlab::cuda
