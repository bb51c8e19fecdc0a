// Kernels that are loaded before they are launched.
#pragma once

#include <cuda_runtime.h>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Loads a kernel on the current device. The runtime loads it at its first launch otherwise, and that may wait for the
/// device: for ever, where a kernel that runs waits for another rank, whose launch waits for the same lock of the
/// driver ("Lazy Loading", CUDA C++ Programming Guide).
template <class... Parameters>
void load(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

}  // namespace scanlab::cuda
