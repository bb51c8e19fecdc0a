// Device memory that owns itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Uninitialised device memory, aligned to 256 bytes as cudaMalloc aligns it. Zero bytes give a null pointer.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws OutOfMemory, which says `bytes`.
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    const cudaError_t error = cudaMalloc(&data_, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky: the next call must not report it again
      throw OutOfMemory(bytes);
    }
    check(error, "allocating device memory");
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) cudaFree(data_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace scanlab::cuda
