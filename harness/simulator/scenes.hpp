// What lectures draw by hand of copies, kernels and queues, as schedules for the engine model: each picture can be run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/simulator/simulation.hpp"

namespace scanlab::simulator {

struct Scene {
  std::string id;
  std::string title;
  std::string source;
  std::string fact;      ///< a sentence: what the picture shows
  std::string unit;      ///< of its times in print, each a millisecond of the model: "ms", or "units" of no clock
  DeviceProfile device;  ///< the title says how it departs from the profile of its name
  streams::Recording recording;
  Costs costs;

  /// Kernels alone: the picture is of blocks on multiprocessors, each of which holds one.
  bool shows_blocks() const;
};

/// Every one, in the order of the sources' pages. They live as long as the program.
const std::vector<Scene>& scenes();

Simulation simulate(const Scene& scene);

/// A block of a kernel, where it ran.
struct PlacedBlock {
  std::size_t operation = 0;
  std::size_t slot = 0;  ///< of those that the device has
  streams::Interval when;
};

/// Every block of every kernel of a simulated scene. The simulation counts blocks and does not place them; this gives
/// each the slot that is free first, in the order of the launches, which is what it counts by.
std::vector<PlacedBlock> place_blocks(const Scene& scene, const Simulation& simulation);

/// Trace events of a simulated scene; `facts` say where they come from. Of kernels alone with one more process, a lane
/// a multiprocessor and an event a block.
nlohmann::ordered_json trace_of(const Scene& scene, const Simulation& simulation, nlohmann::ordered_json facts);

}  // namespace scanlab::simulator
