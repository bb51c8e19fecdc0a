// What the commands on the engine model share.
#pragma once

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/simulator/simulation.hpp"

namespace scanlab::cli {

/// The build, the date, the command line, and which device was simulated.
measure::Facts simulation_facts(const simulator::DeviceProfile& profile, const Context& context);

/// `scanlab simulate --sweep`: every job, with each ratio of compute to copy. Of `values` it reads --ratios, --out and
/// --force. Throws what simulate() and costs() throw.
int simulate_sweep(const std::vector<streams::ScheduledJob>& jobs, const simulator::DeviceProfile& profile,
                   const simulator::KnownTimes& known, const po::variables_map& values, Context& context);

/// `scanlab simulate --compare`: reads what `streams trace --out` wrote, simulates each trace's job with `profile`, and
/// prints how they differ. --out: of one trace, trace events of both; of several, a summary.
int simulate_compare(const po::variables_map& values, const simulator::DeviceProfile& profile, Context& context);

}  // namespace scanlab::cli
