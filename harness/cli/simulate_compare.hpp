// scanlab simulate --compare: measured traces held against their simulation.
#pragma once

#include <boost/program_options.hpp>

#include "harness/cli/command.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::cli {

/// Adds --compare.
void add_compare_options(boost::program_options::options_description& options);

/// Reads what `streams trace --out` wrote, simulates each trace's job with `profile`, and prints how they differ.
/// --out: of one trace, trace events of both; of several, a summary.
int simulate_compare(const boost::program_options::variables_map& values, const simulator::DeviceProfile& profile,
                     Context& context);

}  // namespace scanlab::cli
