// Where the cycles of a warp go: on work, or on waiting, and for what. A kernel whose roles wait for each other takes a
// Watch as a parameter; timed, it gets NoWatch, which compiles to nothing.
#pragma once

#include <cuda_runtime.h>

namespace scanlab::cuda {

/// The waits of a role: for items from memory; other warps' sums of a tile; what comes before a tile; stores.
enum class Wait { data, reduced, prefix, store };
inline constexpr int kWaits = 4;
inline constexpr const char* kWaitNames[kWaits] = {"data", "reduced", "prefix", "store"};

/// The times of one warp, in cycles of its multiprocessor's clock.
struct WarpCycles {
  long long total;
  long long waiting[kWaits];
};

struct NoWatch {
  template <class F>
  __device__ void during(Wait, F f) {
    f();
  }
  __device__ void save(WarpCycles*) {}
};

/// Reads the clock before and after each wait, as lane 0 sees it.
class CycleWatch {
 public:
  __device__ CycleWatch() { begin_ = clock64(); }
  template <class F>
  __device__ void during(Wait what, F f) {
    const long long begin = clock64();
    f();
    __syncwarp();  // so that the wait of one lane is that of the warp
    seen_.waiting[static_cast<int>(what)] += clock64() - begin;
  }
  /// cycles: of every warp of the grid, by block.
  __device__ void save(WarpCycles* cycles) {
    if (threadIdx.x % 32 != 0) return;
    seen_.total = clock64() - begin_;
    cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = seen_;
  }

 private:
  WarpCycles seen_{};
  long long begin_;
};

}  // namespace scanlab::cuda
