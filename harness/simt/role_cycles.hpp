// Where the warps of a scan spend their cycles: its instrumented form, run on the current CUDA device.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab::simt {

/// The cycles of each role; nothing in a build without CUDA. `scan` has a `cuda_watch`.
std::vector<RoleCycles> watch(const BoundScan& scan, const Problem& problem);

/// The case, and a line per role: the parts of its cycles in percent.
void print(const Case& of, const std::vector<RoleCycles>& roles, std::ostream& out);

/// The head of a table (CSV) of such roles, and a row per role.
std::string csv_head(const std::vector<RoleCycles>& roles);
std::string csv_rows(const Case& of, const std::vector<RoleCycles>& roles);

}  // namespace scanlab::simt
