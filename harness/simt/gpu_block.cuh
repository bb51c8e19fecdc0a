// The GPU model of a thread block and the machine that launches on it: as thin as can be, so that a kernel compiles to
// the same PTX as one written by hand.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "harness/cuda/error.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/simt/gpu_words.cuh"
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

  __device__ int lane() const { return static_cast<int>(threadIdx.x % kWarpLanes); }
  __device__ int warp() const { return static_cast<int>(threadIdx.x / kWarpLanes); }
  __device__ void sync_warp() const { __syncwarp(); }
  template <Shuffled T>
  __device__ T shuffle_up(const T& value, int delta) const {
    return change_words(value, [=](unsigned word) { return __shfl_up_sync(kAllLanes, word, delta); });
  }
  template <Shuffled T>
  __device__ T shuffle_down(const T& value, int delta) const {
    return change_words(value, [=](unsigned word) { return __shfl_down_sync(kAllLanes, word, delta); });
  }
  template <Shuffled T>
  __device__ T shuffle(const T& value, int source_lane) const {
    return change_words(value, [=](unsigned word) { return __shfl_sync(kAllLanes, word, source_lane); });
  }
  __device__ bool any(bool predicate) const { return __any_sync(kAllLanes, predicate) != 0; }
  __device__ bool all(bool predicate) const { return __all_sync(kAllLanes, predicate) != 0; }
  __device__ std::uint32_t ballot(bool predicate) const { return __ballot_sync(kAllLanes, predicate); }

  template <int K, class T>
  __device__ Vector<std::remove_const_t<T>, K> load(T* array, std::int64_t index) const {
    using Items = Vector<std::remove_const_t<T>, K>;
    return scanlab::bit_cast<Items>(*reinterpret_cast<const Access<Items>*>(array + index));
  }
  template <int K, class T>
  __device__ void store(T* array, std::int64_t index, const Vector<T, K>& vector) const {
    *reinterpret_cast<Access<Vector<T, K>>*>(array + index) = scanlab::bit_cast<Access<Vector<T, K>>>(vector);
  }

  template <class T>
  __device__ void prefetch(const T* array, std::int64_t index, std::int64_t count, std::int64_t size) const {
    prefetch_to_l2(array + index, array + (index + count < size ? index + count : size));
  }

  template <CounterWord T>
  __device__ T fetch_add(T* array, std::int64_t index, std::type_identity_t<T> value) const {
    using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    return atomicAdd(reinterpret_cast<Word*>(array + index), value);
  }
  template <AtomicWord T>
  __device__ std::remove_const_t<T> load_atomic(T* array, std::int64_t index) const {
    return load_relaxed(array + index);
  }
  template <AtomicWord T>
  __device__ void store_atomic(T* array, std::int64_t index, const std::type_identity_t<T>& value) const {
    store_relaxed(array + index, value);
  }
  /// Does nothing by default: reading the word again takes long enough. Otherwise sleeps for about this long.
  __device__ void pause(unsigned nanoseconds = 0) const {
    if (nanoseconds != 0) __nanosleep(nanoseconds);
  }

 private:
  static constexpr unsigned kAllLanes = 0xFFFFFFFF;
};
static_assert(ThreadBlock<GpuBlock>);

/// Blocks of a kernel that a multiprocessor shall hold at least: what its registers are rationed for. One, unless the
/// kernel says otherwise (kBlocksPerMultiprocessor); left to itself the compiler may spill for the sake of more.
template <class Kernel>
constexpr int blocks_per_multiprocessor() {
  if constexpr (requires { Kernel::kBlocksPerMultiprocessor; }) {
    return Kernel::kBlocksPerMultiprocessor;
  } else {
    return 1;
  }
}

template <class Kernel, class... Arguments>
__global__ void __launch_bounds__(Kernel::kMaxThreads, blocks_per_multiprocessor<Kernel>())
    trampoline(Kernel kernel, Arguments... arguments) {
  cuda::wait_for_kernels_before();
  GpuBlock block;
  kernel(block, arguments...);
}

/// The machine that a variant's `run` launches kernels on; its twin on the CPU is Emulator.
class CudaMachine {
 public:
  using Block = GpuBlock;
  template <class T>
  using Global = T*;

  explicit CudaMachine(cudaStream_t stream) : stream_(stream) {}

  /// Enqueues, early (see cuda::LaunchShape); throws CudaError if the launch is refused.
  template <class Kernel, class... Arguments>
  void launch(const Grid& grid, const Kernel& kernel, const Arguments&... arguments) {
    if (grid.blocks == 0) return;
    if (grid.shared_bytes > 48 * 1024) {  // more is given only to those who ask for it
      cuda::check(cudaFuncSetAttribute(trampoline<Kernel, Arguments...>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(grid.shared_bytes)),
                  Kernel::kName);
    }
    cuda::launch(trampoline<Kernel, Arguments...>,
                 {.blocks = static_cast<int>(grid.blocks),
                  .threads = grid.threads,
                  .shared_bytes = grid.shared_bytes,
                  .pdl = true,
                  .what = Kernel::kName},
                 stream_, kernel, arguments...);
  }

  template <class T>
  static T* global(T* data, std::int64_t /*count*/, const char* /*name*/) {
    return data;
  }

  /// Whether the array begins at a multiple of so many bytes.
  static bool aligned(const void* array, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(array) % bytes == 0;
  }

 private:
  cudaStream_t stream_;
};

}  // namespace scanlab::simt
