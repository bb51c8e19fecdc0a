#include "harness/measure/google_flags.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include "harness/core/variant.hpp"
#include "harness/host/status.hpp"

namespace scanlab::measure {

namespace {

constexpr std::string_view kPrefix = "--benchmark_";
constexpr double kMostSeconds = 3600;

// The fields of a context (`Context` in analysis/scanlab_report/read/documents/results.py), and the fields that Google
// Benchmark adds, also where a run has it not: a reader takes it for the truth.
constexpr char kOwnKeys[] = R"(
  schema kind date argv git_commit git_dirty seed rounds width_percent cap_seconds seconds_a_repetition
  variants schedules workloads algorithms ranks ranks_are tuning missing torch cupy jax
  device compute_capability multiprocessors memory_bytes memory_bus_bits l2_bytes sm_clock_mhz_max
  memory_clock_mhz_max ecc copy_engines clocks_before driver cuda_driver
  cuda toolkit nvcc architectures cccl cccl_newest tbb compiler assertions cpu cores system
  host_name executable num_cpus mhz_per_cpu cpu_scaling_enabled caches load_avg library_build_type
  library_version json_schema_version
)";

bool is_own_key(const std::string& key) {
  std::istringstream keys(kOwnKeys);
  using Words = std::istream_iterator<std::string>;
  return std::find(Words(keys), Words(), key) != Words();
}

[[noreturn]] void refuse(const std::string& sentence) { throw CommandError(kBadInput, sentence); }

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

void read_out(const std::string& value, GoogleFlags& flags) { flags.out = value; }

void read_repetitions(const std::string& value, GoogleFlags& flags) {
  flags.rounds = number<int>(value);
  if (!flags.rounds) refuse(fmt::format("--benchmark_repetitions takes a whole number, not '{}'", value));
}

void read_min_time(const std::string& value, GoogleFlags& flags) {
  std::string_view text = value;
  if (text.ends_with('x')) {
    flags.runs = number<std::int64_t>(text.substr(0, text.size() - 1));
    if (flags.runs && *flags.runs >= 1) return;
  } else {
    if (text.ends_with('s')) text.remove_suffix(1);
    flags.seconds = number<double>(text);
    if (flags.seconds && *flags.seconds > 0 && *flags.seconds <= kMostSeconds) return;
  }
  refuse(fmt::format("--benchmark_min_time takes seconds (0.2s), {:g} at most, or runs (100x), not '{}'", kMostSeconds,
                     value));
}

void read_context(const std::string& value, GoogleFlags& flags) {
  std::stringstream pairs(value);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) refuse(fmt::format("--benchmark_context takes key=value, not '{}'", pair));
    const std::string key = pair.substr(0, equals);
    const auto has_it = [&key](const auto& before) { return before.first == key; };
    if (std::ranges::any_of(flags.context, has_it)) {
      refuse(fmt::format("--benchmark_context has the key {} twice: leave one out", key));
    }
    flags.context.emplace_back(key, pair.substr(equals + 1));
  }
}

void read_filter(const std::string& value, GoogleFlags& flags) { flags.filter = value; }

void read_list_tests(const std::string& value, GoogleFlags& flags) {
  flags.list = value != "false" && value != "0" && value != "no";
}

void read_out_format(const std::string& value, GoogleFlags&) {
  if (value != "json") refuse(fmt::format("results are written as JSON only, not as '{}'", value));
}

void read_format(const std::string& value, GoogleFlags&) {
  if (value != "console") refuse("results are shown as a table; for JSON give --out FILE");
}

/// A flag that means an option of ours, without kPrefix.
struct Honoured {
  const char* name;
  void (*read)(const std::string& value, GoogleFlags& flags);
};
constexpr std::array kHonoured{
    Honoured{"out", read_out},
    Honoured{"repetitions", read_repetitions},
    Honoured{"min_time", read_min_time},
    Honoured{"context", read_context},
    Honoured{"filter", read_filter},
    Honoured{"list_tests", read_list_tests},
    Honoured{"out_format", read_out_format},
    Honoured{"format", read_format},
};

