// The measurement loop: samples of many cases, taken in rounds, until the median of each is known well enough. Every
// command that times goes through it.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/host/progress.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/results_file.hpp"

namespace scanlab::measure {

/// The options of every command that times.
struct LoopOptions {
  int rounds = 10;          ///< samples of a case, at most
  double width = 0.01;      ///< no more for a case whose median is known to this part of itself, with 95 %
  double cap_seconds = 10;  ///< of wall time: a case that has spent them gets no more than kMinSamples
};

/// Samples of a case whatever it may cost, unless fewer rounds are asked for: fewer tell nothing of a median.
inline constexpr int kMinSamples = 5;

/// The result of timing a case, so far.
struct Timing {
  enum class State {
    timed,    ///< to be timed in every round
    skipped,  ///< not timed: `reason` says why
    failed,   ///< not timed, or no longer: its output was wrong, or it threw, as `reason` says
  };
  std::string name{};  ///< for people and filters; no reader takes anything from it
  State state = State::timed;
  std::string reason{};
  bool out_of_memory = false;
  bool verified = false;              ///< its output was right when it was last looked at
  std::vector<double> nanoseconds{};  ///< of one run, an entry per sample
  double spent_seconds = 0;           ///< of wall time in all samples
  double sample_seconds = 0;          ///< of wall time that the next sample may take
  bool finished = false;              ///< its interval is narrow enough, or its cap spent: later rounds leave it out

  void skip(std::string cause) { state = State::skipped, reason = std::move(cause); }
  void fail(std::string cause) { state = State::failed, reason = std::move(cause); }
};

/// A case cannot be run for lack of memory. The loop goes on.
struct LacksMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Sample {
  double seconds = 0;              ///< of one run
  std::int64_t runs = 1;           ///< `seconds` is their mean
  double sm_clock_mhz = 0;         ///< while it ran; 0: not known
  Facts fields = Facts::object();  ///< of this sample alone, as the record has them
};

/// A case, as the loop sees it. An exception of `sample` or `close` becomes the state of the case; a lost device
/// (verify::DeviceLost) ends the loop.
struct LoopCase {
  Timing* timing = nullptr;
  std::function<Sample()> sample;
  std::function<void()> close{};           ///< if given: after the last sample, to verify what it left; sets `verified`
  std::function<void(Facts&)> describe{};  ///< adds the fields of the case to an entry of the record
};

/// Whether the median of a case is known well enough.
bool is_converged(const Timing& timing, const LoopOptions& options);

/// The stopping rule: whether the sample that was just taken, in `seconds` of wall time that are not among
/// `timing.spent_seconds` yet, is the last of the case. tests/measure/stopping_rule.json has examples, which the
/// baselines of Python follow, too.
bool is_last_sample(const Timing& timing, const LoopOptions& options, double seconds);

class Loop {
 public:
  /// `file` may be null: then nothing is kept.
  Loop(const LoopOptions& options, ResultsFile* file, std::ostream& err)
      : options_(options), file_(file), err_(err), progress_(err) {}

  /// A sample of each case per round. Each is on disk before the next is taken. Ends early, everything finished kept,
  /// once Ctrl-C is pressed. Throws verify::DeviceLost, and CommandError if the disk does not take a sample.
  void run(const std::vector<LoopCase>& cases);

  /// Calls `work` for a case; what it throws becomes the state of the case.
  void contain(Timing& timing, const std::function<void()>& work);

  /// An entry without a time, with the reason.
  void record_untimed(const LoopCase& each);

  Progress& progress() { return progress_; }

 private:
  void take(const LoopCase& each, int round);
  void record(const LoopCase& each, int round, const Sample& sample);

  LoopOptions options_;
  ResultsFile* file_;
  std::ostream& err_;
  Progress progress_;
};

}  // namespace scanlab::measure
