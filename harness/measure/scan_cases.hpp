// Which scans are timed, and in which columns: a selection, or a named sweep that a selection narrows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/scan_sweeps.hpp"
#include "harness/measure/timed_case.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {

/// With what a scan is compared with, as far as this build has it: `best`, every CUB, copies and an empty launch.
/// Throws CommandError (status 2) if no variant is said.
OptionWords with_compared(OptionWords said);

/// Those of a selection (select_scans), each in the columns that `cache` (else cold and warm) and `launch` (else stream
/// and graph) say. Throws CommandError (status 2).
std::vector<ScanInColumns> selected_scans(const OptionWords& said, const std::string& default_items);

/// Those of a sweep, which the variants, types, operators, modes, caches and launches that are said narrow. Throws
/// CommandError (status 2) for what a sweep sets itself.
std::vector<ScanInColumns> selected_scans(const ScanSweep& sweep, const OptionWords& said);

/// Each case once that is possible and that `wanted` lets pass by its name, problem by problem: an oracle serves all
/// variants of its problem. `once`: the cases are run, not timed, and there is one of all columns. Host code has no
/// launches, and nobody flushes its cache; a batch has no room for L2 flushes, and in a pipeline the kernel before
/// leaves what it will.
std::vector<TimedCase> timed_cases(const std::vector<ScanInColumns>& scans, bool once,
                                   const std::function<bool(const std::string& name)>& wanted);

}  // namespace scanlab::measure
