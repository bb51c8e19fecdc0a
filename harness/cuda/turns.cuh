// Blocks that share a multiprocessor and read in turns, so that the first of them write while the others read.
#pragma once

#include <cuda_runtime.h>

namespace scanlab::cuda {

/// Every thread of a block that is to read `bytes` calls this: lets those blocks read first that were there first on
/// its multiprocessor, taking it that multiprocessors got their blocks in turns, as they do, nearly. So the first
/// blocks write while the later ones read; if all ask at once, all have their last item at the same time.
__device__ inline void take_turn(int multiprocessors, int bytes) {
  constexpr int kBytesACycle = 48;  // from L2, a multiprocessor; anything from 36 to 56 was as fast on H200
  const auto block = static_cast<int>(blockIdx.x);
  if (block < multiprocessors) return;
  const long long begin = clock64();
  while (clock64() - begin < block / multiprocessors * (bytes / kBytesACycle)) {
  }
}

}  // namespace scanlab::cuda
