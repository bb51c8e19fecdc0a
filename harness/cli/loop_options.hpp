// The options that every command that times takes, with one meaning: --rounds, --width, --cap.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/google_flags.hpp"
#include "harness/measure/loop.hpp"

namespace scanlab::cli {

/// Adds them; `defaults` are what help says.
void add_loop_options(boost::program_options::options_description& options, const measure::LoopOptions& defaults);

/// What was said, in our words or in Google Benchmark's; else `defaults`. Throws CommandError (status 2) for what
/// cannot be, and for two words that contradict each other.
measure::LoopOptions read_loop_options(const boost::program_options::variables_map& values, const GoogleFlags& flags,
                                       measure::LoopOptions defaults);

/// For the provenance: how the run was asked for.
void add_loop_facts(const measure::LoopOptions& options, measure::Facts& facts);

/// The words with an option's old spelling, kept for one release, replaced by its new one.
std::vector<std::string> renamed(std::vector<std::string> arguments, const std::string& from, const std::string& to);

/// One thing that can be said in our words and in Google Benchmark's. Throws CommandError (status 2) if both differ.
template <class T>
std::optional<T> either(const boost::program_options::variables_map& values, const char* option,
                        const std::optional<T>& googles) {
  const std::optional<T> ours = values.count(option) == 0 ? std::nullopt : std::optional<T>(values[option].as<T>());
  if (ours && googles && *ours != *googles) contradiction(option);
  return ours ? ours : googles;
}

}  // namespace scanlab::cli
