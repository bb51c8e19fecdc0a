#include "harness/cli/loop_options.hpp"

#include <fmt/format.h>

#include "harness/host/status.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

void add_loop_options(po::options_description& options, const measure::LoopOptions& defaults) {
  const std::string rounds = fmt::format("samples of each case at most (default {}, or the sweep's)", defaults.rounds);
  const std::string width = fmt::format(
      "no more for a case whose median is known to this, either way, with 95 % (default {:g}; 0: all rounds)",
      100 * defaults.width);
  const std::string cap = fmt::format(
      "wall time of a case; one that has spent it gets no more than {} samples (default {:g}, or the sweep's)",
      measure::kMinSamples, defaults.cap_seconds);
  options.add_options()                                                     //
      ("rounds", po::value<int>()->value_name("N"), rounds.c_str())         //
      ("width", po::value<double>()->value_name("PERCENT"), width.c_str())  //
      ("cap", po::value<double>()->value_name("SECONDS"), cap.c_str());
}

measure::LoopOptions read_loop_options(const po::variables_map& values, const GoogleFlags& flags,
                                       measure::LoopOptions options) {
  options.rounds = either<int>(values, "rounds", flags.rounds).value_or(options.rounds);
  options.cap_seconds = either<double>(values, "cap", std::nullopt).value_or(options.cap_seconds);
  if (const auto percent = either<double>(values, "width", std::nullopt)) options.width = *percent / 100;
  if (!(options.width >= 0)) throw CommandError(kBadInput, "--width takes a percentage, 0 or more");
  if (options.rounds < 1) throw CommandError(kBadInput, "--rounds takes a number from 1 on");
  if (!(options.cap_seconds > 0)) throw CommandError(kBadInput, "--cap takes a number of seconds, more than 0");
  return options;
}

std::vector<std::string> renamed(std::vector<std::string> arguments, const std::string& from, const std::string& to) {
  for (std::string& word : arguments) {
    if (word == from || word.starts_with(from + "=")) word.replace(0, from.size(), to);
  }
  return arguments;
}

void add_loop_facts(const measure::LoopOptions& options, measure::Facts& facts) {
  facts["rounds"] = std::to_string(options.rounds);
  facts["width_percent"] = fmt::format("{}", 100 * options.width);
  facts["cap_seconds"] = fmt::format("{}", options.cap_seconds);
}

}  // namespace scanlab::cli
