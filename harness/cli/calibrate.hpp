// The profile of the device at hand, for commands that were given none.
#pragma once

#include "harness/cli/command.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::cli {

/// Measured now by the experiments of `scanlab calibrate`, in well under a minute. Throws CommandError: status 3
/// without a device.
simulator::DeviceProfile calibrated_here(Context& context);

}  // namespace scanlab::cli
