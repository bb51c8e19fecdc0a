#include "harness/tuning/short_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "harness/host/interrupt.hpp"

namespace scanlab::tuning {

Asked best_requests(const std::vector<measure::TimedCase>& cases) {
  Asked asked;
  for (const measure::TimedCase& timed : cases) {
    const Problem& problem = timed.problem();
    if (timed.about().id == "best") asked[{problem.type, problem.op}].insert(problem.items);
  }
  return asked;
}

std::string table_in_use(const measure::Facts& device) {
  const auto& name = device.at("device").get_ref<const std::string&>();
  const int multiprocessors = std::stoi(device.at("multiprocessors").get_ref<const std::string&>());
  if (tuning_table(name, multiprocessors) == nullptr) return kNoTable;
  const char* const path = std::getenv(kTuningVariable);
  return path == nullptr ? "built in" : fmt::format("{}={}", kTuningVariable, path);
}

std::string no_table(const std::string& device) {
  return fmt::format(
      "best has no table for {}: it runs one_block or decoupled_lookback there\n"
      "  --tune-now measures one for these cases first, in under a minute; scanlab tune measures all, in minutes\n",
      device);
}

std::filesystem::path short_table_path(const std::filesystem::path& results) {
  return std::filesystem::path(results).replace_extension(".tuning.json");
}

std::vector<Choice> short_candidates() {
  std::vector<Choice> all = candidates();  // the first of a variant has all of its defaults
  const auto others = std::ranges::unique(all, {}, &Choice::variant);
  all.erase(others.begin(), others.end());
  return all;
}

std::vector<std::int64_t> short_sizes(const TypeAndOperator& monoid, const std::set<std::int64_t>& asked) {
  constexpr std::int64_t kFactor = 4;
  const std::int64_t most = tuning_sizes(monoid).back();
  std::vector<std::int64_t> sizes;
  for (const std::int64_t each : asked | std::views::reverse) {
    const std::int64_t n = std::min(each, most);
    const bool is_apart = sizes.empty() || n <= sizes.back() / kFactor;
    const bool is_least = !sizes.empty() && each == *asked.begin() && n < sizes.back();
    if (n > 0 && (is_apart || is_least)) sizes.push_back(n);
  }
  return sizes;
}

TuningTable tune_shortly(const Asked& asked, Tuner& tuner, const measure::Facts& context,
                         const std::function<double()>& elapsed) {
  Measured measured{.from = "this device", .context = context, .timings = {}};
  double left = static_cast<double>(asked.size());
  for (const auto& [monoid, sizes] : asked) {
    const double end = elapsed() + (kShortSeconds - elapsed()) / left--;
    tuner.end_when([elapsed, end] { return interrupted() || elapsed() >= end; });
    measured.timings[monoid] = tuner.measure(monoid, short_sizes(monoid, sizes), short_candidates());
  }
  return make_table(measured);
}

void use_table(const TuningTable& table, WholeFile& file, const std::filesystem::path& path) {
  file.write(to_text(table));
  setenv(kTuningVariable, path.c_str(), 1);
}

}  // namespace scanlab::tuning
