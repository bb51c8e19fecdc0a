// scanlab streams: chooses one of its commands.
#include "harness/cli/streams.hpp"

#include <algorithm>
#include <stdexcept>

namespace scanlab::cli {

namespace {

const CommandGroup& group() {
  static const CommandGroup all{
      "scanlab streams",
      "schedules of copies and kernels over streams: what overlaps, what is ordered",
      "scanlab streams check all",
      {
          {"list", "every schedule and workload: id, title, source, what to expect", "scanlab streams list",
           streams_list},
          {"check", "names every pair of accesses that a schedule leaves unordered; needs no GPU",
           "scanlab streams check three_streams_unordered --workload scale --chunks 2", streams_check},
          {"run", "times schedules over workloads and parameters, every repetition verified",
           "scanlab streams run all --workload scale --items 2^28 --chunks 8,64 --out results/streams.json",
           streams_run},
          {"trace", "when each operation of a schedule ran, what overlapped, and why an engine was idle",
           "scanlab streams trace depth_first --items 2^28 --chunks 16 --out results/depth_first.trace.json",
           streams_trace},
          {"why", "in words, with the evidence: what holds up a schedule, or one more than another",
           "scanlab streams why null_stream_trap depth_first --items 2^26 --chunks 16", streams_why},
          {"import", "the timeline of a program that Nsight Systems watched, as a trace; needs no GPU",
           "scanlab streams import report.sqlite --out results/report.trace.json", streams_import},
          {"caveats", "what the sources say of streams, tried on this device: what blocks the host, what serialises",
           "scanlab streams caveats --json results/caveats.json", streams_caveats},
          {"concurrency", "small grids side by side, against the formula of waves and tails",
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
