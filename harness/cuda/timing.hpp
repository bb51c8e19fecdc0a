// Times work on a stream by CUDA events.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/owned.hpp"
#include "harness/cuda/stream.hpp"

namespace scanlab::cuda {

/// The L2 flush: empties the L2 cache of what a kernel left there.
class L2Flush {
 public:
  /// Throws OutOfMemory.
  L2Flush();
  /// Enqueues a kernel that reads several times the cache's size. It only reads: a memset would flush as well, but
  /// leave the cache full of dirty lines whose write-back is then billed to the kernel that is timed.
  void enqueue(cudaStream_t stream) const;

 private:
  DeviceBuffer buffer_;
  DeviceBuffer sum_;  ///< never written, but the compiler cannot know
  int blocks_ = 0;
};

/// A gate in a stream: what is enqueued behind it waits until the host opens it. One kernel of one thread that looks at
/// a word of pinned memory. It gives up after two seconds, so that a host that waits for the stream, whose queue is
/// full, is not waited for in turn.
class Gate {
 public:
  /// Throws CudaError.
  Gate();

  /// Enqueues the kernel.
  void close(cudaStream_t stream);
  void open() { words_->is_open = 1; }
  /// Whether the last one did not wait for open(). Final once the stream is behind it.
  bool gave_up() const { return words_->gave_up != 0; }

 private:
  struct Words {
    volatile int is_open;
    volatile int gave_up;
  };
  Owned<Words*, cudaFreeHost> words_;  ///< in pinned memory, which both sides see
};

/// The work that is timed, and all that goes with it.
struct Work {
  std::function<void(cudaStream_t)> run;        ///< enqueues one run
  std::function<void(cudaStream_t)> between{};  ///< if given: enqueues what goes between untimed and timed runs
  std::function<void()> meanwhile{};            ///< if given: called once while the device is at the timed runs
};

/// Five ways to time `runs` runs. Each gives the mean seconds of one, after a few that are not timed. Its constructor
/// throws OutOfMemory.
class StreamTimer {
 public:
  cudaStream_t stream() const { return stream_.get(); }
  void synchronize() const { stream_.synchronize(); }
  /// Enqueues an L2 flush.
  void flush_l2() const { l2_flush_.enqueue(stream_.get()); }

  /// Launched one by one, back to back, between two events. They do not overlap: a stream runs in order, and kernels
  /// that are launched early (harness/cuda/launch.cuh) wait before they touch memory.
  double warm(const Work& work, std::int64_t runs);

  /// Launched one by one behind a kernel that waits until the host has enqueued them all: what the device takes for
  /// short runs, where `warm` shows how fast the host launches. A stream holds about a thousand launches; the runs must
  /// be fewer. Source: NVIDIA, nvbench, its blocking kernel.
  double warm_batch(const Work& work, std::int64_t runs);

  /// Launched one by one, each with an L2 flush before it and events of its own. All are enqueued without waiting, so
  /// that the launch of a run hides behind the flush before it.
  double cold(const Work& work, std::int64_t runs);

  /// A graph of all the runs in a chain, replayed between two events: what a run costs as part of a graph.
  double warm_graph(const Work& work, std::int64_t runs);

  /// A graph of all the runs in a chain, each with an L2 flush before it, and events of its own as nodes.
  double cold_graph(const Work& work, std::int64_t runs);

 private:
  struct Interval {
    Event start;
    Event end;
  };
  void make_intervals(std::int64_t runs);
  void enqueue_cold(const Work& work, std::int64_t i) const;
  double between_events(const Work& work, std::int64_t runs, const std::function<void()>& enqueue) const;
  double mean_of_intervals(const Work& work, std::int64_t runs) const;

  Stream stream_;
  L2Flush l2_flush_;
  Gate gate_;
  std::vector<Interval> intervals_ = std::vector<Interval>(1);
};

}  // namespace scanlab::cuda
