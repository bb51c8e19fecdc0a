// Kernels' clock and kernels that spin. Every spin is limited in time: nothing that waits for one can hang.
#pragma once

#include <cuda_runtime.h>

namespace scanlab::cuda {

/// When something started and ended on the device, in nanoseconds of its global clock; 0: not yet.
struct Stamps {
  unsigned long long start = 0;
  unsigned long long end = 0;
};

/// Nanoseconds; one clock for all multiprocessors.
__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Returns the start and the end.
__device__ inline Stamps spin_for(unsigned long long nanoseconds) {
  const unsigned long long start = global_nanoseconds();
  unsigned long long now = start;
  while (now - start < nanoseconds) now = global_nanoseconds();
  return {start, now};
}

}  // namespace scanlab::cuda
