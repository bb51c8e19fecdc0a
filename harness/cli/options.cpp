#include "harness/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/any.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace scanlab::cli {

namespace {

/// "minbytes,b" is --minbytes, which -b stands for.
std::string long_name(const std::string& name) { return name.substr(0, name.find(',')); }

template <class T>
T parse_number(const std::string& text, const std::string& option, const char* wanted) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  refuse(fmt::format("--{} {}: give {}", option, text, wanted));
}

std::function<void(const std::string&)> reads_number(const std::string& option, int least, int most,
                                                     const std::function<void(int)>& set) {
  return [=](const std::string& text) {
    const int number = parse_number<int>(text, option, "a whole number");
    if (number < least || number > most)
      refuse(fmt::format("--{} {} is out of range: give a number between {} and {}", option, number, least, most));
    set(number);
  };
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored, of_a, of_b;
  if (std::filesystem::equivalent(a, b, ignored)) return true;
  const std::filesystem::path whole_a = std::filesystem::weakly_canonical(a, of_a);
  const std::filesystem::path whole_b = std::filesystem::weakly_canonical(b, of_b);
  return !of_a && !of_b && whole_a == whole_b;  // where one cannot be looked at, writing it says why
}

/// Whether `path` is that of an output, or of what holds it until it is whole, as stream-scan does.
bool is_file_of(const std::string& path, const std::string& output) {
  return same_file(path, output) || same_file(path, output + ".partial") || same_file(path, output + ".partial.json");
}

}  // namespace

Options& Options::add(const char* name, const char* value, const std::string& help, const Read& read) {
  description_.add_options()(name, po::value<std::string>()->value_name(value)->notifier(read), help.c_str());
  return *this;
}

std::string Options::with_default(const std::string& help, const std::string& value) {
  return fmt::format("{} (default {})", help, value);
}

Options& Options::flag(const char* name, bool& target, const std::string& help) {
  description_.add_options()(name, po::bool_switch(&target), help.c_str());
  return *this;
}

Options& Options::force(bool& target) { return flag("force", target, "replace files that exist"); }

Options& Options::text(const char* name, const char* value, std::string& target, const std::string& help) {
  return add(name, value, target.empty() ? help : with_default(help, target),
             [&](const std::string& text) { target = text; });
}

Options& Options::text(const char* name, const char* value, std::optional<std::string>& target,
                       const std::string& help) {
  return add(name, value, help, [&](const std::string& text) { target = text; });
}

Options& Options::file(const char* name, File use, std::optional<std::string>& target, const std::string& help) {
  files_.emplace_back(name, use);
  return text(name, "FILE", target, help);
}

Options& Options::files(const char* name, File use, Words& target, const std::string& help) {
  files_.emplace_back(name, use);
  description_.add_options()(name, po::value(&target)->multitoken()->composing()->value_name("FILE …"), help.c_str());
  return *this;
}

Options& Options::choice(const char* name, std::string& target, const Words& known, const std::string& help) {
  return add(name, "WORD", with_default(fmt::format("{}: {}", help, fmt::join(known, ", ")), target),
             [&target, known, option = std::string(name)](const std::string& word) {
               if (std::ranges::find(known, word) == known.end()) unknown(option.c_str(), word, known);
               target = word;
             });
}

Options& Options::number(const char* name, int& target, int least, int most, const std::string& help) {
  return add(name, "N", with_default(help, std::to_string(target)),
             reads_number(long_name(name), least, most, [&](int number) { target = number; }));
}

Options& Options::number(const char* name, std::optional<int>& target, int least, int most, const std::string& help) {
  return add(name, "N", help, reads_number(long_name(name), least, most, [&](int number) { target = number; }));
}

Options& Options::count(const char* name, std::optional<std::int64_t>& target, const std::string& help) {
  return add(name, "N", help, [&target, option = "--" + std::string(name)](const std::string& text) {
    const std::vector<std::int64_t> all = parse_items(text, option);
    if (all.size() != 1) refuse(fmt::format("{0} takes one number, as in {0} 2^26", option));
    target = all.front();
  });
}

Options& Options::bytes(const char* name, std::size_t& target, const std::string& initially, const std::string& help) {
  target = parse_bytes(initially, name);
  return add(
      name, "BYTES", with_default(help, initially),
      [&target, option = "--" + long_name(name)](const std::string& text) { target = parse_bytes(text, option); });
}

Options& Options::bytes(const char* name, std::optional<std::size_t>& target, const std::string& help) {
  return add(name, "BYTES", help, [&target, option = "--" + long_name(name)](const std::string& text) {
    target = parse_bytes(text, option);
  });
}

