#include "harness/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace scanlab::cli {

namespace {

[[noreturn]] void refuse(const std::string& said) { throw CommandError(kBadInput, said); }

}  // namespace

po::typed_value<std::string>* text(const char* value_name) { return po::value<std::string>()->value_name(value_name); }

po::typed_value<Words>* list_of(const char* value_name) {
  return po::value<Words>()->composing()->value_name(value_name);
}

std::string parse_word(const po::variables_map& values, const char* option, const Words& known) {
  std::string word = values[option].as<std::string>();
  if (std::ranges::find(known, word) == known.end()) unknown(option, word, known);
  return word;
}

OptionWords said(const po::variables_map& values) {
  OptionWords all;
  for (const auto& [option, value] : values) {
    if (const auto* const words = boost::any_cast<Words>(&value.value())) all[option] = *words;
    if (const auto* const word = boost::any_cast<std::string>(&value.value())) all[option] = {*word};
  }
  return all;
}

Words option_words(const po::variables_map& values, const char* option) { return words_of(said(values), option); }

int option_number(const po::variables_map& values, const char* option, int least, int most) {
  const int number = values[option].as<int>();
  if (number >= least && number <= most) return number;
  throw CommandError(
      kBadInput, fmt::format("--{} {} is out of range: give a number between {} and {}", option, number, least, most));
}

Words renamed(Words arguments, const std::string& from, const std::string& to) {
  for (std::string& word : arguments) {
    if (word == from || word.starts_with(from + "=")) word.replace(0, from.size(), to);
  }
  return arguments;
}

void contradiction(const char* option) {
  refuse(fmt::format("--{} and the --benchmark_ flag of the same meaning differ: give one of them", option));
}

void refuse_options(const po::variables_map& values, std::initializer_list<const char*> options, const char* why) {
  for (const char* option : options) {
    if (values.count(option) != 0 && !values[option].defaulted()) {
      refuse(fmt::format("--{} would have no effect: {}", option, why));
    }
  }
}

void add_selection_options(po::options_description& options, const std::string& default_items) {
  const std::string items = "set the numbers of items: 1000, 2^20+1, or ranges 2^10:2^28:x4, 0:100:+10" +
                            (default_items.empty() ? std::string{} : " (default " + default_items + ")");
  options.add_options()                                                                                             //
      ("variant", list_of("GLOB"), "select variants and baselines by id or glob: hs_block, 'hso_*' (default all)")  //
      ("type", list_of("TYPE"),
       ("select element types: " + all_names<ElementType>() +
        ", or all (default i32, or the first that the variant has)")
           .c_str())  //
      ("op", list_of("OP"),
       ("select operators: " + all_names<Operator>() + ", or all (default plus, or the first that the variant has)")
           .c_str())  //
      ("mode", list_of("MODE"),
       "select inclusive, exclusive, or all (default inclusive; explain: the cheaper mode of the variant)")  //
      ("items", list_of("LIST"), items.c_str())                                                              //
      ("set", list_of("PARAMETER=VALUE"), "set a parameter of a variant, as scanlab list names them: padding=row");
}

void add_job_options(po::options_description& options, const std::string& default_workloads,
                     const std::string& default_items) {
  const std::string workloads = fmt::format("select workloads by id or glob, or all (default {})", default_workloads);
  const std::string items =
      fmt::format("set the numbers of items: 1000, 2^20+1, or ranges 2^10:2^28:x4 (default {})", default_items);
  const streams::Job job;
  const auto with_default = [](const char* text, int value) { return fmt::format("{} (default {})", text, value); };
  const std::string chunks = with_default("set the numbers of chunks: 8,64 or 4:64:x4", job.chunks);
  const std::string streams = with_default("set the numbers of streams; more than chunks stay idle", job.streams);
  const std::string buffers =
      with_default("set the device buffers per array, for schedules that reuse them", job.buffers);
  const std::string work =
      with_default("set the work per item, in units of the workload (scanlab streams list)", job.work);
  options.add_options()                                                                                          //
      ("schedule", list_of("GLOB"), "select schedules by id or glob, or all")                                    //
      ("workload", list_of("GLOB"), workloads.c_str())                                                           //
      ("items", list_of("LIST"), items.c_str())                                                                  //
      ("chunks", list_of("LIST"), chunks.c_str())                                                                //
      ("streams", list_of("LIST"), streams.c_str())                                                              //
      ("memory", list_of("KIND"), "select host memory: pinned, pageable, or all (default: the schedule's own)")  //
      ("buffers", list_of("LIST"), buffers.c_str())                                                              //
      ("budget", text("BYTES"),
       "limit the device memory: 2GiB takes as many buffers as fit, for two chunks at least, and leaves out jobs that "
       "take more")                                                                                    //
      ("blocks", list_of("LIST"), "set the blocks per kernel (default 0: as many as the items need)")  //
      ("work", list_of("LIST"), work.c_str());
}

