// The options of a command: each is bound to a variable, checked by a notifier of Boost.Program_options, and one line
// of help. Every command includes this.
#pragma once

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/results/results_file.hpp"
#include "harness/selection/job_selection.hpp"
#include "harness/selection/scan_selection.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

/// "i8, i16, i32, …": every value of an option, for its help.
std::string all_names(const auto& named) {
  std::string all;
  for (const auto& [value, text] : named) all += (all.empty() ? "" : ", ") + std::string(text);
  return all;
}
template <class E>
std::string all_names() {
  return all_names(named_values<E>());
}

/// Returns the number that a word means. Throws CommandError (status 2) unless it is one from `least` to `most`.
template <class Number>
Number parse_number(const std::string& word, const std::string& option, Number least, Number most) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size() && number >= least && number <= most) return number;
  refuse(fmt::format("{} {}: give a {}number {}", option, word, std::numeric_limits<Number>::is_integer ? "whole " : "",
                     most == std::numeric_limits<Number>::max() ? fmt::format("of {} or more", least)
                                                                : fmt::format("from {} to {}", least, most)));
}

/// The use of the file that an option names. A file that is written is named by no other option.
enum class File { read, written };

/// A file that a command writes if it is asked to; --force replaces one that exists.
struct Output {
  std::optional<std::string> path;
  bool force = false;

  /// Throws as WholeFile does.
  std::optional<WholeFile> open() const {
    return path ? std::optional<WholeFile>(std::in_place, *path, force) : std::nullopt;
  }
};

template <class T>
using Choices = std::vector<std::pair<T, std::string>>;

/// Each method declares one option, which sets `target` if it is given. A plain target has a default, its value before;
/// an optional one need not. A wrong value throws a CommandError (status 2) that names the option and says what to give
/// instead.
class Options {
 public:
  Options& flag(const char* name, bool& target, const std::string& help) {
    description_.add_options()(name, po::bool_switch(&target), help.c_str());
    return *this;
  }
  template <class T>
  Options& text(const char* name, const char* value, T& target, const std::string& help) {
    return add(name, value, help, default_of(target), [&](const std::string& word, const auto&) { target = word; });
  }
  Options& file(const char* name, File use, std::optional<std::string>& target, const std::string& help);
  /// Several files, by repeating the option or naming more than one behind it.
  Options& files(const char* name, Words& target, const std::string& help);
  /// --force, of commands that write several files.
  Options& force(bool& target) { return flag("force", target, "replace files that exist"); }
  /// --NAME and --force.
  Options& output(const char* name, Output& target, const std::string& help) {
    return file(name, File::written, target.path, help).force(target.force);
  }

  /// One of a few words, each with its value.
  template <class T>
  Options& choice(const char* name, T& target, const Choices<std::type_identity_t<T>>& known, const std::string& help) {
    Words words;
    std::string initially;
    for (const auto& [value, word] : known) {
      words.push_back(word);
      if (value == target) initially = word;
    }
    return add(name, "WORD", fmt::format("{}: {}", help, fmt::join(words, ", ")), initially,
               [=, &target](const std::string& word, const auto&) {
                 const auto chosen = std::ranges::find(words, word);
                 if (chosen == words.end()) unknown(name, word, words);
                 target = known[static_cast<std::size_t>(chosen - words.begin())].first;
               });
  }
  /// A value of an enumeration, by its name.
  template <class T>
  Options& named(const char* name, T& target, const std::string& help) {
    Choices<T> known;
    for (const auto& [value, word] : named_values<typename decltype(std::optional(target))::value_type>())
      known.emplace_back(value, word);
    return choice(name, target, known, help);
  }

