// The GPU model of a thread block and the machine that launches on it: as thin as can be, so that a kernel compiles to
// the same PTX as one written by hand.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "harness/cuda/error.hpp"
#include "harness/simt/thread_block.hpp"

namespace scanlab::simt {

/// Models ThreadBlock; holds nothing.
class GpuBlock {
 public:
  template <class T>
  using Global = T*;

  __device__ int thread_rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int num_threads() const { return static_cast<int>(blockDim.x); }
  __device__ std::int64_t group_index() const { return blockIdx.x; }
  __device__ void sync() const { __syncthreads(); }
  template <class T>
  __device__ T* shared(std::int64_t /*count*/, std::size_t offset_bytes = 0) const {
    extern __shared__ __align__(16) unsigned char dynamic_shared[];
    return reinterpret_cast<T*>(dynamic_shared + offset_bytes);
  }
  __device__ void step(const char*, std::int64_t) const {}
  __device__ void tally_swap() const {}
};

template <class Kernel, class... Arguments>
__global__ void __launch_bounds__(Kernel::kMaxThreads) trampoline(Kernel kernel, Arguments... arguments) {
  GpuBlock block;
  kernel(block, arguments...);
}

/// The machine that a variant's `run` launches kernels on; its twin on the CPU is Executor.
class CudaMachine {
 public:
  using Block = GpuBlock;
  template <class T>
  using Global = T*;

  explicit CudaMachine(cudaStream_t stream) : stream_(stream) {}

  /// Enqueues; throws CudaError if the launch is refused.
  template <class Kernel, class... Arguments>
  void launch(const Grid& grid, const Kernel& kernel, const Arguments&... arguments) {
    if (grid.blocks == 0) return;
    if (grid.shared_bytes > 48 * 1024) {  // more is given only to those who ask for it
      cuda::check(cudaFuncSetAttribute(trampoline<Kernel, Arguments...>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(grid.shared_bytes)),
                  Kernel::kName);
    }
    trampoline<<<static_cast<unsigned>(grid.blocks), grid.threads, grid.shared_bytes, stream_>>>(kernel, arguments...);
    cuda::check(cudaGetLastError(), Kernel::kName);
  }

  template <class T>
  static T* global(T* data, std::int64_t /*count*/, const char* /*name*/) {
    return data;
  }

 private:
  cudaStream_t stream_;
};

}  // namespace scanlab::simt
