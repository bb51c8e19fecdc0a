// The engine model: a recording, run on a device that is described by a few figures. Plain C++, no CUDA.
//
//     host             issues one operation after another, each call for its time; synchronous calls block it
//     queues           hardware work queues: created stream i feeds queue i mod queues; both default streams feed the
//                      last. A queue has a lane per engine, first in, first out, whatever the streams; so has an H200,
//                      but its copy queues follow the order of the streams only until a process has used and given back
//                      some.
//     copy engines     copy one at a time, the first issued first, or one queue after another. Engines of one way take
//                      theirs first. Both ways at once are slower. A copy that begins while bytes flow the other way
//                      begins later, or as they cease: then both begin together, and short ones stay in step.
//     block scheduler  grids start blocks in the order of priorities and launches, as multiprocessors have room: in
//                      waves, of which the next grid fills the tail. Older grids get what they ask for first.
//     order            ordering.hpp; an operation of another kind follows after a hand-over, longer while H2D
//                      copies run
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

/// The hardware work queue of each operation of a recording. An engine turns to its queues in the order of their
/// numbers.
using QueueNumbers = std::vector<unsigned>;

/// The queues of the model.
QueueNumbers modelled_queues(const streams::Recording& recording, const DeviceProfile& device);

/// `queues`: empty for those of the model. `recording` outlives the result. Throws ScheduleError for a wait for an
/// event that no earlier operation records; std::invalid_argument for costs that are no time, or sum up to over 1000
/// seconds.
Simulation simulate(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs,
                    const QueueNumbers& queues = {});

}  // namespace scanlab::simulator
