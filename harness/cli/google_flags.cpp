#include "harness/cli/google_flags.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <regex>
#include <sstream>
#include <string_view>

#include "harness/cli/command.hpp"
#include "harness/core/variant.hpp"

namespace scanlab::cli {

namespace {

constexpr std::string_view kPrefix = "--benchmark_";

[[noreturn]] void refuse(const std::string& sentence) { throw CommandError(kBadInput, sentence); }

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

void read_min_time(const std::string& value, GoogleFlags& flags) {
  std::string_view text = value;
  if (text.ends_with('x')) {
    flags.runs = number<std::int64_t>(text.substr(0, text.size() - 1));
    if (flags.runs && *flags.runs >= 1) return;
  } else {
    if (text.ends_with('s')) text.remove_suffix(1);
    flags.seconds = number<double>(text);
    if (flags.seconds && *flags.seconds > 0) return;
  }
  refuse(fmt::format("--benchmark_min_time takes seconds (0.2s) or runs (100x), not '{}'", value));
}

void read_context(const std::string& value, GoogleFlags& flags) {
  std::stringstream pairs(value);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) refuse(fmt::format("--benchmark_context takes key=value, not '{}'", pair));
    flags.context.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
}

/// Whether the flag was one of those that mean an option of ours.
bool take(const std::string& flag, const std::string& value, GoogleFlags& flags) {
  if (flag == "--benchmark_out") {
    flags.out = value;
  } else if (flag == "--benchmark_repetitions") {
    flags.rounds = number<int>(value);
    if (!flags.rounds) refuse(fmt::format("--benchmark_repetitions takes a whole number, not '{}'", value));
  } else if (flag == "--benchmark_min_time") {
    read_min_time(value, flags);
  } else if (flag == "--benchmark_context") {
    read_context(value, flags);
  } else if (flag == "--benchmark_list_tests") {
    flags.list = value != "false" && value != "0" && value != "no";
  } else if (flag == "--benchmark_out_format") {
    if (value != "json") refuse(fmt::format("results are written as JSON only, not as '{}'", value));
  } else if (flag == "--benchmark_format") {
    if (value != "console") refuse("results are shown as a table; for JSON give --out FILE");
  } else {
    return false;
  }
  return true;
}

void initialize(std::vector<std::string> words) {
  static char program[] = "scanlab";  // Google Benchmark keeps the pointer
  std::vector<char*> argv{program};
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
  if (argc < 2) return;
  const std::vector<std::string> known{"--benchmark_filter",       "--benchmark_out",     "--benchmark_repetitions",
                                       "--benchmark_min_time",     "--benchmark_context", "--benchmark_list_tests",
                                       "--benchmark_out_format",   "--benchmark_format",  "--benchmark_color",
                                       "--benchmark_perf_counters"};
  const std::string word = argv[1];
  const std::vector<std::string> near = near_matches(word.substr(0, word.find('=')), known);
  refuse(fmt::format("Google Benchmark does not take '{}'{}", word,
                     near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
}

}  // namespace

GoogleFlags take_google_flags(const std::vector<std::string>& arguments) {
  GoogleFlags flags;
  std::vector<std::string> passed;
  for (const std::string& word : arguments) {
    if (!word.starts_with(kPrefix)) {
      flags.others.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (!take(word.substr(0, equals), value, flags)) passed.push_back(word);
  }
  // What an earlier command of this process set would stay; what the environment set should.
  static const std::string filter_of_environment = benchmark::GetBenchmarkFilter();
  benchmark::SetBenchmarkFilter(filter_of_environment);
  initialize(std::move(passed));
  return flags;
}

void refuse_min_time(const GoogleFlags& flags, const char* command) {
  if (!flags.seconds && !flags.runs) return;
  refuse(
      fmt::format("{} takes one run per sample, so it cannot honour --benchmark_min_time; leave it out, and say "
                  "--rounds for more samples",
                  command));
}

void contradiction(const char* option) {
  refuse(fmt::format("--{} and its --benchmark_ flag say different things", option));
}

bool passes_google_filter(const std::string& case_name) {
  std::string pattern = benchmark::GetBenchmarkFilter();
  if (pattern.empty() || pattern == "all") return true;
  const bool negated = pattern[0] == '-';
  if (negated) pattern.erase(0, 1);
  try {
    return std::regex_search(case_name, std::regex(pattern, std::regex::extended)) != negated;
  } catch (const std::regex_error&) {
    refuse(fmt::format("--benchmark_filter: '{}' is not a regular expression", pattern));
  }
}

}  // namespace scanlab::cli
