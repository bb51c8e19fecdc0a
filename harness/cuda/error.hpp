// CUDA errors as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace scanlab::cuda {

struct CudaError : std::runtime_error {
  CudaError(cudaError_t error, const char* doing)
      : std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(error)), code(error) {}
  cudaError_t code;
};

/// Device memory that could not be had. Recoverable: the case is skipped, the sweep goes on.
struct OutOfMemory : std::runtime_error {
  explicit OutOfMemory(std::size_t wanted)
      : std::runtime_error("out of GPU memory: wanted " + std::to_string(wanted) + " bytes"), bytes(wanted) {}
  std::size_t bytes;
};

/// Throws CudaError unless `error` is success. `doing` says what was tried.
inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
#if defined(__cpp_exceptions)
  throw CudaError(error, doing);
#else  // of those who include a kernel's header: they call nothing that comes here
  (void)doing;
  std::abort();
#endif
}

}  // namespace scanlab::cuda
