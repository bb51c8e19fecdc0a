// A scan of host data, timed in the measurement loop: in any ways, of one input.
#pragma once

#include <ostream>
#include <vector>

#include "harness/measure/loop.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::out_of_core {

/// A sample of each way per round, printed to `out` as it is made; `file` may be null. The output that stays is that of
/// the scan as it is done. Returns kOk, kFailed if a repetition failed, kInterrupted after Ctrl-C. Throws CommandError
/// as StreamScanRuns does.
int measure_ways(const StreamScan& asked, const std::vector<Way>& ways, const measure::LoopOptions& options,
                 measure::ResultsFile* file, std::ostream& out, std::ostream& err);

}  // namespace scanlab::out_of_core
