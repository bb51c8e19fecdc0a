// A small launch that prepares storage of any content: scans of other programs enqueue it before their kernels.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "harness/core/ceil.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/simt/gpu_block.cuh"
#include "variants/scan/tile_state.cuh"

namespace scanlab::scan {

/// Resets the counter and marks all tile states invalid. The next kernel may start at once: it waits for the end of
/// this one before it reads them.
template <class Number, class Word>
__global__ void __launch_bounds__(PrepareTilesKernel::kMaxThreads)
    prepare_storage(Number* counter, Number first, Word* states, std::int64_t words) {
  cuda::wait_for_kernels_before();
  cuda::trigger_dependent_launch();
  simt::GpuBlock block;
  PrepareTilesKernel{}(block, counter, first, states, words, Word{});
}

template <class Number, class Word>
cudaError_t try_prepare(Number* counter, Number first, Word* states, std::int64_t words, cudaStream_t stream) {
  constexpr int kThreads = PrepareTilesKernel::kMaxThreads;
  return cuda::try_launch(prepare_storage<Number, Word>,
                          {.blocks = static_cast<int>(std::max(ceil_div(words, kThreads), std::int64_t{1})),
                           .threads = kThreads,
                           .pdl = true},
                          stream, counter, first, states, words);
}

/// The start of storage of any alignment, which has kStorageAlignment - 1 bytes more than a workspace takes.
inline constexpr std::size_t kStorageAlignment = 256;
inline void* aligned_storage(void* storage) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage);
  return reinterpret_cast<void*>((address + kStorageAlignment - 1) / kStorageAlignment * kStorageAlignment);
}

}  // namespace scanlab::scan
