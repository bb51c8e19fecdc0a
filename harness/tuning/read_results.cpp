#include <fmt/format.h>

#include <boost/algorithm/string/predicate.hpp>
#include <optional>

#include "harness/core/operators.hpp"
#include "harness/host/document.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/tuning/timings.hpp"

namespace scanlab::tuning {

namespace {

using Json = nlohmann::json;

/// Whether a variant of a results file is a candidate, by what its context says of it: this build may lack it.
bool is_candidate(const Value& about, const std::string& id, std::string_view rival) {
  const auto is = [&](const char* key, const Json& value) { return about.at(key).json() == value; };
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
  const Column column{entry.at("cache").choose(measure::kCacheNames), entry.at("launch").choose(measure::kLaunchNames)};
  if (column.second == measure::Launch::batch || column.second == measure::Launch::pipeline) return;
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
