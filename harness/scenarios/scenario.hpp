// A scenario: what a lecture draws of copies, kernels and queues, as a schedule on a device of its own that the engine
// model can run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/simulator/simulation.hpp"

namespace scanlab::simulator {

struct Scenario {
  std::string id;
  std::string place;  ///< its file and line
  std::string title;
  std::string source;
  std::string fact;      ///< a sentence: what the picture shows; the title where the file has none
  std::string unit;      ///< of its times in print, each a millisecond of the model: "ms", or "units" of no clock
  DeviceProfile device;  ///< the title says how it departs from the profile of its name
  streams::Recording recording;
  Costs costs;

  /// Kernels alone, no memsets, on multiprocessors that hold one block each and are not partitioned: the picture is of
  /// these blocks.
  bool shows_blocks() const;
};

Simulation simulate(const Scenario& scenario);

/// A block of a kernel, where it ran.
struct PlacedBlock {
  std::size_t operation = 0;
  std::size_t slot = 0;  ///< of those that the device has
  streams::Interval when;
};

/// Places the blocks of a simulated scenario, which are only counted there: each in the slot that is free first, in the
/// order of priorities and launches.
std::vector<PlacedBlock> place_blocks(const Scenario& scenario, const Simulation& simulation);

/// Trace events of a simulated scenario; `facts` say where they come from. A scenario without copies has one more
/// process, with a lane for each multiprocessor and an event for each block.
nlohmann::ordered_json trace_of(const Scenario& scenario, const Simulation& simulation, nlohmann::ordered_json facts);

// Scenario files: a lecture's pictures in TOML, some lines each. data/scenarios/ has those that the program knows, and
// its README every key.

/// Reads a scenario file, strictly: each scenario can be simulated, and no key is left over. The stem of `file` is the
/// id of a scenario that has none. Throws CommandError (status 2): the file, the line, the word and what is allowed.
std::vector<Scenario> parse_scenarios(std::string_view text, const std::string& file);

/// Returns the scenarios of every file, in the order given. Throws as parse_scenarios() does, also for
/// an unreadable file and for an id that two scenarios share.
std::vector<Scenario> read_scenarios(const std::vector<std::string>& files);

/// Returns the scenarios of data/scenarios/ at build time, in the order of the sources' pages.
const std::vector<Scenario>& built_in_scenarios();

/// Reads the keys `operations`, `created_streams` and `partitions` of a scenario into its recording and costs; its
/// device is there. Throws DocumentError; std::invalid_argument as costs() does.
void read_operations(const Value& scenario_table, Scenario& scenario);

/// Reads `bytes` or another count from 1 to `high`: a number, or a text, as words of the command line.
std::int64_t read_count(const Value& table, const std::string& key, std::int64_t high);

}  // namespace scanlab::simulator
