// Many configurations on the engine model, a few figures of each.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "harness/simulator/bounds.hpp"

namespace scanlab::simulator {

/// A job, simulated.
struct SweptJob {
  const streams::ScheduledJob* chosen = nullptr;
  std::optional<double> asked_ratio;  ///< of compute to copy; none: kernels take what they take
  double ratio = 0;                   ///< as it is
  double makespan = 0;                ///< seconds
  Bounds bounds;
  int buffers = 0;  ///< device buffers an array
  /// Share of the makespan in which each engine works, in the order of kEngines; kernels that overlap count once.
  std::array<double, streams::kEngines.size()> utilisation{};
};

/// With a ratio the kernel takes so many times the longer of the two ways. Throws what costs() and simulate() throw.
SweptJob sweep(const streams::ScheduledJob& chosen, std::optional<double> ratio, const DeviceProfile& device,
               const KnownTimes& known);

/// The fastest of each problem (workload, items, ratio) whose result is right, in the order in which problems came.
std::vector<SweptJob> fastest(const std::vector<SweptJob>& all);

nlohmann::ordered_json to_json(const SweptJob& swept);

/// A line per problem, for the first twenty.
void print(const std::vector<SweptJob>& fastest, std::ostream& out);

}  // namespace scanlab::simulator
