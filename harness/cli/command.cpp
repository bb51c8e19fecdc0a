#include "harness/cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <ostream>

namespace scanlab::cli {

namespace {

const std::vector<Command> kStreamsCommands{
    {"list", "print every schedule and workload: id, title, source, expectation", "", streams_list},
    {"check", "name accesses that a schedule leaves unordered, and work that it leaves undone; needs no GPU",
     "three_streams_unordered --workload scale --chunks 2", streams_check},
    {"run", "time schedules over workloads and parameters, and verify every repetition",
     "all --workload scale --items 2^28 --chunks 8,64 --out results/streams.json", streams_run},
    {"trace", "record the timeline of a schedule: operations, overlap, and the reason of each idle gap",
     "depth_first --items 2^28 --chunks 16 --out results/depth_first.trace.json", streams_trace},
    {"diagnose", "name what delays a schedule, with the evidence, or compare two schedules",
     "null_stream_trap depth_first --items 2^26 --chunks 16", streams_diagnose},
    {"import", "convert an export of Nsight Systems to a trace; needs no GPU",
     "report.sqlite --out results/report.trace.json", streams_import},
    {"implicit-sync", "test on this device which calls block the host, and which serialise streams",
     "--json results/implicit_sync.json", streams_implicit_sync},
    {"concurrency", "time small concurrent grids against the formula of waves and tails",
     "--json results/concurrency.json", streams_concurrency},
    {"features", "time features of CUDA that came after the lectures beside programs without them",
     "--profile h200 --json results/features.json", streams_features},
};

const std::vector<Command> kDistributedCommands{
    {"list", "print every algorithm: id, title, traffic, needs", "", distributed_list},
    {"verify", "check algorithms against the oracle, on sizes where scans break",
     "--gpus 2 --algorithm peer_look_ahead", distributed_verify},
    {"bench", "verify and time algorithms over a range of sizes, with the flags of nccl-tests",
     "--gpus 4 -b 4MiB -e 4GiB -f 4 --out results/distributed.json", distributed_bench},
    {"cycles", "print the stall cycles of each warp role on each GPU",
     "--gpus 2 --items 2^25,2^29 --csv results/ranks_prefix_wait.csv", distributed_cycles},
    {"trace", "record what each GPU did in a few runs, by CUPTI",
     "--gpus 4 --algorithm peer_look_ahead,nccl_cub --out results/ranks_trace.json", distributed_trace},
};

void print_usage(const Command& group, const std::string& called, std::ostream& out) {
  fmt::print(out, "{0}: {1}\n\nusage: {0} COMMAND [options]\n\n", called, group.summary);
  for (const Command& each : group.commands) fmt::print(out, "  {:<15}{}\n", each.name, each.summary);
  fmt::print(out,
             "\n'{} COMMAND --help' lists the options of a command, with an example.\n\nexample: {} {}\n\n"
             "exit status: 0 ok, 1 a verification failed, 2 bad input, 3 no such device or build,\n"
             "             4 some cases skipped for lack of memory, 130 interrupted\n",
             called, called, group.example);
}

/// Runs the command, or that of its commands which the first word names.
int dispatch(const Command& command, const Words& words, Context& context) {
  if (command.run != nullptr) {
    context.command = &command;
    return command.run(words, context);
  }
  const bool help = !words.empty() && (words[0] == "--help" || words[0] == "-h" || words[0] == "help");
  if (help || words.empty()) {
    print_usage(command, context.called, help ? context.out : context.err);
    return help ? kOk : kBadInput;
  }
  const Command& chosen = find_named(("command of " + context.called).c_str(), command.commands, words[0]);
  context.called += " " + chosen.name;
  return dispatch(chosen, {words.begin() + 1, words.end()}, context);
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"list", "print every variant and baseline: id, title, source, types, operators, cost", "--variant 'hso_*'",
       list},
      {"info", "print the device, the toolkit and the abilities of this build", "--json", info},
      {"new", "write a new variant to start from, which compiles and can be verified and timed", "my_scan --type f32",
       new_scan},
      {"verify", "check variants against an oracle, on the GPU or on the SIMT emulator",
       "--device simt --variant 'hso_*' --items 1000,2048", verify},
      {"bench", "verify variants and time them: by CUDA events, or the host's clock",
       "--variant 'hso_*,cub*' --items 2^10:2^28:x4 --out results/scan.json", bench},
      {"tune", "measure the fastest variant for each n, and write the table that best reads",
       "--out data/tuned/nvidia-h200.json --force", tune},
      {"explain", "count the steps of a variant on the SIMT emulator, or its stall cycles on a GPU",
       "hso_block --items 2048", explain},
      {"streams", "check, time, trace and diagnose schedules of copies and kernels over streams", "check all", nullptr,
       kStreamsCommands},
      {"simulate", "simulate a schedule on a device model, of today or of 2008: overlap and idle gaps",
       "depth_first --profile c1060 --items 2^22 --chunks 4", simulate},
      {"advise", "recommend a schedule, chunks and streams for a problem, by simulation",
       "--profile h200 --bytes-in 2^28 --bytes-out 2^28 --kernel-us 2000", advise},
      {"scenarios", "simulate the scenarios of lectures, or those of your files: one timeline per scenario",
       "my.toml --out results/scenarios", scenarios},
      {"calibrate", "measure this device and write its profile for the model, in under a minute", "--out h200.json",
       calibrate},
      {"stream-scan", "scan a file or host data larger than the device's memory",
       "--in numbers.i32 --out sums.i32 --type i32 --budget 2GiB", stream_scan},
      {"distributed", "verify and time scans of one array over several GPUs or hosts", "bench --gpus 4", nullptr,
       kDistributedCommands},
  };
  return all;
}

int run(const Words& words, std::ostream& out, std::ostream& err) {
  Context context{.out = out, .err = err, .argv = words};
  context.argv.insert(context.argv.begin(), "scanlab");
  for (std::string& word : context.argv) {  // a line of text, as results have it, in UTF-8
    std::ranges::replace_if(
        word, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
    using Json = nlohmann::json;
    word = Json::parse(Json(word).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  }
  try {
    const Command scanlab{"scanlab", "scans and stream schedules on the GPU, verified, timed and explained", "list",
                          nullptr, commands()};
    const int status = dispatch(scanlab, words, context);
    if (!out.flush()) refuse("the output could not be written whole: is the disk full?");
    return status;
  } catch (const CommandError& error) {
    fmt::print(err, "scanlab: {}\n", error.what());
    return error.status;
  } catch (const std::invalid_argument& error) {
    fmt::print(err, "scanlab: {}\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(err, "scanlab: out of host memory: take less at once\n");
    return kOutOfMemory;
  } catch (const std::exception& error) {
    fmt::print(err, "scanlab: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace scanlab::cli
