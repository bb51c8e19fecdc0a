// The result of timing a case, and the reports and exit statuses that all timing commands share.
#pragma once

#include <concepts>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace scanlab::measure {

/// A case cannot be run for lack of memory; the others go on.
struct LacksMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Repetitions of a case, unless a sweep or --benchmark_repetitions sets them; and of one whose run takes above a
/// second.
inline constexpr int kRepetitions = 11;
inline constexpr int kFewRepetitions = 7;

/// The result of timing a case, so far.
struct Timing {
  enum class State {
    timed,    ///< to be timed in every repetition
    skipped,  ///< not timed: `reason` says why
    failed,   ///< not timed, or no longer: its output was wrong, or it threw, as `reason` says
  };
  std::string name{};  ///< for people and --benchmark_filter; no reader takes anything from it
  State state = State::timed;
  std::string reason{};
  bool out_of_memory = false;
  bool verified = false;              ///< its output was right when it was last looked at
  int repetitions = kRepetitions;     ///< samples to take
  std::vector<double> nanoseconds{};  ///< of one run, an entry per sample
  bool ended = false;                 ///< recorded with its reason

  void skip(std::string cause) { state = State::skipped, reason = std::move(cause); }
  void fail(std::string cause) { state = State::failed, reason = std::move(cause); }
};

using Timings = std::vector<const Timing*>;

template <std::derived_from<Timing> Timed>
Timings timings(const std::vector<Timed>& all) {
  Timings pointers;
  for (const Timed& timed : all) pointers.push_back(&timed);
  return pointers;
}

/// Cases that were not timed, those of one reason together.
void print_untimed(const Timings& all, std::ostream& out);

/// kInterrupted after Ctrl-C, kFailed if a case failed, kOutOfMemory if one was skipped for lack of memory, else kOk.
int status_of(const Timings& all);

/// As status_of(), but kBadInput and a sentence where it is kOk though every case was skipped.
int status_or_nothing_ran(const Timings& all, std::ostream& err);

}  // namespace scanlab::measure
