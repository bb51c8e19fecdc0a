// Where the warps of a scan spend their cycles: its instrumented form, run on the current CUDA device.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab::simt {

/// The cycles of each role; nothing in a build without CUDA. `scan` has a `cuda_watch`.
std::vector<RoleCycles> watch(const BoundScan& scan, const Problem& problem);

/// Prints a title, and a line per role: the parts of its cycles in percent.
void print(const std::string& title, const std::vector<RoleCycles>& roles, std::ostream& out);

/// The columns of a table that identify a run, with their values.
using RunColumns = std::vector<std::pair<std::string, std::string>>;
RunColumns run_columns(const Case& chosen);

/// The head of a table (CSV) of such roles, and a row per role.
std::string csv_head(const RunColumns& columns, const std::vector<RoleCycles>& roles);
std::string csv_rows(const RunColumns& columns, const std::vector<RoleCycles>& roles);

}  // namespace scanlab::simt
