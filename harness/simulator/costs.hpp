// What the operations of a recording ask of a device: seconds of copies, blocks of kernels, calls of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::simulator {

/// What an operation asks of the device, had it the device to itself. All blocks of all kernels have one shape.
struct OperationCost {
  double copy_seconds = 0;   ///< of a copy, without its latency
  std::int64_t blocks = 0;   ///< of a kernel, >= 1
  double block_seconds = 0;  ///< of a block that has all it asks for
  /// What the blocks that the device holds at once ask for, in parts of what it can compute, or move to and from its
  /// memory. If running blocks ask for more than 1, older grids come first, and the blocks of one share what is left.
  double share = 0;
  /// Of the time of its blocks: how much sooner the first of them ends than the mean, and later the last.
  double spread = 0;
  int priority = 0;         ///< of a kernel's stream, as CUDA counts: blocks of lower numbers start first
  double call_seconds = 0;  ///< of the host; of a captured schedule not looked at
};

struct Costs {
  int threads_per_block = 256;
  double launch_seconds = 0;              ///< of the host, of a captured schedule
  double whole_kernel = 0;                ///< seconds of the kernel over all items of the job, in one launch, alone
  std::vector<OperationCost> operations;  ///< of each operation of the recording
};

/// What is known of a problem beside the device: seconds for all its items at once. What is not given follows from the
/// bytes: copies by the rate of the bus; kernels by their measured times, if the profile has them, or by the rate of
/// device memory, each item read and written once.
struct KnownTimes {
  std::optional<double> copy_in;  ///< of all inputs
  std::optional<double> kernel;   ///< without its latency
  std::optional<double> copy_out;
  int threads_per_block = 256;
};

/// Why nothing tells how long the job's kernel takes, in a sentence to which the caller adds what to do; empty if
/// something does. The rate of device memory tells of work 1 alone.
std::string unknown_kernel_time(const streams::Job& job, const DeviceProfile& device, const KnownTimes& known = {});

/// Copies in proportion to the items of a chunk. A kernel has the job's blocks, or, if those are 0, a thread an item.
/// Its blocks do the same work at the same speed however the job is cut: a block takes what one of the whole kernel,
/// one launch over all items, takes for as many items, and that one lasts so long that the waves of the whole kernel
/// take its time. A block of a thread an item takes that time even where some of its threads have no item. Where the
/// time follows from the rate of device memory, the blocks ask for their parts of that rate: kernels side by side have
/// no more of it than one. Measured kernels take what was measured of their size. Throws std::invalid_argument if the
/// device holds no such block.
Costs costs(const streams::Recording& recording, const DeviceProfile& device, const KnownTimes& known = {});

}  // namespace scanlab::simulator