/// A flag that Google Benchmark knows and that would have no effect here.
struct WithoutEffect {
  const char* name;
  const char* instead;
};
constexpr std::array kWithoutEffect{
    WithoutEffect{"min_warmup_time", "each case is run and verified before its first sample; leave the flag out"},
    WithoutEffect{"dry_run", "say --rounds 1"},
    WithoutEffect{"enable_random_interleaving", "each round takes one sample of every case; leave the flag out"},
    WithoutEffect{"report_aggregates_only", "FILE has every sample and the table has medians; leave the flag out"},
    WithoutEffect{"display_aggregates_only", "the table has medians and no samples; leave the flag out"},
    WithoutEffect{"time_unit", "FILE has nanoseconds, and the table names its units; leave the flag out"},
    WithoutEffect{"counters_tabular", "the table is in columns; leave the flag out"},
    WithoutEffect{"color", "the table has no colours; leave the flag out"},
    WithoutEffect{"perf_counters", "run scanlab bench --once under a profiler"},
};

void take(const std::string& word, GoogleFlags& flags) {
  const std::size_t equals = word.find('=');
  const std::string flag = word.substr(0, equals);
  const std::string name = flag.substr(kPrefix.size());
  std::vector<std::string> known;
  for (const Honoured& each : kHonoured) {
    known.emplace_back(each.name);
    if (name != each.name) continue;
    if (equals == std::string::npos && name != "list_tests") refuse(fmt::format("{0} takes a value: {0}=VALUE", flag));
    return each.read(equals == std::string::npos ? "" : word.substr(equals + 1), flags);
  }
  for (const WithoutEffect& each : kWithoutEffect) {
    if (name == each.name) refuse(fmt::format("{} would have no effect: {}", flag, each.instead));
  }
  const std::vector<std::string> near = near_matches(name, known);
  refuse(near.empty()
             ? fmt::format("{} is not taken; of --benchmark_* these are: {}", flag, fmt::join(known, ", "))
             : fmt::format("{} is not taken; did you mean --benchmark_{}?", flag, fmt::join(near, " or --benchmark_")));
}

/// Inputs that Google Benchmark reads itself: the program's name, and the environment's BENCHMARK_CONTEXT.
void initialize() {
  static char program[] = "scanlab";  // Google Benchmark keeps the pointer
  char* argv[]{program, nullptr};
  int argc = 1;
  benchmark::Initialize(&argc, argv);
}

}  // namespace

bool GoogleFlags::passes(const std::string& case_name) const {
  if (filter.empty() || filter == "all") return true;
  const bool negated = filter.starts_with('-');
  const std::string pattern = filter.substr(negated ? 1 : 0);
  try {
    return std::regex_search(case_name, std::regex(pattern, std::regex::extended)) != negated;
  } catch (const std::regex_error&) {
    refuse(fmt::format("--benchmark_filter: '{}' is not a regular expression", pattern));
  }
}

void GoogleFlags::add_context(Facts& provenance) const {
  for (const auto& [key, value] : context) {
    if (is_own_key(key)) {
      refuse(fmt::format("--benchmark_context={}: results say their own {}; choose another key", key, key));
    }
    provenance[key] = value;
  }
}

GoogleFlags take_google_flags(const std::vector<std::string>& arguments) {
  initialize();
  GoogleFlags flags;
  flags.filter = benchmark::GetBenchmarkFilter();  // of the environment
  for (const std::string& word : arguments) {
    if (word.starts_with(kPrefix)) {
      take(word, flags);
    } else {
      flags.others.push_back(word);
    }
  }
  flags.passes("");  // a filter that is none is refused before any work
  return flags;
}

void refuse_min_time(const GoogleFlags& flags, const char* command, const char* how) {
  if (!flags.seconds && !flags.runs) return;
  refuse(
      fmt::format("{} takes {}, so it cannot honour --benchmark_min_time; leave it out, and say --rounds for more "
                  "samples",
                  command, how));
}

}  // namespace scanlab::measure
