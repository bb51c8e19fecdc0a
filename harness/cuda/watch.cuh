// Where the cycles of a warp go: on work, or on waiting, and for what; and when a block comes to the points of its
// work. A kernel whose roles or blocks wait for each other takes a Watch as a parameter; timed, it gets NoWatch, which
// compiles to nothing.
#pragma once

#include <cstdint>

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

/// The points of a tile, in order: a block has begun with it, has its items, has told others of them, knows what comes
/// before it, and has issued its stores.
enum class Point { begun, items, told, prefix, stored };
inline constexpr int kPoints = 5;
inline constexpr const char* kPointNames[kPoints] = {"begun", "items", "told", "prefix", "stored"};
/// Scans of more tiles have no timeline.
inline constexpr int kMaxWatchedTiles = 8192;

#if defined(__CUDACC__)
struct NoWatch {
  template <class F>
  __device__ void during(Wait, F f) {
    f();
  }
  __device__ void save(void*) {}
  __device__ void reached(void*, Point, std::int64_t) {}
};

/// Notes when tiles come to their points, by the device's clock.
struct PointWatch : NoWatch {
  /// One thread calls this. ns: kPoints of each tile.
  __device__ void reached(void* ns, Point point, std::int64_t tile) {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
    static_cast<std::uint64_t*>(ns)[tile * kPoints + static_cast<int>(point)] = now;
  }
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
  /// cycles: WarpCycles of every warp of the grid, by block.
  __device__ void save(void* cycles) {
    if (threadIdx.x % 32 != 0) return;
    seen_.total = clock64() - begin_;
    static_cast<WarpCycles*>(cycles)[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = seen_;
  }
  __device__ void reached(void*, Point, std::int64_t) {}

 private:
  WarpCycles seen_{};
  long long begin_;
};
#endif

}  // namespace scanlab::cuda
