// A subcommand of `scanlab`, and how it is chosen.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "harness/host/status.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

struct Command;

struct Context {
  std::ostream& out;
  std::ostream& err;
  std::vector<std::string> argv;     ///< as typed, for provenance
  const Command* command = nullptr;  ///< the one that runs
  std::string called = "scanlab";    ///< "scanlab streams check"
};

struct Command {
  std::string name;
  std::string summary;
  std::string example;
  /// `arguments` are the words after the subcommand. Returns a Status; throws CommandError.
  int (*run)(const std::vector<std::string>& arguments, Context& context);
};

/// Commands chosen by the first word, as those of `scanlab` itself.
struct CommandGroup {
  std::string name;   ///< how it is called, e.g. "scanlab streams"
  std::string about;  ///< what it is, the first line of its help
  std::string example;
  std::vector<Command> commands;
};

/// Runs the command that words[0] names with the words after it; `--help` lists them. Throws CommandError that names
/// near matches.
int dispatch(const CommandGroup& group, const std::vector<std::string>& words, Context& context);

/// "; did you mean --items?" Empty if no word is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

/// Every subcommand, in the order in which help shows them.
const std::vector<Command>& commands();

/// Runs `scanlab words…`: what main calls, and the tests.
int run(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);

int list(const std::vector<std::string>& arguments, Context& context);
int new_scan(const std::vector<std::string>& arguments, Context& context);
int info(const std::vector<std::string>& arguments, Context& context);
int verify(const std::vector<std::string>& arguments, Context& context);
int bench(const std::vector<std::string>& arguments, Context& context);
int tune(const std::vector<std::string>& arguments, Context& context);
int explain(const std::vector<std::string>& arguments, Context& context);
int streams(const std::vector<std::string>& arguments, Context& context);
int advise(const std::vector<std::string>& arguments, Context& context);
int calibrate(const std::vector<std::string>& arguments, Context& context);
int simulate(const std::vector<std::string>& arguments, Context& context);
int scenarios(const std::vector<std::string>& arguments, Context& context);
int distributed(const std::vector<std::string>& arguments, Context& context);
int stream_scan(const std::vector<std::string>& arguments, Context& context);

}  // namespace scanlab::cli
