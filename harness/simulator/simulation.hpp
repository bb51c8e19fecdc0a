// The engine model: a recording, run on a device that is described by a few figures. Plain C++, no CUDA.
//
//     host             issues one operation after another, each call for its time; synchronous calls hold it
//     hardware queues  created stream i feeds queue i mod queues; both default streams feed the last. A queue has a
//                      lane an engine, first in, first out: an operation that waits holds back those behind it in its
//                      lane, whatever their streams, captured or not. So on an H200, but that the driver's copy queues
//                      follow the order of the streams only until a process has used and given back some.
//     copy engines     one copy at a time each, of those that wait the first issued, or one queue after another from
//                      that of the first issued on. Both ways at once are slower: rates change when the other way
//                      begins and ends. A copy that begins while bytes flow the other way begins later, or as they
//                      cease: then both begin together, and short ones stay in step. Without engines, whatever runs
//                      runs alone.
//     block scheduler  a kernel that leaves its queue is a grid; grids start blocks in the order of their launch, as
//                      multiprocessors have room. So the blocks of one grid run in waves, and another's fill its tail.
//                      Where running grids ask for more than the device has, older ones come first.
//     events, streams  what orders operations is what `streams check` counts on: dependencies.hpp. An operation may
//                      follow one that it waits for after a hand-over, which takes longer while copies in run.
//
// Deterministic: time counts femtoseconds, and what happens at the same one is taken in the order of issue.
//
// Source  The engines: Markidis, "Optimizing Host-Device Data Communication III"; Harris, "How to Overlap Data
//         Transfers in CUDA C/C++", 2012. The rule of compute capability 2.0 to 3.0: CUDA C Programming Guide 5.0,
//         "Implicit Synchronization". Waves and tails: "When are they worth using?", part 7 of a lecture on cudaStream.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "harness/simulator/device_profile.hpp"
#include "harness/timeline/timeline.hpp"

namespace scanlab::simulator {

/// What an operation asks of the device, had it the device to itself. All blocks of all kernels have one shape.
struct Cost {
  double copy_seconds = 0;   ///< of a copy, without its latency
  std::int64_t blocks = 0;   ///< of a kernel, >= 1
  double block_seconds = 0;  ///< of a block that has all it asks for
  /// What the blocks that the device holds at once ask for, in parts of what it can compute, or move to and from its
  /// memory. If running blocks ask for more than 1, older grids come first, and the blocks of one share what is left.
  double share = 0;
  /// Of the time of its blocks: how much sooner the first of them ends than the mean, and later the last.
  double spread = 0;
  double call_seconds = 0;  ///< of the host; of a captured schedule not looked at
};

struct Costs {
  int threads_a_block = 256;
  double launch_seconds = 0;     ///< of the host, of a captured schedule
  double whole_kernel = 0;       ///< seconds of the kernel over all items of the job, in one launch, alone
  std::vector<Cost> operations;  ///< of each operation of the recording
};

/// What is known of a problem beside the device: seconds for all its items at once. What is not given follows from the
/// bytes: copies by the rate of the bus; kernels by their measured times, if the profile has them, or by the rate of
/// device memory, each item read and written once.
struct Problem {
  std::optional<double> copy_in;  ///< of all inputs
  std::optional<double> kernel;   ///< without its latency
  std::optional<double> copy_out;
  int threads_a_block = 256;
};

/// Copies in proportion to the items of a chunk. A kernel has the job's blocks, or, if those are 0, a thread an item.
/// Its blocks do the same work at the same speed however the job is cut: a block takes what one of the whole kernel,
/// one launch over all items, takes for as many items, and that one lasts so long that the waves of the whole kernel
/// take its time. A block of a thread an item takes that time even where some of its threads have no item. Where the
/// time follows from the rate of device memory, the blocks ask for their parts of that rate: kernels side by side have
/// no more of it than one. Measured kernels take what was measured of their size. Throws std::invalid_argument if the
/// device holds no such block.
Costs costs(const streams::Recording& recording, const DeviceProfile& device, const Problem& problem = {});

/// A recording that no device can be asked to run; the sentence names the operation.
struct ScheduleError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Simulation {
  streams::Timeline timeline;                   ///< a span's channel is its lane
  std::vector<std::optional<int>> copy_engine;  ///< of each span of the timeline: which engine copied
  double seconds = 0;                           ///< when the host has seen that all is done
};

/// Which hardware queue each operation of a recording is in, as the model has it or a measured timeline. Numbers of one
/// engine's queues tell in which order it turns to them.
using QueueNumbers = std::vector<unsigned>;

/// As created streams come, one after another.
QueueNumbers modelled_queues(const streams::Recording& recording, const DeviceProfile& device);

/// Without `queues`, those of the model. `recording` outlives the result. Time grows as the operations do, up to a
/// logarithm, and memory as they do. Throws ScheduleError for a wait for an event that no earlier operation records;
/// std::invalid_argument for costs that are no time, or that sum up to more than 1000 seconds.
Simulation simulate(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs,
                    const QueueNumbers& queues = {});

}  // namespace scanlab::simulator
