// From measured times to a tuning table: which scan `best` runs, by n; and which shape of a rival's is the fastest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/scan_session.hpp"
#include "harness/measure/timed_case.hpp"
#include "harness/tuning/candidates.hpp"
#include "harness/tuning/tuning_table.hpp"

namespace scanlab::tuning {

/// How runs are timed: a column of the results.
using Column = std::pair<measure::Cache, measure::Launch>;

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

/// The loop of `tune`: few samples of many candidates.
inline constexpr measure::LoopOptions kTuningLoop{.rounds = 5, .width = 0, .cap_seconds = 10};

/// Measures candidates in the measurement loop.
class Tuner {
 public:
  /// `samples` may be null; else every sample of every candidate is kept there.
  Tuner(const measure::Backends& backends, const measure::LoopOptions& options, measure::ResultsFile* samples,
        std::ostream& err);

  /// Begins no further size once this is true, instead of once Ctrl-C is pressed.
  void end_when(std::function<bool()> is_over) { is_over_ = std::move(is_over); }

  /// At sizes that rise or fall, first a few, then those between them, where candidates that were hopeless on both
  /// sides are left out. Each is verified before it is timed; one that fails is not chosen. Ends early once Ctrl-C is
  /// pressed, or when end_when() says.
  TimingsBySize measure(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                        const std::vector<Choice>& candidates);

  /// Every shape of a rival at every size, from a stream, cold and warm, verified at all of them; one that fails at any
  /// is not chosen.
  TimingsBySize measure_rival(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                              const std::vector<Choice>& candidates);

  /// Every shape of a rival that is compiled in at `first_rival_sizes`, beside the rival as shipped; then the finalists
  /// at the other `rival_sizes`, in the columns of `measure`. Or, of sizes that were asked for, at these alone. Returns
  /// the times of the finalists. Throws CommandError (status 2) if no shape is compiled in.
  TimingsBySize tune_rival(std::string_view rival, const TypeAndOperator& monoid,
                           const std::vector<std::int64_t>& asked);

  bool any_failed() const { return any_failed_; }

 private:
  Timings measure_size(const Problem& problem, const std::vector<Choice>& promising,
                       const std::vector<Column>& columns);
  /// As measure_rival, where what failed before is not chosen either.
  TimingsBySize measure_more(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                             const std::vector<Choice>& candidates, const std::vector<Column>& columns);
  void leave_out_failed(TimingsBySize& measured) const;

  const measure::Backends& backends_;
  std::function<bool()> is_over_ = interrupted;
  std::vector<Choice> failed_;  ///< with the type and operator at hand
  bool any_failed_ = false;
  measure::ScanOptions options_;
  measure::ResultsFile* samples_;
  std::ostream& err_;
};

}  // namespace scanlab::tuning
