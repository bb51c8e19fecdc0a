// scanlab advise --against: what advice is worth, by a sweep in which choices were measured.
#pragma once

#include <string>

#include "harness/cli/command.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/simulator/advice.hpp"

namespace scanlab::cli {

/// "depth_first, 16 chunks, 2 streams"
std::string describe(const simulator::Choice& choice);
measure::Facts to_json(const simulator::Choice& choice);

/// Of each problem (workload, items, work) in `path`, a file of `streams run --out`, asks for advice as `advise` gives
/// it, and prints how much longer that took than the fastest that was measured; how the measured choices spread of
/// which the model says that they take as long; and how far its predictions are off. If what is advised was not
/// measured, the best that was stands in for it, and that is said. Returns the same as JSON; `facts` gets what
/// add_measured says of the measurements. Throws CommandError (status 2) for what is no such file.
measure::Facts advise_against(const std::string& path, const simulator::DeviceProfile& device, measure::Facts& facts,
                              Context& context);

}  // namespace scanlab::cli
