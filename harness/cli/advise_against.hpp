// scanlab advise --against: what advice is worth, by a sweep in which every choice was measured.
#pragma once

#include <string>

#include "harness/cli/command.hpp"
#include "harness/cli/provenance.hpp"
#include "harness/engines/device_profile.hpp"

namespace scanlab::cli {

/// Of each problem (workload, items, work) in `path`, a file of `streams run --out`, chooses among the configurations
/// that were measured, by simulation alone, and prints how much longer the chosen one took than the fastest. Returns
/// the same as JSON; `facts` gets what add_measured says of the measurements. Throws CommandError (status 2) for what
/// is no such file.
Facts advise_against(const std::string& path, const engines::DeviceProfile& device, Facts& facts, Context& context);

}  // namespace scanlab::cli
