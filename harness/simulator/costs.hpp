// The costs of a recording's operations on a device: seconds of copies, blocks of kernels, calls of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::simulator {

/// The cost of an operation that has the device to itself. All blocks of all kernels have one shape.
struct OperationCost {
  double copy_seconds = 0;   ///< of a copy, without its latency
  std::int64_t blocks = 0;   ///< of a kernel, >= 1
  double block_seconds = 0;  ///< of a block whose demands are met
  /// The demand of as many blocks as the device holds at once, as a part of its arithmetic or memory throughput. If the
  /// running blocks demand more than 1, older grids come first, and the blocks of one grid share the rest.
  double share = 0;
  /// How much sooner than the mean the first block ends, and how much later the last, in parts of the block time.
  double spread = 0;
  int priority = 0;         ///< of a kernel's stream, as CUDA counts: blocks of lower numbers start first
  int partition = 0;        ///< of a kernel's stream: a green context's multiprocessors
  double call_seconds = 0;  ///< of the host; unused for a captured schedule
};

struct Costs {
  int threads_per_block = 256;
  double launch_seconds = 0;              ///< of the host, of a captured schedule
  double whole_kernel = 0;                ///< seconds of the kernel over all items of the job, in one launch, alone
  std::vector<std::int64_t> partitions;   ///< blocks that each holds at once; empty: one, of the whole device
  std::vector<OperationCost> operations;  ///< of each operation of the recording
};

/// Known times of a problem, in seconds for all its items at once. Others follow from the bytes: copies by the rate of
/// the bus; kernels by measured times, else by the rate of device memory, each item read and written once.
struct KnownTimes {
  std::optional<double> copy_in;  ///< of all inputs
  std::optional<double> kernel;   ///< without its latency
  std::optional<double> copy_out;
  int threads_per_block = 256;
};

/// Returns why the time of the job's kernel is unknown, in a sentence to which the caller adds the remedy; empty if it
/// is known. The rate of device memory gives the time of work 1 only.
std::string unknown_kernel_time(const streams::Job& job, const DeviceProfile& device, const KnownTimes& known = {});

/// Returns the costs of a recording. Copies take time in proportion to the items of a chunk. A measured kernel takes
/// the time of its size. Others have the job's blocks or, if these are 0, one thread per item; a block takes as long
/// per item as one of the kernel over all items, whose waves add up to its time. If that follows from the rate of
/// device memory, each block demands its part of the rate. Throws std::invalid_argument if the device cannot hold such
/// a block.
Costs costs(const streams::Recording& recording, const DeviceProfile& device, const KnownTimes& known = {});

}  // namespace scanlab::simulator