void add_loop_options(po::options_description& options, const measure::LoopOptions& defaults, SweepSets sweep) {
  const std::string rounds = fmt::format("take at most N samples per case (default {}{})", defaults.rounds,
                                         sweep == SweepSets::nothing ? "" : ", or the sweep's");
  const std::string width = fmt::format(
      "stop a case when the 95 % interval of its median is within this percentage either way (default {:g}; 0: never)",
      100 * defaults.width);
  const std::string cap = fmt::format(
      "after this wall time in seconds give a case no more than {} samples (default {:g}{})", measure::kMinSamples,
      defaults.cap_seconds, sweep == SweepSets::rounds_and_cap ? ", or the sweep's" : "");
  options.add_options()                                                     //
      ("rounds", po::value<int>()->value_name("N"), rounds.c_str())         //
      ("width", po::value<double>()->value_name("PERCENT"), width.c_str())  //
      ("cap", po::value<double>()->value_name("SECONDS"), cap.c_str());
}

measure::LoopOptions read_loop_options(const po::variables_map& values, const measure::GoogleFlags& flags,
                                       measure::LoopOptions options) {
  options.rounds = either<int>(values, "rounds", flags.rounds).value_or(options.rounds);
  options.cap_seconds = given<double>(values, "cap").value_or(options.cap_seconds);
  if (const auto percent = given<double>(values, "width")) options.width = *percent / 100;
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

void add_timeline_options(po::options_description& options) {
  options.add_options()                                                                         //
      ("out", text("FILE"), "write the timeline to FILE, as trace events for ui.perfetto.dev")  //
      ("force", "replace FILE if it exists")                                                    //
      ("gap", po::value<double>()->value_name("PERCENT"),
       "sum up idle gaps below this percentage of the makespan instead of listing them (default 2)")  //
      ("help,h", "print this text");
}

double shortest_gap_of(const po::variables_map& values) {
  const double percent = values.count("gap") != 0 ? values["gap"].as<double>() : 2;
  if (!(percent >= 0)) refuse(fmt::format("--gap {:g}: give a percentage of 0 or more, as in --gap 2", percent));
  return 0.01 * percent;
}

std::optional<double> seconds_of(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return {};
  constexpr double kMost = 1e9;
  const auto microseconds = values[option].as<double>();
  if (!(microseconds >= 0 && microseconds <= kMost)) {
    refuse(fmt::format("--{} {:g} is out of range: give microseconds from 0 to {:g}", option, microseconds, kMost));
  }
  return 1e-6 * microseconds;
}

std::filesystem::path output_folder(const po::variables_map& values) {
  auto folder = values["out"].as<std::string>();
  if (folder.empty()) refuse("--out '' names no folder: give one, as in --out . for the current one");
  return folder;
}

std::optional<WholeFile> output_file(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::nullopt;
  return std::optional<WholeFile>(std::in_place, values[option].as<std::string>(), values.count("force") != 0);
}

std::optional<measure::ResultsFile> results_file(const std::optional<std::string>& path,
                                                 const measure::Facts& provenance, const po::variables_map& values) {
  if (!path) return std::nullopt;
  const bool force = values.count("force") != 0;
  return std::optional<measure::ResultsFile>(std::in_place, *path, provenance,
                                             force ? measure::IfExists::replace : measure::IfExists::refuse);
}

}  // namespace scanlab::cli
