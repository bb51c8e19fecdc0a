// The options of a command: each is bound to a variable, checked by a notifier of Boost.Program_options, and one line
// of help.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/google_flags.hpp"
#include "harness/measure/loop.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/selection/job_selection.hpp"
#include "harness/selection/scan_selection.hpp"

namespace scanlab::cli {

/// "i8, i16, i32, …": every value of an option, for its help.
template <class E>
std::string all_names() {
  std::string all;
  for (const auto& [value, text] : named_values<E>()) all += (all.empty() ? "" : ", ") + std::string(text);
  return all;
}

/// The use of the file that an option names. Two options that name one file are refused.
enum class File { none, read, written };

/// Each method declares one option, which sets `target` if it is given; the initial value of `target` is the default.
/// A wrong value throws a CommandError (status 2) that names the option and says what to give instead.
class Options {
 public:
  Options& flag(const char* name, bool& target, const std::string& help);
  Options& text(const char* name, const char* value, std::string& target, const std::string& help);
  Options& text(const char* name, const char* value, std::optional<std::string>& target, const std::string& help);
  Options& file(const char* name, File use, std::optional<std::string>& target, const std::string& help);
  /// Several files, by repeating the option or naming more than one behind it.
  Options& files(const char* name, File use, Words& target, const std::string& help);
  /// --force, of commands that write files.
  Options& force(bool& target);

  /// One of a few words.
  Options& choice(const char* name, std::string& target, const Words& known, const std::string& help);
  /// A value of an enumeration, by its name.
  template <class E>
  Options& named(const char* name, std::optional<E>& target, const std::string& help) {
    Words known;
    for (const auto& [value, text] : named_values<E>()) known.emplace_back(text);
    const std::string all = fmt::format("{}: {}", help, fmt::join(known, ", "));
    const auto read = [&target, known, option = std::string(name)](const std::string& word) {
      target = scanlab::parse<E>(word);
      if (!target) unknown(option.c_str(), word, known);
    };
    return add(name, "NAME", target ? with_default(all, std::string(scanlab::name(*target))) : all, read);
  }

  /// A whole number from `least` to `most`.
  Options& number(const char* name, int& target, int least, int most, const std::string& help);
  Options& number(const char* name, std::optional<int>& target, int least, int most, const std::string& help);
  /// A number of items: 1000, 2^20, 2^20+1.
  Options& count(const char* name, std::optional<std::int64_t>& target, const std::string& help);
  Options& bytes(const char* name, std::size_t& target, const std::string& initially, const std::string& help);
  Options& bytes(const char* name, std::optional<std::size_t>& target, const std::string& help);
  Options& real(const char* name, const char* value, std::optional<double>& target, const std::string& help);
  /// A time in microseconds; `target` is in seconds.
  Options& microseconds(const char* name, std::optional<double>& target, const std::string& help);
  Options& seed(std::uint64_t& target, const std::string& help);

  /// A list: comma-separated, repeated, or both. Its words stay as typed, for select_scans() and select_jobs().
  Options& list(const char* name, const char* value, OptionWords& target, const std::string& help);

  /// Assigns positional words to this option: at most `most`, or any number for -1.
  Options& positional(const char* name, int most);
  /// Adds a note, printed below the options.
  Options& note(const char* text);

  /// Sets the targets. `--help` prints the options and an example, and returns false: the command then returns kOk.
  /// Throws CommandError for an unknown option, which names the near matches, and for a wrong value.
  bool parse(const Words& arguments, const Context& context);

  /// Whether an option was on the command line.
  bool given(const std::string& option) const;
  /// Throws CommandError (status 2) if any of `options` was given: "--items would have no effect: REASON".
  void refuse_useless(std::initializer_list<const char*> options, const char* reason) const;
  /// Throws CommandError (status 2) if any was given: "REASON: leave out --items".
  void leave_out(std::initializer_list<const char*> options, const std::string& reason) const;

