// A delay of loads by which the first blocks of a multiprocessor write while its later blocks read.
#pragma once

#include <cuda_runtime.h>

namespace scanlab::cuda {

/// Delays a block's load of `bytes` until the earlier blocks of its multiprocessor have loaded; every thread calls it.
/// Assumes that the hardware deals blocks out round-robin, as it nearly does. If all loaded at once, all would have
/// their last item at the same time, and none could write before.
__device__ inline void stagger_load(int multiprocessors, int bytes) {
  constexpr int kBytesACycle = 48;  // from L2, a multiprocessor; anything from 36 to 56 was as fast on H200
  const auto block = static_cast<int>(blockIdx.x);
  if (block < multiprocessors) return;
  const long long begin = clock64();
  while (clock64() - begin < block / multiprocessors * (bytes / kBytesACycle)) {
  }
}

}  // namespace scanlab::cuda
