// Which scans are timed, and in which columns: a selection, or a named sweep that a selection narrows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/scan_sweeps.hpp"
#include "harness/measure/timed_case.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {

/// Adds the usual rivals to the variants, as far as this build has them: `best`, every CUB, copies and an empty launch.
/// Throws CommandError (status 2) if no variant is given.
OptionWords add_rivals(OptionWords given);

/// The scans of a selection (select_scans), each in the columns that the options `cache` (else cold and warm) and
/// `launch` (else stream and graph) name. Throws CommandError (status 2).
std::vector<ScanInColumns> selected_scans(const OptionWords& given, const std::string& default_items);

/// The scans of a sweep, narrowed by the given variants, types, operators, modes, caches and launches. Throws
/// CommandError (status 2) for an option that a sweep sets itself.
std::vector<ScanInColumns> selected_scans(const ScanSweep& sweep, const OptionWords& given);

/// Each case once that is possible and that `wanted` lets pass by its name, problem by problem: an oracle serves all
/// variants of its problem. `once`: the cases are run, not timed, and there is one of all columns. Host code has no
/// launches, and nobody flushes its cache; a batch has no room for L2 flushes, and in a pipeline the kernel before
/// leaves what it will.
std::vector<TimedCase> timed_cases(const std::vector<ScanInColumns>& scans, bool once,
                                   const std::function<bool(const std::string& name)>& wanted);

}  // namespace scanlab::measure
