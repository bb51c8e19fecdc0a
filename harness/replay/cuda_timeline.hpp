// When the operations of a schedule ran on this device, from CUPTI's records. No CUDA types here.
#pragma once

#include "harness/replay/replayer.hpp"
#include "harness/timeline/measured_timeline.hpp"

namespace scanlab::streams {

struct ReplaySettings {
  int repetitions = 5;   ///< of each kind
  double warm_up = 0;    ///< seconds of replays before the first that counts; one at least
  bool stamped = false;  ///< whether the issues of the plain ones are stamped
  bool verified = true;  ///< whether outputs are poisoned before and compared after each
};

/// Replays a recording without collection, then with it. `recording` outlives the result. Throws as Replayer,
/// ActivityCollector and spans_of do.
MeasuredReplays measure_replays(const Recording& recording, HostArrays& arrays, const ReplaySettings& settings);

}  // namespace scanlab::streams
