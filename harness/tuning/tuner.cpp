#include "harness/tuning/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include "harness/core/median.hpp"
#include "harness/core/operators.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/json_error.hpp"
#include "harness/host/status.hpp"
#include "harness/host/text_file.hpp"
#include "harness/measure/results_file.hpp"

namespace scanlab::tuning {

namespace {

using Json = nlohmann::json;

}  // namespace

// ------------------------------------------------------------------------------------------------ times to table

std::map<Choice, double> losses(const Timings& timings) {
  std::map<Column, double> least;
  for (const auto& [choice, columns] : timings) {
    for (const auto& [column, nanoseconds] : columns) {
      const double time = median(nanoseconds);
      const auto [best, is_first] = least.emplace(column, time);
      if (!is_first) best->second = std::min(best->second, time);
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

/// Where a choice for `n` takes over from one for the size `before` it: at once. The capacity of one wave, one
/// cluster or one block ends at or near a power of two, and the sizes in between are measured; so what was the fastest
/// at `before` as a rule is not beyond it. Unless the former choice has no time at n: then it holds as far as it can,
/// and where its plan refuses, `best` goes on to the next row.
std::int64_t boundary(std::int64_t before, std::int64_t n, bool former_has_time) {
  return former_has_time ? before + 1 : n;
}

}  // namespace

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
    rows.push_back({boundary(measured[i - 1], measured[i], all_losses[i].contains(path[i - 1])), path[i]});
  }
  return rows;
}

namespace {

/// References of a rival have no settings: they run as shipped.
bool is_shape_of_rival(const Choice& choice) { return !choice.settings.empty(); }

void keep_only(const std::vector<Choice>& chosen, TimingsBySize& all) {
  for (auto& [n, timings] : all) {
    std::erase_if(timings, [&](const auto& entry) { return std::ranges::find(chosen, entry.first) == chosen.end(); });
  }
}

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

}  // namespace

std::vector<Choice> finalists(const TimingsBySize& sizes) {
  std::vector<const Timings*> all;
  for (const auto& [n, timings] : sizes) all.push_back(&timings);
  std::vector<Choice> found;
  if (all.empty()) return found;
  const auto small = fastest_shape({all.front()});
  const auto large = all.size() > 1 ? fastest_shape({all.begin() + 1, all.end()}) : small;
  if (small) found.push_back(*small);
  if (large && large != small) found.push_back(*large);
  return found;
}

namespace {

/// Without entries.
TuningTable table_of_device(const Measured& measured) {
  const auto fact = [&](const char* key) {
    const auto found = measured.context.find(key);
    return found != measured.context.end() && found->is_string() ? found->get<std::string>() : std::string{};
  };
  TuningTable table;
  const std::string multiprocessors = fact("multiprocessors");
  std::from_chars(multiprocessors.data(), multiprocessors.data() + multiprocessors.size(), table.multiprocessors);
  if (fact("device").empty() || table.multiprocessors < 1) {
    throw CommandError(kBadInput, measured.from + ": is of no GPU: its context names none, or not its multiprocessors");
  }
  table.device = fact("device");
  table.compute_capability = fact("compute_capability");
  for (const char* key : {"date", "git_commit", "git_dirty", "driver", "toolkit", "clocks_before", "argv"}) {
    if (std::string value = fact(key); !value.empty()) table.provenance.emplace_back(key, std::move(value));
  }
  return table;
}

}  // namespace

TuningTable make_table(const Measured& measured) {
  TuningTable table = table_of_device(measured);
  for (const auto& [monoid, sizes] : measured.timings) {
    if (auto rows = choose(sizes); !rows.empty()) table.entries.push_back({monoid.first, monoid.second, rows});
  }
  if (table.entries.empty())
    throw CommandError(kBadInput, measured.from + ": no candidate has a time: there is nothing to choose from");
  return table;
}

namespace {

/// Adds the entries of `before` that `table` lacks; whether there were any.
bool add_entries(const TuningTable& before, TuningTable& table) {
  const std::size_t own = table.entries.size();
  for (const TuningTable::Entry& entry : before.entries) {
    const auto is_same = [&](const auto& each) { return each.type == entry.type && each.op == entry.op; };
    if (std::ranges::none_of(table.entries, is_same)) table.entries.push_back(entry);
  }
  return table.entries.size() > own;
}

}  // namespace

void check_same_device(const TuningTable& before, const Measured& measured) {
  const TuningTable now = table_of_device(measured);
  if (before.device == now.device && before.multiprocessors == now.multiprocessors) return;
  throw CommandError(kBadInput, fmt::format("the table to keep is of {} with {} multiprocessors, not of {} with {}",
                                            before.device, before.multiprocessors, now.device, now.multiprocessors));
}

void keep_entries(const std::vector<TuningTable>& before, TuningTable& table) {
  std::string from;
  for (const TuningTable& each : before) {
    if (!add_entries(each, table)) continue;
    for (const auto& [key, value] : each.provenance) {
      if (key == "date" || key == "git_commit" || key == "kept_from") from += (from.empty() ? "" : ", ") + value;
    }
  }
  if (!from.empty()) table.provenance.emplace_back("kept_from", std::move(from));
}

// -------------------------------------------------------------------------------------------------- results to times

namespace {

/// Whether a variant of a results file is a candidate, by what its context says of it: this build may lack it.
bool is_candidate(const Json& about, const std::string& id, std::string_view rival) {
  if (!rival.empty()) {
    return about.at("origin") == "baseline" && in_lower_case(about.at("family").get<std::string>()) == rival &&
           !about.at("parameters").empty();
  }
  return about.at("origin") == "variant" && about.at("kind") == "scan" && about.at("on_host") == false &&
         !chooses_among_others(id) && about.at("types").size() == named_values<ElementType>().size();
}

/// The value of one of `words`, pairs of values and words. Throws as field_of, and CommandError for another word.
template <class Words>
auto word_of(const Json& entry, const char* field, const Words& words) {
  const auto said = field_of<std::string>(entry, field);
  for (const auto& [value, word] : words) {
    if (word == said) return value;
  }
  throw CommandError(kBadInput, fmt::format("{} '{}' is unknown to this build", field, said));
}

/// Adds the time of an entry, if it is one of an inclusive scan by a candidate, or by a shape of `rival`. A table is
/// for both modes; one is measured.
void add_time(const Json& entry, const Json& variants, std::string_view rival, Measured& measured) {
  if (entry.at("kind") != "scan" || entry.at("outcome") != "timed" || entry.at("mode") != name(Mode::inclusive)) return;
  const auto id = field_of<std::string>(entry, "variant");
  if (!is_candidate(variants.at(id), id, rival)) return;
  const std::optional<Choice> choice = without_experiments({id, entry.at("settings").get<Settings>()});
  if (!choice) return;
  const Column column{word_of(entry, "cache", measure::kCacheNames), word_of(entry, "launch", measure::kLaunchNames)};
  if (column.second == measure::Launch::batch || column.second == measure::Launch::pipeline) return;
  const auto type = word_of(entry, "type", named_values<ElementType>());
  const auto op = word_of(entry, "op", named_values<Operator>());
  if (!defined(type, op)) throw CommandError(kBadInput, not_defined(type, op));
  const auto items = field_of<std::int64_t>(entry, "items");
  if (items <= 0) throw CommandError(kBadInput, "items is no positive number");
  if (field_of<std::string>(entry, "time_unit") != "ns") throw CommandError(kBadInput, "time_unit is not 'ns'");
  if (!field_of<bool>(entry, "verified")) throw CommandError(kBadInput, "outcome is 'timed', but verified is false");
  Timings& timings = measured.timings[{type, op}][items];
  const auto time = field_of<double>(entry, "real_time");
  if (!(time > 0)) throw CommandError(kBadInput, "real_time is no positive number");
  timings[*choice][column].push_back(time);
}

/// The sizes at which every shape of a rival was timed, if they are the usual ones; else all.
TimingsBySize where_all_were_timed(const TypeAndOperator& monoid, const TimingsBySize& sizes) {
  TimingsBySize first;
  for (const std::int64_t n : first_rival_sizes(monoid)) {
    if (const auto found = sizes.find(n); found != sizes.end()) first.insert(*found);
  }
  return first.empty() ? sizes : first;
}

}  // namespace

Measured read_results(const std::filesystem::path& path, std::string_view rival) {
  const std::optional<std::string> text = text_of(path);
  if (!text) throw CommandError(kBadInput, fmt::format("cannot read '{}'", path.string()));
  Measured measured;
  measured.from = path.string();
  std::string where;
  try {
    const Json document = Json::parse(*text);
    measured.context = document.at("context");
    const std::string schema = measured.context.value("schema", "");
    if (schema != measure::kResultsSchema) {
      throw CommandError(kBadInput, wrong_schema(schema, measure::kResultsSchema, "measure again with this program"));
    }
    const Json& entries = document.at("benchmarks");
    for (std::size_t at = 0; at < entries.size(); ++at) {
      where = fmt::format("entry {}: ", at);
      add_time(entries[at], document.at("context").at("variants"), rival, measured);
    }
  } catch (const nlohmann::json::exception& error) {
    throw CommandError(kBadInput,
                       fmt::format("'{}' is no results file: {}{}", path.string(), where, what_is_wrong(error, *text)));
  } catch (const std::runtime_error& error) {
    throw CommandError(kBadInput, fmt::format("'{}': {}{}", path.string(), where, error.what()));
  }
  if (!rival.empty()) {
    for (auto& [monoid, sizes] : measured.timings) keep_only(finalists(where_all_were_timed(monoid, sizes)), sizes);
  }
  return measured;
}

// ------------------------------------------------------------------------------------------------ machine to times

namespace {

using measure::Cache;
using measure::Launch;
const std::vector<Column> kByStream{{Cache::cold, Launch::stream}, {Cache::warm, Launch::stream}};
const std::vector<Column> kAllColumns{{Cache::cold, Launch::stream},
                                      {Cache::cold, Launch::graph},
                                      {Cache::warm, Launch::stream},
                                      {Cache::warm, Launch::graph}};

bool is_hopeless(const Choice& choice, const Timings& timings) {
  constexpr double kHopeless = 1.6;
  const std::map<Choice, double> all = losses(timings);
  const auto found = all.find(choice);
  return found == all.end() || found->second > kHopeless;
}

/// At both of the measured sizes that n lies between; never, if it does not.
bool is_hopeless_around(std::int64_t n, const Choice& choice, const TimingsBySize& measured) {
  const auto above = measured.upper_bound(n);
  if (above == measured.end() || above == measured.begin()) return false;
  return is_hopeless(choice, above->second) && is_hopeless(choice, std::prev(above)->second);
}

}  // namespace

Tuner::Tuner(const measure::Backends& backends, const measure::LoopOptions& options, measure::ResultsFile* samples,
             std::ostream& err)
    : backends_(backends), options_{.loop = options, .device_seconds = 5e-4}, samples_(samples), err_(err) {}

TimingsBySize Tuner::measure(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                             const std::vector<Choice>& candidates) {
  failed_.clear();
  TimingsBySize measured;
  for (const std::size_t stride : {4, 2, 1}) {
    for (std::size_t i = 0; i < sizes.size() && !is_over_(); ++i) {
      const std::int64_t n = sizes[i];
      if ((i % stride != 0 && i + 1 != sizes.size()) || measured.contains(n)) continue;
      std::vector<Choice> promising = candidates;
      std::erase_if(promising, [&](const Choice& each) {
        return is_hopeless_around(n, each, measured) || std::ranges::find(failed_, each) != failed_.end();
      });
      const Problem problem{.type = monoid.first, .op = monoid.second, .items = n};
      measured[n] = measure_size(problem, promising, kAllColumns);
    }
  }
  leave_out_failed(measured);
  return measured;
}

TimingsBySize Tuner::measure_rival(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                                   const std::vector<Choice>& candidates) {
  failed_.clear();
  return measure_more(monoid, sizes, candidates, kByStream);
}

TimingsBySize Tuner::measure_more(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                                  const std::vector<Choice>& candidates, const std::vector<Column>& columns) {
  TimingsBySize measured;
  for (const std::int64_t n : sizes) {
    if (is_over_()) break;
    const Problem problem{.type = monoid.first, .op = monoid.second, .items = n};
    measured[n] = measure_size(problem, candidates, columns);
  }
  leave_out_failed(measured);
  return measured;
}

TimingsBySize Tuner::tune_rival(std::string_view rival, const TypeAndOperator& monoid,
                                const std::vector<std::int64_t>& asked) {
  const auto [type, op] = monoid;
  std::vector<Choice> shapes = rival_candidates(rival, monoid);
  if (shapes.empty()) {
    throw CommandError(kBadInput,
                       fmt::format("no shape of {} is compiled in for {} of {}", rival, name(op), name(type)));
  }
  std::ranges::copy(rival_references(rival), std::back_inserter(shapes));
  TimingsBySize all = measure_rival(monoid, asked.empty() ? first_rival_sizes(monoid) : asked, shapes);
  const std::vector<Choice> chosen = finalists(all);
  if (asked.empty() && chosen.size() > 1) {
    std::vector<std::int64_t> others = rival_sizes(monoid);
    std::erase_if(others, [&](std::int64_t n) { return all.contains(n); });
    all.merge(measure_more(monoid, others, chosen, kAllColumns));
    leave_out_failed(all);
  }
  keep_only(chosen, all);
  return all;
}

void Tuner::leave_out_failed(TimingsBySize& measured) const {
  for (auto& [n, timings] : measured) {
    for (const Choice& choice : failed_) timings.erase(choice);
  }
}

/// Every candidate in every column, in rounds, so that a disturbance does not hit one alone. A candidate that does not
/// fit the memory is left out; one that fails is not chosen for any n.
Timings Tuner::measure_size(const Problem& problem, const std::vector<Choice>& promising,
                            const std::vector<Column>& columns) {
  std::vector<measure::TimedCase> cases;
  for (const Choice& choice : promising) {
    for (const auto& [cache, launch] : columns) {
      Case scan{Registry::instance().find(choice.variant), problem};
      scan.problem.settings = choice.settings;
      measure::TimedCase& timed = cases.emplace_back(std::move(scan), cache, launch);
      timed.bound = timed.scan.variant->bind(timed.problem());
      timed.name =
          fmt::format("{}/cache:{}/launch:{}", case_name(timed.about(), timed.problem()), name(cache), name(launch));
    }
  }
  measure::ScanSession session(std::move(cases), backends_, options_, samples_, err_);
  session.run();
  if (interrupted()) return {};
  Timings timings;
  std::set<Choice> incomplete;
  for (const measure::TimedCase& timed : session.cases()) {
    const Choice choice{timed.about().id, timed.problem().settings};
    timings[choice][{timed.cache, timed.launch}] = timed.nanoseconds;
    if (timed.state == measure::Timing::State::timed) continue;
    incomplete.insert(choice);
    if (timed.state != measure::Timing::State::failed) continue;
    if (std::ranges::find(failed_, choice) == failed_.end()) failed_.push_back(choice);
    any_failed_ = true;
  }
  for (const Choice& choice : incomplete) timings.erase(choice);
  return timings;
}

}  // namespace scanlab::tuning
