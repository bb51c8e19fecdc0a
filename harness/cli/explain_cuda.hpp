// scanlab explain --device cuda: where the warps of a scan spend their cycles, role by role.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/selection.hpp"

namespace scanlab::cli {

/// Runs each case in its instrumented form, prints a table, and writes `csv`, unless empty: one row a case and role.
/// Returns a Status; throws CommandError: status 2 if none of the cases has such a form, 3 without a device.
int explain_on_cuda(const std::vector<Case>& cases, const std::string& csv, Context& context);

}  // namespace scanlab::cli
