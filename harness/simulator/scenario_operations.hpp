// The operations of a scenario that are given one by one, in the order of issue.
#pragma once

#include "harness/simulator/scenario.hpp"
#include "harness/simulator/scenario_table.hpp"

namespace scanlab::simulator {

/// Reads the keys `operations` and `created_streams` of a scenario into its recording and costs; its device is there.
/// Throws CommandError (status 2) as Table does; std::invalid_argument as costs() does.
void read_operations(const Table& table, Scenario& scenario);

}  // namespace scanlab::simulator
