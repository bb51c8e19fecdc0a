#include <fmt/format.h>

#include <optional>

#include "harness/core/operators.hpp"
#include "harness/host/json_error.hpp"
#include "harness/host/status.hpp"
#include "harness/host/text_file.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/tuning/timings.hpp"

namespace scanlab::tuning {

namespace {

using Json = nlohmann::json;

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
  const auto given = field_of<std::string>(entry, field);
  for (const auto& [value, word] : words) {
    if (word == given) return value;
  }
  throw CommandError(kBadInput, fmt::format("{} '{}' is unknown to this build", field, given));
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
TimingsBySize fully_timed_sizes(const TypeAndOperator& monoid, const TimingsBySize& sizes) {
  TimingsBySize first;
  for (const std::int64_t n : first_rival_sizes(monoid)) {
    if (const auto size = sizes.find(n); size != sizes.end()) first.insert(*size);
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
    for (auto& [monoid, sizes] : measured.timings) keep_only(finalists(fully_timed_sizes(monoid, sizes)), sizes);
  }
  return measured;
}

}  // namespace scanlab::tuning
