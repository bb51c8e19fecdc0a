#include "harness/cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/any.hpp>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <system_error>

#include "harness/core/variant.hpp"
#include "harness/simulator/device_profile.hpp"
#include "harness/tuning/tuning_table.hpp"

namespace scanlab::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"list", "print every variant and baseline: id, title, source, types, operators, cost",
       "scanlab list --variant 'hso_*'", list},
      {"info", "print the device, the toolkit and the abilities of this build", "scanlab info --json", info},
      {"new", "write a new variant to start from, which compiles and can be verified and timed",
       "scanlab new my_scan --type f32", new_scan},
      {"verify", "check variants against an oracle, on the GPU or on the SIMT emulator",
       "scanlab verify --device simt --variant 'hso_*' --items 1000,2048", verify},
      {"bench", "verify variants and time them: by CUDA events, or the host's clock",
       "scanlab bench --variant 'hso_*,cub*' --items 2^10:2^28:x4 --out results/scan.json", bench},
      {"tune", "measure the fastest variant for each n, and write the table that best reads",
       "scanlab tune --out data/tuned/nvidia-h200.json --force", tune},
      {"explain", "count the steps of a variant on the SIMT emulator, or its stall cycles on a GPU",
       "scanlab explain hso_block --items 2048", explain},
      {"streams", "check, time, trace and diagnose schedules of copies and kernels over streams",
       "scanlab streams check all", streams},
      {"simulate", "simulate a schedule on a device model, of today or of 2008: overlap and idle gaps",
       "scanlab simulate depth_first --profile c1060 --items 2^22 --chunks 4", simulate},
      {"advise", "recommend a schedule, chunks and streams for a problem, by simulation",
       "scanlab advise --profile h200 --bytes-in 2^28 --bytes-out 2^28 --kernel-us 2000", advise},
      {"scenarios", "simulate the scenarios of lectures, or those of your files: one timeline per scenario",
       "scanlab scenarios my.toml --out results/scenarios", scenarios, "scenes"},
      {"calibrate", "measure this device and write its profile for the model, in under a minute",
       "scanlab calibrate --out h200.json", calibrate},
      {"stream-scan", "scan a file or host data larger than the device's memory",
       "scanlab stream-scan --in numbers.i32 --out sums.i32 --type i32 --budget 2GiB", stream_scan},
      {"distributed", "verify and time scans of one array over several GPUs or hosts",
       "scanlab distributed bench --gpus 4", distributed},
  };
  return all;
}

const Command& command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found == commands().end()) throw std::logic_error("no command " + name);
  return *found;
}

namespace {

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string> near = near_matches(word, known);
  return near.empty() ? std::string{} : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

void print_usage(const CommandGroup& group, std::ostream& out) {
  fmt::print(out, "{}: {}\n\nusage: {} COMMAND [options]\n\n", group.name, group.about, group.name);
  for (const Command& each : group.commands) fmt::print(out, "  {:<15}{}\n", each.name, each.summary);
  fmt::print(out,
             "\n'{} COMMAND --help' lists the options of a command, with an example.\n\nexample: {}\n\n"
             "exit status: 0 ok, 1 a verification failed, 2 bad input, 3 no such device or build,\n"
             "             4 some cases skipped for lack of memory, 130 interrupted\n",
             group.name, group.example);
}

const CommandGroup& scanlab() {
  static const CommandGroup group{"scanlab", "scans and stream schedules on the GPU, verified, timed and explained",
                                  "scanlab list", commands()};
  return group;
}

// Options that name files: what commands write, and what they read. A table that tune keeps may be replaced by the
// next.
constexpr const char* kWritten[] = {"out", "json", "raw", "samples", "csv"};
constexpr const char* kRead[] = {"in", "from", "against", "compare", "profile", "export", "nsys"};

/// A file, and the option that names it.
struct NamedFile {
  const char* option;
  std::string path;
};

/// Of the options that are given and that take texts: a switch of such a name has an empty one.
std::vector<NamedFile> named_files(const po::variables_map& values, std::span<const char* const> options) {
  std::vector<NamedFile> files;
  for (const char* const option : options) {
    const boost::any& value = values[option].value();
    const auto* const one = boost::any_cast<std::string>(&value);
    if (one != nullptr && !one->empty()) files.push_back({option, *one});
    if (const auto* const some = boost::any_cast<std::vector<std::string>>(&value))
      for (const std::string& each : *some) files.push_back({option, each});
  }
  return files;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code of_both, of_a, of_b;
  if (std::filesystem::equivalent(a, b, of_both)) return true;
  const std::filesystem::path whole_a = std::filesystem::weakly_canonical(a, of_a);
  const std::filesystem::path whole_b = std::filesystem::weakly_canonical(b, of_b);
  return !of_a && !of_b && whole_a == whole_b;  // where one cannot be looked at, writing it says why
}

/// Whether `path` is that of an output, or of what holds it until it is whole, as stream-scan does.
bool is_file_of(const std::string& path, const std::string& output) {
  return same_file(path, output) || same_file(path, output + ".partial") || same_file(path, output + ".partial.json");
}

/// Throws CommandError if a command would write a file twice, or one that it reads, or by way of its partial file.
void refuse_one_file_for_two(const po::variables_map& values) {
  const auto refuse_if = [](bool same, const NamedFile& first, const NamedFile& second, const char* why) {
    if (!same) return;
    throw CommandError(kBadInput, fmt::format("--{} and --{} are the same file, '{}': {}; choose another --{}",
                                              first.option, second.option, second.path, why, second.option));
  };
  const std::vector<NamedFile> all_written = named_files(values, kWritten);
  for (const NamedFile& written : all_written) {
    for (const NamedFile& read : named_files(values, kRead)) {
      std::error_code ignored;
      refuse_if(std::filesystem::is_regular_file(read.path, ignored) && is_file_of(read.path, written.path), read,
                written, "the input would be overwritten");
    }
    for (const NamedFile& other : all_written) {
      refuse_if(other.option != written.option && is_file_of(written.path, other.path), other, written,
                "one of the two would be lost");
    }
  }
}

}  // namespace

