// Small grids side by side, for people.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <vector>

namespace scanlab::streams {

/// A line per grids, whose `cases` are as measure_cases() gives them, with two columns per number of hardware work
/// queues: the makespan that was measured, and that of the formula.
void print(const nlohmann::ordered_json& cases, const std::vector<std::int64_t>& connections, std::ostream& out);

}  // namespace scanlab::streams
