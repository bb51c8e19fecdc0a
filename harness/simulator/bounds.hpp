// Bounds of the makespan of a recording: closed forms of its parts.
#pragma once

#include "harness/simulator/simulation.hpp"

namespace scanlab::simulator {

/// Seconds, without latencies and the host's calls: all copies in, the kernel of the workload, all copies out, each in
/// one piece that has the device to itself. So they are the same however the job is cut.
struct Parts {
  double copy_in = 0;
  double kernel = 0;
  double copy_out = 0;

  /// Compute to copy: the kernel over the longer of the two ways.
  double ratio() const;
};
Parts parts(const streams::Recording& recording, const Costs& costs);

/// Seconds.
struct Bounds {
  double serial = 0;  ///< one part after another, each in one piece: no bound, but what a pipeline is to beat
  /// No right schedule of these chunks is faster: engines do one thing at once, copies both ways slow each other down,
  /// waves are full, and one chunk at least goes the whole way before, and one behind, what is busiest.
  double pipeline = 0;
  /// max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n) for n chunks. No bound where small grids share the device.
  /// Source: Van Werkhoven et al., Performance Models for CPU-GPU Data Transfers, CCGrid 2014.
  double van_werkhoven = 0;
};
Bounds bounds(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs);

}  // namespace scanlab::simulator
