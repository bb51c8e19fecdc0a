// A subcommand of `scanlab`, and how it is chosen.
#pragma once

#include <iosfwd>

#include "harness/host/status.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::cli {

struct Command;

struct Context {
  std::ostream& out;
  std::ostream& err;
  Words argv;                        ///< as typed, for provenance
  const Command* command = nullptr;  ///< the one that runs
  std::string called = "scanlab";    ///< "scanlab streams check"
};

/// `arguments` are the words after the command. Returns a Status; throws CommandError.
using Run = int(const Words& arguments, Context& context);

struct Command {
  std::string name;
  std::string summary;
  std::string example;  ///< the words after the command
  Run* run = nullptr;
  std::vector<Command> commands{};  ///< without `run`: the next word chooses
};

/// Every command, in the order in which help shows them.
const std::vector<Command>& commands();

/// Runs `scanlab words…`: what main calls, and the tests.
int run(const Words& words, std::ostream& out, std::ostream& err);

Run list, info, new_scan, verify, bench, tune, explain, simulate, advise, scenarios, calibrate, stream_scan;
Run streams_list, streams_check, streams_run, streams_trace, streams_diagnose, streams_import, streams_implicit_sync,
    streams_concurrency, streams_features;
Run distributed_list, distributed_verify, distributed_bench, distributed_cycles, distributed_trace;

}  // namespace scanlab::cli
