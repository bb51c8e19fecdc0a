// The engine model: a recording, run on a device that is described by a few figures. Plain C++, no CUDA.
//
//     host             issues one operation after another, each call for its time; synchronous calls hold it
//     hardware queues  created stream i feeds queue i mod queues; both default streams feed the last. A queue has a
//                      lane an engine, first in, first out: an operation that waits holds back those behind it in its
//                      lane, whatever their streams, captured or not. So on an H200, but that the driver's copy queues
//                      follow the order of the streams only until a process has used and given back some.
//     copy engines     one copy at a time each, of those that wait the first issued, or one queue after another from
//                      that of the first issued on. Engines of one way take theirs first, in whatever order a profile
//                      lists them. Both ways at once are slower: rates change when the other way begins and ends. A
//                      copy that begins while bytes flow the other way begins later, or as they cease: then both begin
//                      together, and short ones stay in step. Without engines, whatever runs runs alone.
//     block scheduler  a kernel that leaves its queue is a grid; grids start blocks in the order of their launch, as
//                      multiprocessors have room. So the blocks of one grid run in waves, and another's fill its tail.
//                      A grid of a stream of higher priority starts its blocks before those that others have left.
//                      Where running grids ask for more than the device has, older ones come first.
//     events, streams  what orders operations is what `streams check` counts on: ordering.hpp. An operation may
//                      follow one that it waits for after a hand-over, which takes longer while copies in run.
//
// Deterministic: time counts femtoseconds, and what happens at the same one is taken in the order of issue.
//
// Source  The engines: Markidis, "Optimizing Host-Device Data Communication III"; Harris, "How to Overlap Data
//         Transfers in CUDA C/C++", 2012. The rule of compute capability 2.0 to 3.0: CUDA C Programming Guide 5.0,
//         "Implicit Synchronization". Waves and tails: "When are they worth using?", part 7 of a lecture on cudaStream.
#pragma once

#include <optional>
#include <stdexcept>
#include <vector>

#include "harness/simulator/costs.hpp"
#include "harness/timeline/timeline.hpp"

namespace scanlab::simulator {

/// A recording that no device can be asked to run; the sentence names the operation.
struct ScheduleError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
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
