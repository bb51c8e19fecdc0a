// The results of timing scans, for people.
#pragma once

#include <ostream>

#include "harness/measure/scan_session.hpp"

namespace scanlab::measure {

/// To `out` a line per timed case (median of a run, GB/s of every item read and written once, samples, whether its
/// output was right), then cases without a time by their reasons, then where the wall time went. To `err` which
/// hand-written kernels use local memory.
void print(const ScanSession& session, std::ostream& out, std::ostream& err);

}  // namespace scanlab::measure
