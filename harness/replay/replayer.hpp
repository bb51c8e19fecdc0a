// Replays recordings on CUDA: what a schedule said, issued to real streams; and times a schedule's parts by themselves,
// against which it is held. No CUDA types here.
//
// Everything that a replay needs is created before it: memory, streams, events, kernels' workspaces, graphs. The
// timed part is the calls that issue the operations, one after another, and the wait for the device at the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/host/clock.hpp"
#include "harness/host/host_array.hpp"
#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// The host's arrays of a job: inputs as the workload has them, and the output. Schedules of one job share them.
class HostArrays {
 public:
  /// Allocates and fills, on all cores. Throws std::bad_alloc, CudaError.
  HostArrays(const Job& job, std::uint64_t seed);
  /// Reuses the arrays in `kept` if they serve this job, since filling new ones takes longer than a replay.
  static HostArrays& of(const Job& job, std::optional<HostArrays>& kept);

  void* input(int array) const { return arrays_.at(static_cast<std::size_t>(array)).get(); }
  void* output() const { return arrays_.back().get(); }
  std::size_t bytes() const { return bytes_; }  ///< of each array

  /// Overwrites the output with what no workload gives.
  void poison_output();
  /// Empty if the output is right to the bit; else what is wrong.
  std::string wrong() const;

 private:
  Job job_;
  WorkloadData data_;
  std::size_t bytes_ = 0;
  std::vector<HostArray> arrays_;  ///< the inputs, then the output
};

/// Between which moments the host issued an operation: before and after the calls.
struct Issued {
  Clock::time_point begin, end;
};

/// When things happened in a replay.
struct Replay {
  Clock::time_point begin;     ///< before the first operation is issued
  Clock::time_point end;       ///< the host has seen that the device is done
  std::vector<Issued> issued;  ///< of each operation, if it was asked for; those of a captured schedule are its launch

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

/// One recording, ready to be replayed.
class Replayer {
 public:
  /// `recording` and `arrays` outlive it. Throws OutOfMemory, CudaError; std::invalid_argument for what the workload's
  /// kernel does not take.
  Replayer(const Recording& recording, HostArrays& arrays);
  ~Replayer();

  /// Overwrites the output and all device buffers with what no workload gives, so that an early operation shows.
  void poison();
  /// Replays it. Throws CudaError.
  Replay replay(bool stamp_issues = false);
  /// Replays it. Seconds of the device from an event before the first operation to the last of the events behind all,
  /// one a stream; 0 without work. Throws CudaError.
  double replay_between_events();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

enum class Direction { in, out };  ///< host to device, device to host

/// Seconds of one copy of the first `bytes` of a host array, at most arrays.bytes(), by device events. If `both_ways`,
/// another copy runs the other way all the while; of pinned memory only, since a copy of pageable memory holds up the
/// host that would issue the other. Throws OutOfMemory, CudaError.
double copy_seconds(const HostArrays& arrays, Direction direction, std::size_t bytes, bool both_ways);

/// Seconds of the kernel of the job's longest chunk: the mean of some runs one behind the other, by device events.
/// Throws as Replayer does.
double kernel_seconds(const Job& job);

}  // namespace scanlab::streams
