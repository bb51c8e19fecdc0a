#include "harness/tuning/timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/core/median.hpp"
#include "harness/core/operators.hpp"
#include "harness/host/document.hpp"
#include "harness/results/results_file.hpp"

namespace scanlab::tuning {

namespace {

/// The cheapest way to choose for every size up to one, by what it ends in: the sum of the logarithms of the losses,
/// and kRow for each change.
struct Step {
  double cost = 0;
  Choice before;  ///< at the size before
};
constexpr double kRow = 0.03;  // another row must save 3 %, over all of its sizes together

std::map<Choice, Step> next_step(const std::map<Choice, Step>& steps, const std::map<Choice, double>& losses) {
  const auto cost = [](const auto& entry) { return entry.second.cost; };
  const auto cheapest = std::ranges::min_element(steps, {}, cost);
  std::map<Choice, Step> next;
  for (const auto& [choice, loss] : losses) {
    Step& step = next[choice];
    step.cost = std::log(loss);
    if (steps.empty()) continue;
    const auto stay = steps.find(choice);
    const bool stays = stay != steps.end() && stay->second.cost <= cheapest->second.cost + kRow;
    step.cost += stays ? stay->second.cost : cheapest->second.cost + kRow;
    step.before = stays ? choice : cheapest->first;
  }
  return next;
}

/// References of a rival have no settings: they run as shipped.
bool is_shape_of_rival(const Choice& choice) { return !choice.settings.empty(); }

/// With the least geometric mean of its times, over all sizes and columns; what lacks one is left out.
std::optional<Choice> fastest_shape(const std::vector<const Timings*>& sizes) {
  std::map<Choice, std::pair<double, std::size_t>> sums;  // of logarithms, and of how many times
  std::size_t most = 0;
  for (const Timings* const timings : sizes) {
    for (const auto& [choice, columns] : *timings) {
      if (!is_shape_of_rival(choice)) continue;
      auto& [sum, count] = sums[choice];
      for (const auto& [column, nanoseconds] : columns) sum += std::log(median(nanoseconds));
      count += columns.size();
      most = std::max(most, count);
    }
  }
  std::erase_if(sums, [&](const auto& entry) { return entry.second.second < most; });
  if (sums.empty()) return std::nullopt;
  return std::ranges::min_element(sums, {}, [](const auto& entry) { return entry.second.first; })->first;
}

/// Without entries.
TuningTable table_of_device(const Measured& measured) {
  const auto fact = [&](const char* key) {
    const auto value = measured.context.find(key);
    return value != measured.context.end() && value->is_string() ? value->get<std::string>() : std::string{};
  };
  TuningTable table;
  const std::string multiprocessors = fact("multiprocessors");
  std::from_chars(multiprocessors.data(), multiprocessors.data() + multiprocessors.size(), table.multiprocessors);
  if (fact("device").empty() || table.multiprocessors < 1)
    refuse(measured.from + ": is of no GPU: its context names none, or not its multiprocessors");
  table.device = fact("device");
  table.compute_capability = fact("compute_capability");
  for (const char* key : {"date", "git_commit", "git_dirty", "driver", "toolkit", "clocks_before", "argv"}) {
    if (std::string value = fact(key); !value.empty()) table.provenance.emplace_back(key, std::move(value));
  }
  return table;
}

/// Whether a variant of a results file is a candidate, by what its context says of it: this build may lack it.
bool is_candidate(const Value& about, const std::string& id, std::string_view rival) {
  const auto is = [&](const char* key, const nlohmann::json& value) { return about.at(key).json() == value; };
  if (!rival.empty()) {
    return is("origin", "baseline") && boost::iequals(about.at("family").text(), rival) &&
           !about.at("parameters").items().empty();
  }
  return is("origin", "variant") && is("kind", "scan") && is("on_host", false) && !chooses_among_others(id) &&
         about.at("types").items().size() == named_values<ElementType>().size();
}

/// Adds the time of an entry, if it is one of an inclusive scan by a candidate, or by a shape of `rival`. A table is
/// for both modes; one is measured.
void add_time(const Value& entry, const Value& variants, std::string_view rival, Measured& measured) {
  const auto is = [&](const char* key, std::string_view word) { return entry.at(key).json() == word; };
  if (!is("kind", "scan") || !is("outcome", "timed") || !is("mode", name(Mode::inclusive))) return;
  const std::string id = entry.at("variant").text();
  if (!is_candidate(variants.at(id), id, rival)) return;
  const std::optional<Choice> choice = without_experiments({id, entry.at("settings").get<Settings>()});
  if (!choice) return;
  const Column column{entry.at("cache").choose(kCacheNames), entry.at("launch").choose(kLaunchNames)};
  if (column.second == Launch::batch || column.second == Launch::pipeline) return;
  const auto type = entry.at("type").choose(named_values<ElementType>());
  const auto op = entry.at("op").choose(named_values<Operator>());
  if (!defined(type, op)) entry.fail(not_defined(type, op));
  const auto items = entry.at("items").get<std::int64_t>({.low = 1});
  entry.at("time_unit").choice({"ns"});
  if (!entry.at("verified").flag()) entry.at("verified").expect("true of what is timed");
  measured.timings[{type, op}][items][*choice][column].push_back(entry.at("real_time").get<double>({.above = 0}));
}

/// The sizes at which every shape of a rival was timed, if they are the usual ones; else all.
TimingsBySize fully_timed_sizes(const TypeAndOperator& monoid, const TimingsBySize& sizes) {
  TimingsBySize first;
  for (const std::int64_t n : first_rival_sizes(monoid)) {
    if (const auto size = sizes.find(n); size != sizes.end()) first.insert(*size);
  }
  return first.empty() ? sizes : first;
}

}  // namespace

std::map<Choice, double> losses(const Timings& timings) {
  std::map<Column, double> least;
  for (const auto& [choice, columns] : timings) {
    for (const auto& [column, nanoseconds] : columns) {
      double& best = least.try_emplace(column, std::numeric_limits<double>::infinity()).first->second;
      best = std::min(best, median(nanoseconds));
    }
  }
  std::map<Choice, double> worst;
  for (const auto& [choice, columns] : timings) {
    if (columns.size() < least.size()) continue;
    for (const auto& [column, nanoseconds] : columns) {
      double& loss = worst[choice];
      loss = std::max(loss, median(nanoseconds) / least[column]);
    }
  }
  return worst;
}

void keep_only(const std::vector<Choice>& chosen, TimingsBySize& all) {
  for (auto& [n, timings] : all) {
    std::erase_if(timings, [&](const auto& entry) { return std::ranges::find(chosen, entry.first) == chosen.end(); });
  }
}

std::vector<TuningTable::Row> choose(const TimingsBySize& sizes) {
  std::vector<std::int64_t> measured;
  std::vector<std::map<Choice, double>> all_losses;
  std::vector<std::map<Choice, Step>> steps;
  for (const auto& [n, timings] : sizes) {
    std::map<Choice, double> here = losses(timings);
    if (here.empty()) continue;
    steps.push_back(next_step(steps.empty() ? std::map<Choice, Step>{} : steps.back(), here));
    measured.push_back(n);
    all_losses.push_back(std::move(here));
  }
  if (steps.empty()) return {};

  std::vector<Choice> path{
      std::ranges::min_element(steps.back(), {}, [](const auto& entry) { return entry.second.cost; })->first};
  for (std::size_t i = steps.size() - 1; i > 0; --i) path.push_back(steps[i].at(path.back()).before);
  std::ranges::reverse(path);

  std::vector<TuningTable::Row> rows{{.from_items = 0, .choice = path.front()}};
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (path[i] == path[i - 1]) continue;
    // A choice takes over at once: the capacity of one wave, one cluster or one block ends at or near a power of two,
    // and the sizes in between are measured; so the fastest scan at the size before as a rule is not the fastest beyond
    // it. Unless the former choice has no time here: then it holds as far as it can, and `best` goes on where it
    // refuses.
    const bool former_has_time = all_losses[i].contains(path[i - 1]);
    rows.push_back({former_has_time ? measured[i - 1] + 1 : measured[i], path[i]});
  }
  return rows;
}