Options& Options::real(const char* name, const char* value, std::optional<double>& target, const std::string& help) {
  return add(name, value, help, [&target, option = std::string(name)](const std::string& text) {
    target = parse_number<double>(text, option, "a number");
  });
}

Options& Options::microseconds(const char* name, std::optional<double>& target, const std::string& help) {
  return add(name, "T", help, [&target, option = std::string(name)](const std::string& text) {
    const auto us = parse_number<double>(text, option, "microseconds");
    constexpr double kMost = 1e9;
    if (!(us >= 0 && us <= kMost))
      refuse(fmt::format("--{} {:g} is out of range: give microseconds from 0 to {:g}", option, us, kMost));
    target = 1e-6 * us;
  });
}

Options& Options::seed(std::uint64_t& target, const std::string& help) {
  return add("seed", "N", with_default(help, std::to_string(target)), [&](const std::string& text) {
    target = parse_number<std::uint64_t>(text, "seed", "a whole number from 0");
  });
}

Options& Options::list(const char* name, const char* value, OptionWords& target, const std::string& help) {
  const auto set = [&target, option = std::string(name)](const Words& words) { target[option] = words; };
  description_.add_options()(name, po::value<Words>()->composing()->value_name(value)->notifier(set), help.c_str());
  return *this;
}

Options& Options::positional(const char* name, int most) {
  positional_.add(name, most);
  return *this;
}

Options& Options::note(const char* text) {
  note_ = text;
  return *this;
}

