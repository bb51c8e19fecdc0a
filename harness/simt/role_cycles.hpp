// Where the warps of a scan spend their cycles, and when its tiles come to the points of a scan: its instrumented
// forms, run on the current CUDA device.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab::simt {

/// The cycles of each role; nothing in a build without CUDA. `scan` has a `cuda_watch`.
std::vector<RoleCycles> watch(const BoundScan& scan, const Problem& problem);

/// The medians of nine runs with a cold cache; nothing in a build without CUDA, or if there are too many tiles. `scan`
/// has a `cuda_timeline`.
TileTimes timeline(const BoundScan& scan, const Problem& problem);

/// Prints a title, and a line per role: the parts of its cycles in percent.
void print(const std::string& title, const std::vector<RoleCycles>& roles, std::ostream& out);

/// Prints a title, and a line per point: when the first tile, half of the tiles and all of them have come to it.
void print(const std::string& title, const TileTimes& points, std::ostream& out);

/// The columns of a table that identify a run, with their values.
using RunColumns = std::vector<std::pair<std::string, std::string>>;
RunColumns run_columns(const Case& chosen);

/// The head of a table (CSV) of such roles, and a row per role; or of such points, and a row per tile.
std::string csv_head(const RunColumns& columns, const std::vector<RoleCycles>& roles);
std::string csv_rows(const RunColumns& columns, const std::vector<RoleCycles>& roles);
std::string csv_head(const RunColumns& columns, const TileTimes& points);
std::string csv_rows(const RunColumns& columns, const TileTimes& points);

}  // namespace scanlab::simt
