#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "harness/core/variant.hpp"

namespace scanlab {

std::string Choice::label() const {
  std::string text = variant;
  for (const auto& [parameter, value] : settings) text += fmt::format("/{}:{}", parameter, value);
  return text;
}

std::string setting(const Description& about, const Settings& settings, const std::string& parameter) {
  if (const auto given = settings.find(parameter); given != settings.end()) return given->second;
  for (const Parameter& known : about.parameters) {
    if (known.name == parameter) return known.values.front();
  }
  return {};
}

Settings small_settings(const Description& about) {
  Settings all;
  for (const Parameter& parameter : about.parameters) {
    if (!parameter.small.empty()) all.emplace(parameter.name, parameter.small);
  }
  return all;
}

bool Parameter::takes(const std::string& value) const {
  return std::ranges::find(values, value) != values.end() || (!small.empty() && value == small);
}

std::string unsupported(const Description& about, const Problem& problem) {
  if (std::ranges::find(about.types, problem.type) == about.types.end()) {
    return fmt::format("{} does not take type {}", about.id, name(problem.type));
  }
  if (std::ranges::find(about.operators, problem.op) == about.operators.end()) {
    return fmt::format("{} does not take operator {}", about.id, name(problem.op));
  }
  if (!defined(problem.type, problem.op)) return not_defined(problem.type, problem.op);
  const std::pair monoid(problem.type, problem.op);
  if (!about.monoids.empty() && std::ranges::find(about.monoids, monoid) == about.monoids.end()) {
    return fmt::format("{} takes no {} of {}", about.id, name(problem.op), name(problem.type));
  }
  if (!has_rows(about.primitive) && problem.rows != 1) {
    return fmt::format("{} scans one row: leave out --rows, or choose a --primitive that has rows", about.id);
  }
  if (!has_inner(about.primitive) && problem.inner != 1) {
    return fmt::format("{} scans items that lie side by side: leave out --inner, or choose --primitive scan_axis",
                       about.id);
  }
  if (!has_mode(segments_by(about.primitive)) && problem.mode != Mode::inclusive)
    return about.id + " has no mode: leave out --mode";
  if (problem.segments.by == SegmentsBy::offsets && problem.segments.width < 4)
    return fmt::format("{} takes offsets of 4 or 8 bytes, not of {}", about.id, problem.segments.width);
  if (segments_by(about.primitive) != problem.segments.by) {
    return fmt::format(
        "{} is a {}: leave out --segment, --lengths, --width and --kept, or choose a --primitive that has them",
        about.id, name(about.primitive));
  }
  for (const auto& [key, value] : problem.settings) {
    const auto known = std::ranges::find(about.parameters, key, &Parameter::name);
    if (known == about.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : about.parameters) names.push_back(parameter.name);
      return fmt::format("{} has no parameter '{}' (it has: {})", about.id, key,
                         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    }
    if (!known->takes(value)) {
      return fmt::format("{} takes {} = {}, not '{}'", about.id, key, fmt::join(known->values, " | "), value);
    }
  }
  return {};
}

bool Variant::join(Variant other) {
  const auto has = [](const auto& list, const auto& value) { return std::ranges::find(list, value) != list.end(); };
  const std::vector<Operator> added = other.about.operators;
  if (added.empty() || about.operators.empty() || std::ranges::find_first_of(added, about.operators) != added.end()) {
    return false;
  }
  about.operators.insert(about.operators.end(), added.begin(), added.end());
  std::ranges::sort(about.operators);
  about.monoids.insert(about.monoids.end(), other.about.monoids.begin(), other.about.monoids.end());
  for (const ElementType type : other.about.types) {
    if (!has(about.types, type)) about.types.push_back(type);
  }
  std::ranges::sort(about.types);
  bind = [has, added, mine = std::move(bind), theirs = std::move(other.bind)](const Problem& problem) {
    return has(added, problem.op) ? theirs(problem) : mine(problem);
  };
  return true;
}

std::string case_name(const Description& about, const Problem& problem) {
  std::string text = fmt::format("{}/variant:{}/type:{}/op:{}/mode:{}/items:{}", name(about.primitive), about.id,
                                 name(problem.type), name(problem.op), name(problem.mode), problem.axis());
  if (problem.rows != 1) text += fmt::format("/rows:{}", problem.rows);
  if (problem.inner != 1) text += fmt::format("/inner:{}", problem.inner);
  if (const Segments& cut = problem.segments; have_flags(cut.by)) {
    text += fmt::format("/kept:{}", cut.kept);
  } else if (cut.by != SegmentsBy::none) {
    text += fmt::format("/segment:{}/lengths:{}/width:{}", cut.mean, name(cut.lengths), cut.width);
  }
  for (const Parameter& parameter : about.parameters) {
    const std::string value = setting(about, problem.settings, parameter.name);
    if (value != parameter.values.front()) text += fmt::format("/{}:{}", parameter.name, value);
  }
  return text;
}

namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitute});
    }
  }
  return row.back();
}
}  // namespace

std::vector<std::string> near_matches(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : known) {
    const bool contains = !word.empty() && (candidate.find(word) != std::string::npos || word.find(candidate) == 0);
    const std::size_t distance = contains ? 1 : edit_distance(word, candidate);
    if (distance <= std::max<std::size_t>(2, word.size() / 3)) ranked.emplace_back(distance, candidate);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> best;
  for (const auto& [distance, candidate] : ranked) {
    if (best.size() < 3) best.push_back(candidate);
  }
  return best;
}

}  // namespace scanlab
