#include "harness/cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

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
       "scanlab scenarios my.toml --out results/scenarios", scenarios},
      {"calibrate", "measure this device and write its profile for the model, in under a minute",
       "scanlab calibrate --out h200.json", calibrate},
      {"stream-scan", "scan a file or host data larger than the device's memory",
       "scanlab stream-scan --in numbers.i32 --out sums.i32 --type i32 --budget 2GiB", stream_scan},
      {"distributed", "verify and time scans of one array over several GPUs or hosts",
       "scanlab distributed bench --gpus 4", distributed},
  };
  return all;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string> near = near_matches(word, known);
  return near.empty() ? std::string{} : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

namespace {

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
  const auto found = std::ranges::find(group.commands, words[0], &Command::name);
  if (found == group.commands.end()) {
    std::vector<std::string> names;
    for (const Command& each : group.commands) names.push_back(each.name);
    throw CommandError(kBadInput, fmt::format("{} has no command '{}'{} ({} --help lists them)", group.name, words[0],
                                              suggestion(words[0], names), group.name));
  }
  context.command = &*found;
  context.called = group.name + " " + found->name;
  return found->run({words.begin() + 1, words.end()}, context);
}

int run(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  Context context{.out = out, .err = err, .argv = words};
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
