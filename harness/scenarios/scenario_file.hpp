// Scenario files: a lecture's pictures in TOML, some lines each. data/scenarios/ has those that the program knows, and
// its README every key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/scenarios/scenario.hpp"

namespace scanlab::simulator {

/// Reads a scenario file, strictly: each scenario can be simulated, and no key is left over. `file` says in errors
/// which it is, and its name without folders and ending is the id of a scenario that has none. Throws CommandError
/// (status 2): the file, the line, the word and what is allowed in its place.
std::vector<Scenario> parse_scenarios(std::string_view text, const std::string& file);

/// Returns the scenarios of every file, in the order given. Throws as parse_scenarios() does, also for
/// an unreadable file and for an id that two scenarios share.
std::vector<Scenario> read_scenarios(const std::vector<std::string>& files);

/// Returns the scenarios of data/scenarios/ at build time, in the order of the sources' pages.
const std::vector<Scenario>& built_in_scenarios();

}  // namespace scanlab::simulator
