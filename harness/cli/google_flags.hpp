// The `--benchmark_*` words of a command line: those that mean one of our options, and those that Google Benchmark
// itself is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scanlab::cli {

struct GoogleFlags {
  std::vector<std::string> others;                           ///< the words that are not Google Benchmark's
  std::optional<std::string> out;                            ///< --benchmark_out
  std::optional<int> rounds;                                 ///< --benchmark_repetitions
  std::optional<double> seconds;                             ///< --benchmark_min_time=0.2s: of timed work a repetition
  std::optional<std::int64_t> runs;                          ///< --benchmark_min_time=100x: runs a repetition
  std::vector<std::pair<std::string, std::string>> context;  ///< --benchmark_context=key=value,...
  bool list = false;                                         ///< --benchmark_list_tests
};

/// Takes the flags out of `arguments` and initialises Google Benchmark with those it is given. Throws CommandError
/// (status 2) for a flag that it does not know, and for formats other than JSON.
GoogleFlags take_google_flags(const std::vector<std::string>& arguments);

/// Throws CommandError (status 2) for flags that `command`, whose samples are one run each, cannot honour.
void refuse_min_time(const GoogleFlags& flags, const char* command);

/// Throws CommandError (status 2): an option and its --benchmark_ flag say different things.
[[noreturn]] void contradiction(const char* option);

/// Whether --benchmark_filter lets a case pass: a regular expression, negated by a leading '-'. Throws CommandError.
bool passes_google_filter(const std::string& case_name);

}  // namespace scanlab::cli
