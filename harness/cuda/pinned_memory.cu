#include "harness/cuda/pinned_memory.hpp"

#include <algorithm>
#include <new>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

HostArray pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: the next call must not report it again
    throw std::bad_alloc();
  }
  check(error, "allocating pinned memory");
  return {static_cast<std::byte*>(memory), [](std::byte* pinned) { cudaFreeHost(pinned); }};
}

}  // namespace scanlab::cuda