bool Options::parse(const Words& arguments, const Context& context) {
  bool help = false;
  flag("help,h", help, "print this text");
  if (std::ranges::any_of(arguments, [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    const Command& command = *context.command;
    fmt::print(context.out, "{}: {}\n\n{}\nexample: {}\n{}{}", context.called, command.summary,
               fmt::streamed(description_), command.example, note_.empty() ? "" : "\n", note_);
    return false;
  }
  try {
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(description_).positional(positional_).style(style).run(),
              values_);
    po::notify(values_);
  } catch (const po::unknown_option& error) {
    Words known;
    for (const auto& option : description_.options()) known.push_back("--" + option->long_name());
    refuse(fmt::format("{} has no option '{}'{}", context.called, error.get_option_name(),
                       suggestion(error.get_option_name(), known)));
  } catch (const po::error& error) {
    refuse(fmt::format("{}: {} ({} --help)", context.called, error.what(), context.called));
  }
  refuse_one_file_for_two();
  return true;
}

bool Options::given(const std::string& option) const {
  return values_.count(option) != 0 && !values_[option].defaulted();
}

void Options::refuse_useless(std::initializer_list<const char*> options, const char* reason) const {
  for (const char* option : options) {
    if (given(option)) refuse(fmt::format("--{} would have no effect: {}", option, reason));
  }
}

void Options::leave_out(std::initializer_list<const char*> options, const std::string& reason) const {
  for (const char* option : options) {
    if (given(option)) refuse(fmt::format("{}: leave out --{}", reason, option));
  }
}

void Options::refuse_one_file_for_two() const {
  struct Named {
    std::string option, path;
    File use;
  };
  std::vector<Named> all;
  for (const auto& [option, use] : files_) {
    if (!given(option)) continue;
    const boost::any& value = values_[option].value();
    if (const auto* const path = boost::any_cast<std::string>(&value)) {
      if (!path->empty()) all.push_back({option, *path, use});
    } else {
      for (const std::string& each : boost::any_cast<const Words&>(value)) all.push_back({option, each, use});
    }
  }
  for (const Named& other : all) {
    for (const Named& written : all) {
      if (written.use != File::written || written.option == other.option) continue;
      std::error_code ignored;
      const bool lost = other.use == File::written || std::filesystem::is_regular_file(other.path, ignored);
      if (!lost || !is_file_of(other.path, written.path)) continue;
      refuse(fmt::format(
          "--{} and --{} are the same file, '{}': {}; choose another --{}", other.option, written.option, written.path,
          other.use == File::read ? "the input would be overwritten" : "one of the two would be lost", written.option));
    }
  }
}

void add_problem_options(Options& options, OptionWords& words, const std::string& defaults) {
  options.list("type", "TYPE", words, fmt::format("select types: {}, or all ({})", all_names<ElementType>(), defaults))
      .list("op", "OP", words, fmt::format("select operators: {}, or all ({})", all_names<Operator>(), defaults))
      .list("mode", "MODE", words, "select inclusive, exclusive, or all");
}

void add_selection_options(Options& options, OptionWords& words, const std::string& default_items) {
  options.list("variant", "GLOB", words, "select variants and baselines by id or glob: hs_block, 'hso_*' (default all)")
      .list("items", "LIST", words,
            fmt::format("set numbers of items: 1000, 2^20+1, 2^10:2^28:x4, 0:100:+10 (default {})", default_items))
      .list("set", "PARAMETER=VALUE", words, "set a parameter of a variant, as scanlab list names them: padding=row");
}

void add_job_options(Options& options, OptionWords& words, const std::string& workloads, const std::string& items) {
  const streams::Job job;
  options.list("schedule", "GLOB", words, "select schedules by id or glob, or all; --schedule may be left out")
      .list("workload", "GLOB", words, fmt::format("select workloads by id or glob, or all (default {})", workloads))
      .list("items", "LIST", words, fmt::format("set numbers of items: 2^20+1, 2^10:2^28:x4 (default {})", items))
      .list("chunks", "LIST", words, fmt::format("set numbers of chunks: 8,64 or 4:64:x4 (default {})", job.chunks))
      .list("streams", "LIST", words, fmt::format("set numbers of streams (default {})", job.streams))
      .list("memory", "KIND", words, "select host memory: pinned, pageable, all (default: the schedule's own)")
      .list("buffers", "LIST", words,
            fmt::format("set device buffers per array, where reused (default {})", job.buffers))
      .list("budget", "BYTES", words, "limit the device memory: sets buffers, and leaves out jobs that take more")
      .list("blocks", "LIST", words, "set the blocks per kernel (default 0: as many as the items need)")
      .list("work", "LIST", words,
            fmt::format("set the work per item, in units of the workload (default {})", job.work))
      .positional("schedule", -1);
}

void LoopWords::add_to(Options& options, const measure::LoopOptions& defaults, SweepSets sweep) {
  options
      .number("rounds", rounds, std::numeric_limits<int>::min(), std::numeric_limits<int>::max(),
              fmt::format("take at most N samples per case (default {}{})", defaults.rounds,
                          sweep == SweepSets::nothing ? "" : ", or the sweep's"))
      .real("width", "PERCENT", width,
            fmt::format("stop a case when the 95 % interval of its median is so narrow (default {:g}; 0: never)",
                        100 * defaults.width))
      .real("cap", "SECONDS", cap,
            fmt::format("after this time take at most {} samples per case (default {:g}{})", measure::kMinSamples,
                        defaults.cap_seconds, sweep == SweepSets::rounds_and_cap ? ", or the sweep's" : ""));
}

measure::LoopOptions LoopWords::over(measure::LoopOptions options, const measure::GoogleFlags& flags) const {
  options.rounds = either("rounds", rounds, flags.rounds).value_or(options.rounds);
  options.cap_seconds = cap.value_or(options.cap_seconds);
  if (width) options.width = *width / 100;
  if (!(options.width >= 0 && std::isfinite(options.width)))
    refuse(fmt::format("--width {:g}: give a percentage of 0 or more, as in --width 1", 100 * options.width));
  if (options.rounds < 1) refuse(fmt::format("--rounds {}: give a number of 1 or more", options.rounds));
  if (!(options.cap_seconds > 0))
    refuse(fmt::format("--cap {:g}: give a number of seconds above 0", options.cap_seconds));
  return options;
}

void add_loop_facts(const measure::LoopOptions& options, measure::Facts& facts) {
  facts["rounds"] = std::to_string(options.rounds);
  facts["width_percent"] = fmt::format("{}", 100 * options.width);
  facts["cap_seconds"] = fmt::format("{}", options.cap_seconds);
}

void TimelineWords::add_to(Options& options) {
  options.file("out", File::written, out, "write the timeline to FILE, as trace events for ui.perfetto.dev")
      .force(force)
      .real("gap", "PERCENT", gap, "sum up idle gaps below this percentage of the makespan (default 2)");
}

double TimelineWords::shortest_gap() const {
  const double percent = gap.value_or(2);
  if (!(percent >= 0)) refuse(fmt::format("--gap {:g}: give a percentage of 0 or more, as in --gap 2", percent));
  return 0.01 * percent;
}

std::filesystem::path output_folder(const std::string& folder) {
  if (folder.empty()) refuse("--out '' names no folder: give one, as in --out . for the current one");
  return folder;
}

std::optional<WholeFile> output_file(const std::optional<std::string>& path, bool force) {
  if (!path) return std::nullopt;
  return std::optional<WholeFile>(std::in_place, *path, force);
}

std::optional<measure::ResultsFile> results_file(const std::optional<std::string>& path,
                                                 const measure::Facts& provenance, bool force) {
  if (!path) return std::nullopt;
  return std::optional<measure::ResultsFile>(std::in_place, *path, provenance,
                                             force ? measure::IfExists::replace : measure::IfExists::refuse);
}

}  // namespace scanlab::cli
