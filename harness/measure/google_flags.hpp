// The `--benchmark_*` words of a command line. Each means an option of ours; one that means none is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/provenance.hpp"

namespace scanlab::measure {

struct GoogleFlags {
  std::vector<std::string> others;                           ///< the words that are not Google Benchmark's
  std::optional<std::string> out;                            ///< --benchmark_out
  std::optional<int> rounds;                                 ///< --benchmark_repetitions
  std::optional<double> seconds;                             ///< --benchmark_min_time=0.2s: of timed work a repetition
  std::optional<std::int64_t> runs;                          ///< --benchmark_min_time=100x: runs a repetition
  std::vector<std::pair<std::string, std::string>> context;  ///< --benchmark_context=key=value,...
  std::string filter;  ///< --benchmark_filter, or the environment's BENCHMARK_FILTER
  bool list = false;   ///< --benchmark_list_tests

  /// Whether the filter lets a case pass: a regular expression, negated by a leading '-'.
  bool passes(const std::string& case_name) const;
  /// Adds what the user says in --benchmark_context. Throws CommandError for a key that results have of themselves.
  void add_context(Facts& provenance) const;
};

/// For the notes of the commands that take them.
inline constexpr char kGoogleFlagsNote[] =
    "Flags of Google Benchmark: --benchmark_out is --out, --benchmark_repetitions is --rounds. The flag\n"
    "--benchmark_filter selects cases, --benchmark_list_tests prints their names, and --benchmark_context adds to the\n"
    "provenance. All --benchmark_* flags without an effect are refused.\n";

/// Takes the flags out of `arguments`. Throws CommandError (status 2) for one that cannot be honoured, which says what
/// to use instead.
GoogleFlags take_google_flags(const std::vector<std::string>& arguments);

/// Throws CommandError (status 2) if --benchmark_min_time was given to `command`, which chooses the runs per sample
/// itself, as `how` says.
void refuse_min_time(const GoogleFlags& flags, const char* command, const char* how);

}  // namespace scanlab::measure