  /// A number from `least` to `most`, of their type.
  template <class T, class Number>
  Options& number(const char* name, T& target, Number least, Number most, const std::string& help,
                  const char* value = "N") {
    return add(name, value, help, default_of(target), [=, &target](const std::string& word, const std::string& option) {
      target = parse_number(word, option, least, most);
    });
  }
  /// A number of items: 1000, 2^20, 2^20+1.
  Options& count(const char* name, std::optional<std::int64_t>& target, const std::string& help) {
    return add(name, "N", help, "", [&](const std::string& word, const std::string& option) {
      const std::vector<std::int64_t> all = parse_items(word, option);
      if (all.size() != 1) refuse(fmt::format("{0} takes one number, as in {0} 8", option));
      target = all.front();
    });
  }
  /// A number of bytes: 4096, 2^30, 300MiB; by default as many as `initially` says.
  template <class T>
  Options& bytes(const char* name, T& target, const std::string& help, const std::string& initially = "") {
    if (!initially.empty()) target = parse_bytes(initially, name);
    return add(name, "BYTES", help, initially,
               [&](const std::string& word, const std::string& option) { target = parse_bytes(word, option); });
  }
  /// A time in microseconds; `target` is in seconds.
  Options& microseconds(const char* name, std::optional<double>& target, const std::string& help) {
    return add(name, "T", help, "", [&](const std::string& word, const std::string& option) {
      target = 1e-6 * parse_number(word, option, 0.0, 1e9);
    });
  }
  Options& seed(std::uint64_t& target, const std::string& help) {
    return number("seed", target, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), help);
  }

  /// A list: comma-separated, repeated, or both. Its words stay as typed, for select_scans() and select_jobs().
  Options& list(const char* name, const char* value, OptionWords& target, const std::string& help) {
    const auto set = [&target, option = std::string(name)](const Words& words) { target[option] = words; };
    description_.add_options()(name, po::value<Words>()->composing()->value_name(value)->notifier(set), help.c_str());
    return *this;
  }

  /// Assigns positional words to this option: at most `most`, or any number for -1.
  Options& positional(const char* name, int most) {
    positional_.add(name, most);
    return *this;
  }
  /// Adds a note, printed below the options.
  Options& note(const char* text) {
    note_ = text;
    return *this;
  }

  /// Sets the targets. `--help` prints the options and an example, and returns false: the command then returns kOk.
  /// Throws CommandError for an unknown option, which names the near matches, and for a wrong value.
  bool parse(const Words& arguments, const Context& context);

  /// Whether an option was on the command line.
  bool given(const std::string& option) const { return values_.count(option) != 0 && !values_[option].defaulted(); }
  /// Throws CommandError (status 2) if any of `options` was given: "--items would have no effect: REASON".
  void refuse_useless(std::initializer_list<const char*> options, const std::string& reason) const;

 private:
  using Read = std::function<void(const std::string& word, const std::string& option)>;
  template <class T>
  static std::string default_of(const T& target) {
    if constexpr (requires { target.has_value(); }) {
      return target ? default_of(*target) : "";
    } else {
      return fmt::format("{}", target);
    }
  }
  Options& add(const char* name, const char* value, const std::string& help, const std::string& initially,
               const Read& read);
  void refuse_one_file_for_two() const;

  struct NamedFile {
    std::string option, path;
    File use;
  };
  po::options_description description_{"options", 120, 90};
  po::positional_options_description positional_;
  po::variables_map values_;
  std::vector<NamedFile> files_;
  std::string note_;
};

/// Returns the help of --sweep: all `sweeps`, and the options that narrow them.
template <class Sweep>
std::string sweep_help(const std::vector<Sweep>& sweeps, const std::string& narrowed_by) {
  std::string help = "run a named list of cases, which " + narrowed_by + " can narrow.";
  for (const Sweep& sweep : sweeps) help += " `" + sweep.name + "`: " + sweep.about + ".";
  return help;
}

/// Adds --type, --op and --mode.
void add_problem_options(Options& options, OptionWords& words, const std::string& defaults);
/// Adds --variant, --items and --set, for select_scans().
void add_selection_options(Options& options, OptionWords& words, const std::string& default_items);

/// Adds the words SCHEDULE, --workload, --items, --chunks, --streams, --memory, --buffers, --budget, --blocks and
/// --work, for select_jobs().
void add_job_options(Options& options, OptionWords& words, const std::string& workloads = kDefaultWorkload,
                     const std::string& items = kDefaultJobItems);
/// The options of a job, without SCHEDULE.
inline constexpr std::initializer_list<const char*> kJobOptions{"workload", "items",  "chunks", "streams", "memory",
                                                                "buffers",  "budget", "blocks", "work"};

/// --out, --force and --gap, the options of commands that show a timeline.
struct TimelineWords {
  Output out;
  double gap = 2;  ///< percent of the makespan

  void add_to(Options& options);
};

/// Returns the facts of the device. Throws CommandError (status 3) if there is none: `instead` says what to do then.
measure::Facts require_device(const Context& context, const std::string& instead);

/// Returns the provenance of measurements on the device, or the host's. Throws CommandError (status 3) if there is no
/// device.
measure::Facts measured(bool on_device, const Context& context);

/// Returns the folder of --out. Refuses an empty word, which would mean the current folder.
std::filesystem::path output_folder(const std::string& folder);

/// Opens the results file at `path`, if any. Throws as ResultsFile does.
std::optional<measure::ResultsFile> results_file(const std::optional<std::string>& path,
                                                 const measure::Facts& provenance, bool force);
template <class File>
File* pointer(std::optional<File>& file) {
  return file ? &*file : nullptr;
}

/// Prints a title, and a line per fact.
void print_facts(const std::string& title, const measure::Facts& facts, std::ostream& out);

/// Ends a command that Ctrl-C interrupted: throws CommandError (status 130).
void end_if_interrupted(const char* consequence = "nothing is written");

}  // namespace scanlab::cli
