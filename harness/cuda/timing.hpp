// Times work on a stream by CUDA events.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/event.hpp"
#include "harness/cuda/stream.hpp"

namespace scanlab::cuda {

/// Empties the L2 cache of what a kernel left there.
class CacheEviction {
 public:
  /// Throws OutOfMemory.
  CacheEviction();
  /// Enqueues a kernel that reads several times the cache's size. It only reads: a memset would evict as well, but
  /// leave the cache full of dirty lines whose write-back is then billed to the kernel that is timed.
  void enqueue(cudaStream_t stream) const;

 private:
  DeviceBuffer buffer_;
  DeviceBuffer sum_;  ///< never written, but the compiler cannot know
  int blocks_ = 0;
};

class StreamTimer {
 public:
  using Work = std::function<void(cudaStream_t)>;  ///< enqueues one run

  /// Throws OutOfMemory.
  StreamTimer();
  cudaStream_t stream() const { return stream_.get(); }
  void synchronize() const { stream_.synchronize(); }

  /// Mean seconds of one of `runs` runs back to back, between two events.
  /// `meanwhile`, if given, is called once while the device works.
  double warm(const Work& work, std::int64_t runs, const std::function<void()>& meanwhile = {});

  /// Mean seconds of `runs` runs, each with the cache evicted before it and events of its own. All are enqueued
  /// without waiting, so that the launch of a run hides behind the eviction before it.
  double cold(const Work& work, std::int64_t runs, const std::function<void()>& meanwhile = {});

 private:
  struct Interval {
    Event start;
    Event end;
  };
  Stream stream_;
  CacheEviction eviction_;
  std::vector<Interval> intervals_;
};

}  // namespace scanlab::cuda