 private:
  using Read = std::function<void(const std::string&)>;
  Options& add(const char* name, const char* value, const std::string& help, const Read& read);
  static std::string with_default(const std::string& help, const std::string& value);
  void refuse_one_file_for_two() const;

  po::options_description description_{"options", 120, 90};
  po::positional_options_description positional_;
  po::variables_map values_;
  std::vector<std::pair<std::string, File>> files_;
  std::string note_;
};

[[noreturn]] inline void refuse(const std::string& sentence) { throw CommandError(kBadInput, sentence); }

/// Returns the value of an option or of the equivalent flag of Google Benchmark. Throws CommandError if they differ.
template <class T>
std::optional<T> either(const std::string& option, const std::optional<T>& ours, const std::optional<T>& googles) {
  if (ours && googles && *ours != *googles)
    refuse("--" + option + " and the --benchmark_ flag of the same meaning differ: give one of them");
  return ours ? ours : googles;
}

/// Returns the help of --sweep: all `sweeps`, and the options that narrow them.
template <class Sweep>
std::string sweep_help(const std::vector<Sweep>& sweeps, const std::string& narrowed_by) {
  std::string help = "run a named list of cases, which " + narrowed_by + " can narrow.";
  for (const Sweep& sweep : sweeps) help += " `" + sweep.name + "`: " + sweep.about + ".";
  return help;
}

// -------------------------------------------------------------------------------------------- options of many commands

/// Adds --type, --op and --mode.
void add_problem_options(Options& options, OptionWords& words, const std::string& defaults);
/// Adds --variant, --items and --set, for select_scans().
void add_selection_options(Options& options, OptionWords& words, const std::string& default_items);

/// Adds the words SCHEDULE, --workload, --items, --chunks, --streams, --memory, --buffers, --budget, --blocks and
/// --work, for select_jobs().
void add_job_options(Options& options, OptionWords& words, const std::string& workloads, const std::string& items);
/// The options of a job, without SCHEDULE.
inline constexpr std::initializer_list<const char*> kJobOptions{"workload", "items",  "chunks", "streams", "memory",
                                                                "buffers",  "budget", "blocks", "work"};

/// The loop options that a sweep of a command sets by default.
enum class SweepSets { nothing, rounds, rounds_and_cap };

/// --rounds, --width and --cap, the options of every command that times.
struct LoopWords {
  std::optional<int> rounds;
  std::optional<double> width;  ///< percent
  std::optional<double> cap;    ///< seconds

  void add_to(Options& options, const measure::LoopOptions& defaults, SweepSets sweep = SweepSets::nothing);
  /// Throws CommandError (status 2) if a flag of Google Benchmark says otherwise.
  measure::LoopOptions over(measure::LoopOptions defaults, const measure::GoogleFlags& flags = {}) const;
};

/// Adds the loop options to the provenance.
void add_loop_facts(const measure::LoopOptions& options, measure::Facts& facts);

/// --out, --force and --gap, the options of commands that show a timeline.
struct TimelineWords {
  std::optional<std::string> out;
  bool force = false;
  std::optional<double> gap;  ///< percent of the makespan

  void add_to(Options& options);
  double shortest_gap() const;  ///< part of the makespan
};

// ------------------------------------------------------------------------------------------------- what is written

/// Returns the folder of --out. Refuses an empty word, which would mean the current folder.
std::filesystem::path output_folder(const std::string& folder);

/// Opens the file at `path`, if any. Throws as WholeFile does.
std::optional<WholeFile> output_file(const std::optional<std::string>& path, bool force);
/// Opens the results file at `path`, if any. Throws as ResultsFile does.
std::optional<measure::ResultsFile> results_file(const std::optional<std::string>& path,
                                                 const measure::Facts& provenance, bool force);
template <class File>
File* pointer(std::optional<File>& file) {
  return file ? &*file : nullptr;
}

}  // namespace scanlab::cli
