#include "harness/tuning/tuner.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <tuple>

#include "harness/core/median.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/json_error.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/results_file.hpp"

namespace scanlab::tuning {

namespace {

using Json = nlohmann::json;

constexpr std::array kColumns{
    Column{measure::Cache::cold, measure::Launch::stream}, Column{measure::Cache::cold, measure::Launch::graph},
    Column{measure::Cache::warm, measure::Launch::stream}, Column{measure::Cache::warm, measure::Launch::graph}};

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

/// Where a choice for `n` takes over from one for the size `before` it: at once. What a scan holds in one wave, one
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

TuningTable make_table(const Measured& measured) {
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
  for (const auto& [monoid, sizes] : measured.timings) {
    if (auto rows = choose(sizes); !rows.empty()) table.entries.push_back({monoid.first, monoid.second, rows});
  }
  if (table.entries.empty())
    throw CommandError(kBadInput, measured.from + ": no candidate has a time: there is nothing to choose from");
  return table;
}

// -------------------------------------------------------------------------------------------------- results to times

namespace {

/// Whether an id of a results file is a candidate. This build may lack it: then its file is asked for.
bool names_candidate(const std::string& id) {
  if (const Variant* const variant = Registry::instance().find(id); variant != nullptr) return is_candidate(*variant);
  return fmt::format(",{}", SCANLAB_VARIANT_IDS).find(fmt::format(",{},", id)) != std::string::npos;
}

/// With the default of every parameter that is not set, as far as this build knows the variant.
Choice spelt_out(Choice choice) {
  if (const Variant* const variant = Registry::instance().find(choice.variant); variant != nullptr) {
    for (const Parameter& parameter : variant->about.parameters) {
      choice.settings.emplace(parameter.name, parameter.values.front());
    }
  }
  return choice;
}

/// A timed candidate, as the name of a case says it; nullopt if that names anything else.
struct NamedCase {
  TypeAndOperator monoid;
  std::int64_t items = 0;
  Choice choice;
  Column column;
};
std::optional<NamedCase> parse_case(std::string_view text) {
  constexpr std::string_view kScan = "scan/";
  if (!text.starts_with(kScan)) return std::nullopt;
  text.remove_prefix(kScan.size());
  std::map<std::string, std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('/'));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    parts.emplace(part.substr(0, colon), part.substr(colon + 1));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  const auto take = [&](const char* key) {
    auto node = parts.extract(key);
    return node.empty() ? std::string{} : std::move(node.mapped());
  };
  const std::optional<ElementType> type = parse<ElementType>(take("type"));
  const std::optional<Operator> op = parse<Operator>(take("op"));
  const std::string items = take("items");
  const std::string cache = take("cache");
  const std::string launch = take("launch");
  const std::string variant = take("variant");
  const bool is_inclusive = take("mode") == name(Mode::inclusive);  // a table is for both modes; one is measured
  const bool is_count = !items.empty() && items.size() < 16 && items.find_first_not_of("0123456789") == items.npos;
  if (!type || !op || !is_count || !is_inclusive || !names_candidate(variant)) return std::nullopt;
  return NamedCase{
      .monoid = {*type, *op},
      .items = std::stoll(items),
      .choice = spelt_out({variant, {parts.begin(), parts.end()}}),
      .column = {cache == name(measure::Cache::cold) ? measure::Cache::cold : measure::Cache::warm,
                 launch == name(measure::Launch::graph) ? measure::Launch::graph : measure::Launch::stream},
  };
}

/// Nanoseconds of a run; nullopt of what was not timed, was wrong, or is no repetition.
std::optional<double> time_of(const Json& entry) {
  const bool is_repetition = entry.value("run_type", "iteration") == "iteration";
  const bool is_timed = !entry.value("error_occurred", false) && !entry.contains("skipped");
  const double time = entry.value("real_time", 0.0);
  if (!is_repetition || !is_timed || entry.value("verified", 1.0) != 1 || !(time > 0)) return std::nullopt;
  return time;
}

}  // namespace

Measured read_results(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw CommandError(kBadInput, fmt::format("cannot read '{}'", path.string()));
  Measured measured;
  measured.from = path.string();
  try {
    const Json document = Json::parse(file);
    measured.context = document.at("context");
    if (measured.context.value("schema", "") != measure::kResultsSchema) {
      throw CommandError(kBadInput, fmt::format("'{}' is no results file: its schema is not {}", path.string(),
                                                measure::kResultsSchema));
    }
    for (const Json& entry : document.at("benchmarks")) {
      const auto named = parse_case(entry.at("name").get_ref<const std::string&>());
      const auto time = time_of(entry);
      if (!named || !time) continue;
      measured.timings[named->monoid][named->items][named->choice][named->column].push_back(*time);
    }
  } catch (const nlohmann::json::exception& error) {
    throw CommandError(kBadInput, fmt::format("'{}' is no results file: {}", path.string(), what_is_wrong(error)));
  }
  return measured;
}

// ------------------------------------------------------------------------------------------------ machine to times

std::vector<Choice> candidates() {
  std::vector<Choice> all;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (!is_candidate(variant)) continue;
    const Choice usual = spelt_out({id});
    all.push_back(usual);
    for (const Parameter& parameter : variant.about.parameters) {
      for (const std::string& value : parameter.values) {
        Choice choice = usual;
        choice.settings[parameter.name] = value;
        if (choice != usual) all.push_back(choice);
      }
    }
  }
  return all;
}

