// From measured times to a tuning table: which scan `best` runs, by n; and which shape of a rival's is the fastest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/scan_backend.hpp"
#include "harness/results/provenance.hpp"
#include "harness/tuning/candidates.hpp"
#include "harness/tuning/tuning_table.hpp"

namespace scanlab::tuning {

/// How runs are timed: a column of the results.
using Column = std::pair<Cache, Launch>;

/// The timings of one problem: nanoseconds of a run, one for each repetition, by candidate and column.
using Timings = std::map<Choice, std::map<Column, std::vector<double>>>;

/// The timings of one type and operator, by n.
using TimingsBySize = std::map<std::int64_t, Timings>;

/// The measurements of one device.
struct Measured {
  std::string from;        ///< a file, or the device
  measure::Facts context;  ///< provenance, as in a results file
  std::map<TypeAndOperator, TimingsBySize> timings;
};

/// The loss of a candidate: the largest ratio, over all columns, of its median time to the best candidate's. Candidates
/// that lack a column are left out.
std::map<Choice, double> losses(const Timings& timings);

/// The shapes of a rival for small arrays, the fastest at the least size, and for large ones, which has the least
/// geometric mean over the other sizes. They may be the same. Choices that are no shape of a rival are left out.
std::vector<Choice> finalists(const TimingsBySize& sizes);

/// Leaves the timings of the chosen candidates alone.
void keep_only(const std::vector<Choice>& chosen, TimingsBySize& sizes);

/// A choice for every n. The worst column of a candidate counts, so that a choice is never bad anywhere; and one
/// that is about as good for a run of sizes is kept, so that the table is short.
std::vector<TuningTable::Row> choose(const TimingsBySize& sizes);

/// Throws CommandError (status 2) if nothing was measured on a device.
TuningTable make_table(const Measured& measured);

/// Throws CommandError (status 2) if a table is not of the device that is measured.
void check_same_device(const TuningTable& before, const Measured& measured);

/// Adds to `table` the entries of tables of the same device for types and operators that it lacks, those of an earlier
/// table first, and says so in its provenance.
void keep_entries(const std::vector<TuningTable>& before, TuningTable& table);

/// The inclusive scans of a results file that are candidates; or, if a rival is named, the finalists among its shapes,
/// of a file that tune_rival wrote. Throws CommandError (status 2).
Measured read_results(const std::filesystem::path& path, std::string_view rival = {});

}  // namespace scanlab::tuning
