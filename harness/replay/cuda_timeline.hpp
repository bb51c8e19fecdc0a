// When the operations of a schedule ran on this device, from CUPTI's records. No CUDA types here.
#pragma once

#include <string>
#include <vector>

#include "harness/replay/cuda_executor.hpp"
#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

struct ReplaySettings {
  int repetitions = 5;   ///< of each kind
  double warm_up = 0;    ///< seconds of replays before the first that counts; one at least
  bool stamped = false;  ///< whether the issues of the plain ones are stamped
  bool verified = true;  ///< whether outputs are poisoned before and compared after each
};

/// Replays a recording without collection, then with it. `recording` outlives the result. Throws as CudaExecutor,
/// ActivityCollector and spans_of do.
MeasuredReplays measure_replays(const Recording& recording, HostArrays& arrays, const ReplaySettings& settings);

struct MeasuredTimeline {
  Timeline timeline;              ///< of the collected repetition whose time is the median
  std::vector<Timeline> others;   ///< of the other ones
  std::vector<double> plain;      ///< seconds of each repetition without collection, as `streams run` times them
  std::vector<double> collected;  ///< and with it: the host's issues are stamped, too
  std::string wrong;              ///< the first wrong output, in words; empty: all were right

  double median_plain() const;
  double median_collected() const;
};

/// The same, verified, for one timeline.
MeasuredTimeline measure_timeline(const Recording& recording, HostArrays& arrays, int repetitions);

}  // namespace scanlab::streams
