// The operations of a scenario that are given one by one, in the order of issue.
#pragma once

#include "harness/host/document.hpp"
#include "harness/scenarios/scenario.hpp"

namespace scanlab::simulator {

/// Reads the keys `operations` and `created_streams` of a scenario into its recording and costs; its device is there.
/// Throws DocumentError; std::invalid_argument as costs() does.
void read_operations(const Value& scenario_table, Scenario& scenario);

/// Reads a whole number, or a text that `parse` takes, as it takes words of the command line.
std::int64_t read_count(const Value& value, std::int64_t low, std::int64_t high,
                        std::int64_t (*parse)(const std::string& word));

}  // namespace scanlab::simulator
