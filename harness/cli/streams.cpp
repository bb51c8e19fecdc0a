// scanlab streams: chooses one of its commands.
#include "harness/cli/streams.hpp"

#include <algorithm>
#include <stdexcept>

namespace scanlab::cli {

namespace {

const CommandGroup& group() {
  static const CommandGroup all{
      "scanlab streams",
      "check, time, trace and diagnose schedules of copies and kernels over streams",
      "scanlab streams check all",
      {
          {"list", "print every schedule and workload: id, title, source, expectation", "scanlab streams list",
           streams_list},
          {"check", "name accesses that a schedule leaves unordered, and work that it leaves undone; needs no GPU",
           "scanlab streams check three_streams_unordered --workload scale --chunks 2", streams_check},
          {"run", "time schedules over workloads and parameters, and verify every repetition",
           "scanlab streams run all --workload scale --items 2^28 --chunks 8,64 --out results/streams.json",
           streams_run},
          {"trace", "record the timeline of a schedule: operations, overlap, and the reason of each idle gap",
           "scanlab streams trace depth_first --items 2^28 --chunks 16 --out results/depth_first.trace.json",
           streams_trace},
          {"diagnose", "name what delays a schedule, with the evidence, or compare two schedules",
           "scanlab streams diagnose null_stream_trap depth_first --items 2^26 --chunks 16", streams_why, "why"},
          {"import", "convert an export of Nsight Systems to a trace; needs no GPU",
           "scanlab streams import report.sqlite --out results/report.trace.json", streams_import},
          {"implicit-sync", "test on this device which calls block the host, and which serialise streams",
           "scanlab streams implicit-sync --json results/implicit_sync.json", streams_caveats, "caveats"},
          {"concurrency", "time small concurrent grids against the formula of waves and tails",
           "scanlab streams concurrency --json results/concurrency.json", streams_concurrency},
      }};
  return all;
}

}  // namespace

Command streams_command(const std::string& name) {
  const auto found = std::ranges::find(group().commands, name, &Command::name);
  if (found == group().commands.end()) throw std::logic_error("no command streams " + name);
  Command command = *found;
  command.name = "streams " + name;
  return command;
}

int streams(const std::vector<std::string>& arguments, Context& context) {
  return dispatch(group(), arguments, context);
}

}  // namespace scanlab::cli
