// Code that the commands on the engine model share.
#pragma once

#include "harness/cli/command.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/simulator/simulation.hpp"

namespace scanlab::cli {

/// The build, the date, the command line, and which device was simulated.
measure::Facts simulation_facts(const simulator::DeviceProfile& profile, const Context& context);

/// The profile of this device, measured by the experiments of `scanlab calibrate`, in well under a minute. Throws
/// CommandError: status 3 without a device.
simulator::DeviceProfile calibrated_here(Context& context);

}  // namespace scanlab::cli