std::vector<Choice> finalists(const TimingsBySize& sizes) {
  std::vector<const Timings*> all;
  for (const auto& [n, timings] : sizes) all.push_back(&timings);
  std::vector<Choice> shapes;
  if (all.empty()) return shapes;
  const auto small = fastest_shape({all.front()});
  const auto large = all.size() > 1 ? fastest_shape({all.begin() + 1, all.end()}) : small;
  if (small) shapes.push_back(*small);
  if (large && large != small) shapes.push_back(*large);
  return shapes;
}

TuningTable make_table(const Measured& measured) {
  TuningTable table = table_of_device(measured);
  for (const auto& [monoid, sizes] : measured.timings) {
    if (auto rows = choose(sizes); !rows.empty()) table.entries.push_back({monoid.first, monoid.second, rows});
  }
  if (table.entries.empty()) refuse(measured.from + ": no candidate has a time: there is nothing to choose from");
  return table;
}

void check_same_device(const TuningTable& before, const Measured& measured) {
  const TuningTable now = table_of_device(measured);
  if (before.device == now.device && before.multiprocessors == now.multiprocessors) return;
  refuse(fmt::format("the table to keep is of {} with {} multiprocessors, not of {} with {}", before.device,
                     before.multiprocessors, now.device, now.multiprocessors));
}

void keep_entries(const std::vector<TuningTable>& before, TuningTable& table) {
  std::string from;
  for (const TuningTable& each : before) {
    const std::size_t own = table.entries.size();
    for (const TuningTable::Entry& entry : each.entries) {
      const auto is_same = [&](const auto& other) { return other.type == entry.type && other.op == entry.op; };
      if (std::ranges::none_of(table.entries, is_same)) table.entries.push_back(entry);
    }
    if (table.entries.size() == own) continue;
    for (const auto& [key, value] : each.provenance) {
      if (key == "date" || key == "git_commit" || key == "kept_from") from += (from.empty() ? "" : ", ") + value;
    }
  }
  if (!from.empty()) table.provenance.emplace_back("kept_from", std::move(from));
}

Measured read_results(const std::filesystem::path& path, std::string_view rival) {
  const Document document = read_json(path.string());
  const Value results = document;
  const Value context = results.at("context");
  context.check_schema(measure::kResultsSchema, "measure again with this program");
  Measured measured;
  measured.from = path.string();
  measured.context = context.json();
  for (const Value& entry : results.at("benchmarks").items()) add_time(entry, context.at("variants"), rival, measured);
  if (!rival.empty()) {
    for (auto& [monoid, sizes] : measured.timings) keep_only(finalists(fully_timed_sizes(monoid, sizes)), sizes);
  }
  return measured;
}

}  // namespace scanlab::tuning
