// Device memory of another process, for as long as this one reaches it.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

namespace scanlab::cuda {

class OpenedMemory {
 public:
  /// Opens the handle that the other process made. On failure `error` is set, and data() is null.
  OpenedMemory(const cudaIpcMemHandle_t& handle, cudaError_t& error) {
    error = cudaIpcOpenMemHandle(&data_, handle, cudaIpcMemLazyEnablePeerAccess);
    if (error == cudaSuccess) return;
    cudaGetLastError();  // not sticky: the next call must not report it again
    data_ = nullptr;
  }
  ~OpenedMemory() {
    if (data_ != nullptr) cudaIpcCloseMemHandle(data_);
  }
  OpenedMemory(OpenedMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  OpenedMemory& operator=(OpenedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace scanlab::cuda
