// What the makespan of a recording is set against: closed forms of its parts.
#pragma once

#include "harness/engines/simulation.hpp"

namespace scanlab::engines {

/// Seconds of all copies in, all kernels of the workload, all copies out: each as if it had the device to itself,
/// without latencies and the host's calls.
struct Parts {
  double copy_in = 0;
  double kernel = 0;
  double copy_out = 0;

  /// Compute to copy: the kernels over the longer of the two ways.
  double ratio() const;
};
Parts parts(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs);

/// Seconds. Kernels count in whole waves of blocks; small grids that share the device can be faster than that, and so
/// than the last two.
struct Bounds {
  double serial = 0;  ///< one part after another
  /// The busiest engine of this device without a pause, behind one chunk's way to it and before one chunk's way from
  /// it, with the rates while copies run both ways. A chunk that fills the pipeline has the bus to itself, so that few
  /// chunks can be a little faster.
  double fill_max = 0;
  /// max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n) for n chunks: two copy engines that do not disturb each other.
  /// Source: Van Werkhoven et al., Performance Models for CPU-GPU Data Transfers, CCGrid 2014.
  double van_werkhoven = 0;
};
Bounds bounds(const streams::Job& job, const DeviceProfile& device, const Parts& parts);

}  // namespace scanlab::engines