std::vector<std::int64_t> tuning_sizes(const TypeAndOperator& monoid) {
  constexpr int kLeast = 8;
  constexpr int kMost = 30;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
  const auto bytes = static_cast<std::int64_t>(item_bytes(monoid.first, monoid.second));
  std::vector<std::int64_t> sizes;
  for (int quarter = 4 * kLeast; quarter <= 4 * kMost; ++quarter) {
    // Where one wave gives way to many, other scans are the fastest from one size to the next.
    const bool finer = quarter >= 4 * 19 && quarter <= 4 * 23;
    const std::int64_t n = std::llround(std::exp2(quarter / 4.0));
    if ((quarter % 2 == 0 || finer) && n * bytes <= kMostBytes) sizes.push_back(n);
  }
  return sizes;
}

namespace {

/// An oracle takes the host longer than the device needs for all candidates. Larger n are the business of `verify`, and
/// of `bench`, which verifies all that it times.
constexpr std::int64_t kMostVerified = 1 << 24;

/// Runs a repetition: half a millisecond of work, counting the eviction before each cold run; one run at least.
std::int64_t runs_a_repetition(measure::Cache cache, double seconds_a_run) {
  constexpr double kSeconds = 5e-4;
  constexpr double kEviction = 50e-6;
  const double each = std::max(seconds_a_run, 1e-6) + (cache == measure::Cache::cold ? kEviction : 0);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kSeconds / each), 1, 100);
}

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

Tuner::Tuner(measure::ScanBackend& machine, std::vector<Choice> candidates, std::ostream& err)
    : machine_(machine), candidates_(std::move(candidates)), err_(err), progress_(err) {}

TimingsBySize Tuner::measure(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes) {
  failed_.clear();
  TimingsBySize measured;
  for (const std::size_t stride : {4, 2, 1}) {
    for (std::size_t i = 0; i < sizes.size() && !interrupted(); ++i) {
      const std::int64_t n = sizes[i];
      if ((i % stride != 0 && i + 1 != sizes.size()) || measured.contains(n)) continue;
      std::vector<Choice> promising = candidates_;
      std::erase_if(promising, [&](const Choice& each) { return is_hopeless_around(n, each, measured); });
      progress_.show(fmt::format("{} {}: {} of {} sizes; {} candidates for n = {}", name(monoid.first),
                                 name(monoid.second), measured.size(), sizes.size(), promising.size(), n));
      const Problem problem{.type = monoid.first, .op = monoid.second, .items = n};
      measured[n] = measure_size(problem, promising);
    }
  }
  for (auto& [n, timings] : measured) {
    for (const Choice& choice : failed_) timings.erase(choice);
  }
  progress_.clear();
  return measured;
}

/// Five repetitions of every candidate in every column, in rounds, so that a disturbance does not hit one alone.
Timings Tuner::measure_size(const Problem& problem, const std::vector<Choice>& promising) {
  constexpr int kRounds = 5;
  std::map<Choice, Contender> contenders;
  for (const Choice& choice : promising) {
    Contender& contender = contenders[choice];
    contender.timed.scan = {Registry::instance().find(choice.variant), problem};
    contender.timed.scan.problem.settings = choice.settings;
    admit(choice, contender);
  }
  Timings timings;
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [choice, contender] : contenders) {
      if (interrupted()) return {};
      measure::TimedCase& timed = contender.timed;
      for (const Column& column : kColumns) {
        if (timed.state != measure::TimedCase::State::timed) break;
        std::tie(timed.cache, timed.launch) = column;
        const std::int64_t runs = runs_a_repetition(timed.cache, contender.seconds_a_run);
        contain(choice, timed,
                [&, &choice = choice] { timings[choice][column].push_back(machine_.time(timed, runs).seconds * 1e9); });
      }
    }
  }
  for (const auto& [choice, contender] : contenders) {
    if (contender.timed.state != measure::TimedCase::State::timed) timings.erase(choice);
  }
  return timings;
}

/// Binds a case, verifies it, and learns about how long it takes; or leaves it in another state than `timed`.
void Tuner::admit(const Choice& choice, Contender& contender) {
  constexpr int kRuns = 3;
  measure::TimedCase& timed = contender.timed;
  timed.bound = bind(choice, timed.problem());
  timed.name = case_name(timed.about(), timed.problem());
  if (!timed.bound.plan.possible() || std::ranges::find(failed_, choice) != failed_.end()) {
    timed.state = measure::TimedCase::State::skipped;
    return;
  }
  contain(choice, timed, [&] {
    if (timed.problem().items <= kMostVerified) {
      const verify::Outcome outcome = machine_.verify(timed);
      if (outcome.status == verify::Outcome::Status::failed) throw std::runtime_error(outcome.message);
      if (!outcome.passed()) timed.state = measure::TimedCase::State::skipped;
    }
    if (timed.state == measure::TimedCase::State::timed) contender.seconds_a_run = machine_.time(timed, kRuns).seconds;
  });
}

/// Calls `f`. What does not fit the memory is left out; what throws otherwise is not chosen for any n.
template <class F>
void Tuner::contain(const Choice& choice, measure::TimedCase& timed, F&& f) {
  try {
    f();
  } catch (const verify::DeviceLost&) {
    throw;
  } catch (const measure::LacksMemory&) {
    timed.state = measure::TimedCase::State::skipped;
  } catch (const std::exception& error) {
    timed.state = measure::TimedCase::State::failed;
    failed_.push_back(choice);
    any_failed_ = true;
    progress_.clear();
    fmt::print(err_, "scanlab: {} failed and will not be chosen: {}\n", timed.name, error.what());
  }
}

}  // namespace scanlab::tuning
