// A scenario: what a lecture draws of copies, kernels and queues, as a schedule on a device of its own that the engine
// model can run. Scenarios are read from files: scenario_file.hpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/simulator/simulation.hpp"

namespace scanlab::simulator {

struct Scenario {
  std::string id;
  std::string title;
  std::string source;
  std::string fact;      ///< a sentence: what the picture shows; the title where the file has none
  std::string unit;      ///< of its times in print, each a millisecond of the model: "ms", or "units" of no clock
  DeviceProfile device;  ///< the title says how it departs from the profile of its name
  streams::Recording recording;
  Costs costs;

  /// Kernels alone, no memsets, on multiprocessors that hold one block each: the picture is of these blocks.
  bool shows_blocks() const;
};

Simulation simulate(const Scenario& scenario);

/// A block of a kernel, where it ran.
struct PlacedBlock {
  std::size_t operation = 0;
  std::size_t slot = 0;  ///< of those that the device has
  streams::Interval when;
};

/// Every block of every kernel of a simulated scenario. The simulation counts blocks and does not place them; this
/// gives each the slot that is free first, in the order of priorities and launches, which is what it counts by.
std::vector<PlacedBlock> place_blocks(const Scenario& scenario, const Simulation& simulation);

/// Trace events of a simulated scenario; `facts` say where they come from. Of kernels alone with one more process, a
/// lane a multiprocessor and an event a block.
nlohmann::ordered_json trace_of(const Scenario& scenario, const Simulation& simulation, nlohmann::ordered_json facts);

}  // namespace scanlab::simulator
