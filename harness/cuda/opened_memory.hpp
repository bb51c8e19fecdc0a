// Device memory of another process, for as long as this one reaches it.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/cuda/owned.hpp"

namespace scanlab::cuda {

class OpenedMemory {
 public:
  /// Opens the handle that the other process made. On failure `error` is set, and data() is null.
  OpenedMemory(const cudaIpcMemHandle_t& handle, cudaError_t& error) {
    void* data = nullptr;
    error = cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess);
    if (error == cudaSuccess) {
      data_.reset(data);
    } else {
      cudaGetLastError();  // not sticky: the next call must not report it again
    }
  }
  void* data() const { return data_.get(); }

 private:
  Owned<void*, cudaIpcCloseMemHandle> data_;
};

}  // namespace scanlab::cuda