int dispatch(const CommandGroup& group, const std::vector<std::string>& words, Context& context) {
  if (words.empty()) {
    print_usage(group, context.err);
    return kBadInput;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage(group, context.out);
    return kOk;
  }
  const auto found = std::ranges::find_if(
      group.commands, [&](const Command& each) { return each.name == words[0] || each.formerly == words[0]; });
  if (found == group.commands.end()) {
    std::vector<std::string> names;
    for (const Command& each : group.commands) names.push_back(each.name);
    throw CommandError(kBadInput, fmt::format("{} has no command '{}'{} ({} --help lists them)", group.name, words[0],
                                              suggestion(words[0], names), group.name));
  }
  return found->run({words.begin() + 1, words.end()}, context);
}

bool parse_options(const std::vector<std::string>& arguments, const po::options_description& options,
                   const po::positional_options_description& positional, const Command& command, Context& context,
                   po::variables_map& values) {
  if (std::ranges::any_of(arguments, [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    fmt::print(context.out, "scanlab {}: {}\n\n{}\nexample: {}\n", command.name, command.summary,
               fmt::streamed(options), command.example);
    return false;
  }
  try {
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    const auto parsed = po::command_line_parser(arguments).options(options).positional(positional).style(style).run();
    for (const auto& option : parsed.options) {  // Boost would count backwards from 2^64
      if (option.string_key == "seed" && option.value.front().starts_with('-'))
        throw CommandError(kBadInput, fmt::format("--seed {}: give a whole number from 0", option.value.front()));
    }
    po::store(parsed, values);
    po::notify(values);
    refuse_one_file_for_two(values);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> known;
    for (const auto& option : options.options()) known.push_back("--" + option->long_name());
    throw CommandError(kBadInput, fmt::format("scanlab {} has no option '{}'{}", command.name, error.get_option_name(),
                                              suggestion(error.get_option_name(), known)));
  } catch (const po::error& error) {
    throw CommandError(kBadInput,
                       fmt::format("scanlab {}: {} (scanlab {} --help)", command.name, error.what(), command.name));
  }
  return true;
}

int run(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  Context context{out, err, words};
  context.argv.insert(context.argv.begin(), "scanlab");
  for (std::string& word : context.argv) {  // a line of text, as results have it, in UTF-8
    std::ranges::replace_if(
        word, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
    using Json = nlohmann::json;
    word = Json::parse(Json(word).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  }
  try {
    const int status = dispatch(scanlab(), words, context);
    if (!out.flush()) throw CommandError(kBadInput, "the output could not be written whole: is the disk full?");
    return status;
  } catch (const CommandError& error) {
    fmt::print(err, "scanlab: {}\n", error.what());
    return error.status;
  } catch (const std::bad_alloc&) {
    fmt::print(err, "scanlab: out of host memory: take less at once\n");
    return kOutOfMemory;
  } catch (const std::exception& error) {
    fmt::print(err, "scanlab: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace scanlab::cli
