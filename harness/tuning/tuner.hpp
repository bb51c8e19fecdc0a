// Measures candidates, and shapes of a rival, for a tuning table.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "harness/host/interrupt.hpp"
#include "harness/measure/scan_session.hpp"
#include "harness/tuning/timings.hpp"

namespace scanlab::tuning {

/// Few samples of many candidates.
inline constexpr int kTuningRepetitions = 5;

/// Measures candidates by the engine.
class Tuner {
 public:
  Tuner(const measure::Backends& backends, measure::Engine& engine, int repetitions = kTuningRepetitions)
      : backends_(backends), engine_(engine), repetitions_(repetitions) {}

  /// Begins no further size once this is true, instead of once Ctrl-C is pressed.
  void end_when(std::function<bool()> is_over) { is_over_ = std::move(is_over); }

  /// At sizes that rise or fall, first a few, then those between them, where candidates that were hopeless on both
  /// sides are left out. Each is verified before it is timed; one that fails is not chosen. Ends early once Ctrl-C is
  /// pressed, or when end_when() says.
  TimingsBySize measure(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                        const std::vector<Choice>& candidates);

  /// Every shape of a rival that is compiled in at `first_rival_sizes`, from a stream, cold and warm, beside the rival
  /// as shipped; then the finalists at the other `rival_sizes`, in the columns of `measure`. Or, of sizes that were
  /// asked for, at these alone. All are verified at every size; one that fails at any is not chosen. Returns the times
  /// of the finalists. Throws CommandError (status 2) if no shape is compiled in.
  TimingsBySize tune_rival(std::string_view rival, const TypeAndOperator& monoid,
                           const std::vector<std::int64_t>& asked);

  bool any_failed() const { return any_failed_; }

 private:
  Timings measure_size(const Problem& problem, const std::vector<Choice>& promising,
                       const std::vector<Column>& columns);
  /// Every candidate at every size; one that fails, or failed before, is not chosen.
  TimingsBySize measure_all(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                            const std::vector<Choice>& candidates, const std::vector<Column>& columns);
  void leave_out_failed(TimingsBySize& measured) const;

  const measure::Backends& backends_;
  std::function<bool()> is_over_ = interrupted;
  std::set<Choice> failed_;  ///< for the current type and operator
  bool any_failed_ = false;
  measure::Engine& engine_;
  int repetitions_;
};

}  // namespace scanlab::tuning
