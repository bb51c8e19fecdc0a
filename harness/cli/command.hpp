// A subcommand of `scanlab`, and how its words are parsed.
#pragma once

#include <boost/program_options.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "harness/host/status.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

struct Context {
  std::ostream& out;
  std::ostream& err;
  std::vector<std::string> argv;  ///< as typed, for provenance
};

struct Command {
  std::string name;
  std::string summary;
  std::string example;
  /// `arguments` are the words after the subcommand. Returns a Status; throws CommandError.
  int (*run)(const std::vector<std::string>& arguments, Context& context);
  std::string formerly{};  ///< its name before, which help does not show: kept for one release
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

/// Every subcommand, in the order in which help shows them.
const std::vector<Command>& commands();

/// Runs `scanlab words…`: what main calls, and the tests.
int run(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);

/// Parses with Boost.Program_options. An unknown option is a CommandError that names the near matches; `--help`
/// prints the options and the example, and gives nullopt (the command then returns kOk).
bool parse_options(const std::vector<std::string>& arguments, const po::options_description& options,
                   const po::positional_options_description& positional, const Command& command, Context& context,
                   po::variables_map& values);

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

/// The entry of `commands()` with this name.
const Command& command(const std::string& name);

}  // namespace scanlab::cli
