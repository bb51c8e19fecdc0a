// The options that commands share: how they are declared, and what is said of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/google_flags.hpp"
#include "harness/measure/loop.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/selection/job_selection.hpp"
#include "harness/selection/scan_selection.hpp"

namespace scanlab::cli {

// ------------------------------------------------------------------------------------------------------ one option

/// An option that takes a text, or a list: comma-separated, repeated, or both.
po::typed_value<std::string>* text(const char* value_name);
po::typed_value<Words>* list_of(const char* value_name);

/// "i8, i16, i32, …": every value of an option, for its help.
template <class E>
std::string all_names() {
  std::string all;
  for (const auto& [value, text] : named_values<E>()) all += (all.empty() ? "" : ", ") + std::string(text);
  return all;
}

/// The option's word, one of `known`; throws CommandError (status 2), which lists all, for another.
std::string parse_word(const po::variables_map& values, const char* option, const Words& known);

/// The value that an option names; throws CommandError (status 2), which lists all, for another word.
template <class E>
E parse_named(const po::variables_map& values, const char* option) {
  Words known;
  for (const auto& [value, text] : named_values<E>()) known.emplace_back(text);
  return *parse<E>(parse_word(values, option, known));
}

/// The texts of all options that are said, or have a default, for select_scans() and select_jobs().
OptionWords said(const po::variables_map& values);

/// Every word of a list; throws CommandError (status 2) for an empty one.
Words option_words(const po::variables_map& values, const char* option);

template <class T>
std::optional<T> given(const po::variables_map& values, const char* option) {
  return values.count(option) == 0 ? std::nullopt : std::optional<T>(values[option].as<T>());
}

/// The number that an option gives; throws CommandError (status 2) unless it is between `least` and `most`.
int option_number(const po::variables_map& values, const char* option, int least, int most);

/// Throws CommandError (status 2): an option and its --benchmark_ flag differ.
[[noreturn]] void contradiction(const char* option);

/// One thing that can be said in our words and in Google Benchmark's. Throws CommandError (status 2) if both differ.
template <class T>
std::optional<T> either(const po::variables_map& values, const char* option, const std::optional<T>& googles) {
  const std::optional<T> ours = given<T>(values, option);
  if (ours && googles && *ours != *googles) contradiction(option);
  return ours ? ours : googles;
}

/// Throws CommandError (status 2) if one of `options` was given, which have no effect, for `why`.
void refuse_options(const po::variables_map& values, std::initializer_list<const char*> options, const char* why);

/// The words with an option's old spelling, kept for one release, replaced by its new one.
Words renamed(Words arguments, const std::string& from, const std::string& to);

/// The help of --sweep: every one of `sweeps`, and what may narrow it.
template <class Sweep>
std::string sweep_help(const std::vector<Sweep>& sweeps, const char* narrowed_by) {
  std::string help = std::string("run a named list of cases, which ") + narrowed_by + " can narrow.";
  for (const Sweep& sweep : sweeps) help += " `" + sweep.name + "`: " + sweep.about + ".";
  return help;
}

// -------------------------------------------------------------------------------------------------- groups of them

/// Adds --variant, --type, --op, --mode, --items and --set, for select_scans().
void add_selection_options(po::options_description& options, const std::string& default_items);

/// Adds --schedule (for a positional word), --workload, --items, --chunks, --streams, --memory, --buffers, --budget,
/// --blocks and --work, for select_jobs().
void add_job_options(po::options_description& options, const std::string& default_workloads,
                     const std::string& default_items);

/// What a sweep of a command sets, unless the options say otherwise.
enum class SweepSets { nothing, rounds, rounds_and_cap };

/// Adds --rounds, --width and --cap, which every command that times takes; `defaults` are what help says.
void add_loop_options(po::options_description& options, const measure::LoopOptions& defaults,
                      SweepSets sweep = SweepSets::nothing);

/// What was said of them, in our words or in Google Benchmark's; else `defaults`. Throws CommandError (status 2) for
/// what cannot be, and for two words that contradict each other.
measure::LoopOptions read_loop_options(const po::variables_map& values, const measure::GoogleFlags& flags,
                                       measure::LoopOptions defaults);

/// For the provenance: how the run was asked for.
void add_loop_facts(const measure::LoopOptions& options, measure::Facts& facts);

/// Adds --out, --force, --gap and --help, of commands that show a timeline.
void add_timeline_options(po::options_description& options);
/// --gap, as a part of the makespan; throws CommandError (status 2).
double shortest_gap_of(const po::variables_map& values);

/// A time that is given in microseconds; throws CommandError (status 2).
std::optional<double> seconds_of(const po::variables_map& values, const char* option);

// ------------------------------------------------------------------------------------------------- what is written

/// The folder that --out names; refuses an empty word, which would be the current folder.
std::filesystem::path output_folder(const po::variables_map& values);

/// The file that --out, or another option, asks for, which --force replaces. Throws as WholeFile does.
std::optional<WholeFile> output_file(const po::variables_map& values, const char* option = "out");

/// Likewise a results file, if there is a path. Throws as ResultsFile does.
std::optional<measure::ResultsFile> results_file(const std::optional<std::string>& path,
                                                 const measure::Facts& provenance, const po::variables_map& values);

}  // namespace scanlab::cli
