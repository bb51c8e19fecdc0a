#include "harness/tuning/tuning_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/host/document.hpp"
#include "tuned_tables.hpp"

namespace scanlab {

namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "scanlab-tuning/1";

/// Null if there is none.
const Variant* find_candidate(const std::string& id) {
  const Variant* const variant = Registry::instance().find(id);
  return variant != nullptr && is_candidate(*variant) ? variant : nullptr;
}

std::string no_candidate(const std::string& id) {
  return fmt::format("this program has no variant '{}' that best could run", id);
}

}  // namespace

void read_value(const Value& row, TuningTable::Row& result) {
  FieldReader fields(row);
  fields("from_items", result.from_items);
  fields("variant", result.choice.variant);
  fields("settings", result.choice.settings);
}

void read_value(const Value& value, TuningTable::Entry& entry) {
  entry.type = value.at("type").choose(named_values<ElementType>());
  entry.op = value.at("op").choose(named_values<Operator>());
  if (!defined(entry.type, entry.op)) value.fail(not_defined(entry.type, entry.op));
  entry.rows = value.at("choices").get<std::vector<TuningTable::Row>>();
  const auto not_rising = [](const TuningTable::Row& a, const TuningTable::Row& b) {
    return a.from_items >= b.from_items;
  };
  if (entry.rows.empty() || entry.rows.front().from_items != 0 ||
      std::ranges::adjacent_find(entry.rows, not_rising) != entry.rows.end()) {
    value.at("choices").fail("from_items does not rise from 0");
  }
}

bool chooses_among_others(std::string_view id) { return id == "best" || id == "device_scan"; }

bool is_candidate(const Variant& variant) {
  const Description& about = variant.about;
  return variant.origin == Origin::variant && about.kind == Kind::scan && !variant.backends.host &&
         about.primitive == Primitive::scan && about.types.size() == named_values<ElementType>().size() &&
         !chooses_among_others(about.id);
}

BoundScan bind(const Choice& choice, Problem problem) {
  const Variant* const variant = find_candidate(choice.variant);
  if (variant == nullptr) return {.plan = Plan::refuse(no_candidate(choice.variant))};
  problem.settings = choice.settings;
  return variant->bind(problem);
}

const TuningTable::Entry* TuningTable::nearest(ElementType type, Operator op) const {
  const auto kin = [](Operator each) { return each == Operator::min ? Operator::max : each; };  // they cost the same
  const auto distance = [&](const Entry& entry) {
    return std::tuple(item_bytes(entry.type, entry.op) != item_bytes(type, op), kin(entry.op) != kin(op),
                      entry.type != type, entry.op != op, entry.op != Operator::plus);
  };
  const auto match = std::ranges::min_element(entries, {}, distance);
  const bool fits = match != entries.end() && !std::get<0>(distance(*match));
  return fits ? &*match : nullptr;
}

std::vector<Choice> TuningTable::choices(const Problem& problem) const {
  const Entry* const entry = nearest(problem.type, problem.op);
  if (entry == nullptr) return {};
  const auto above = std::ranges::upper_bound(entry->rows, problem.items, {}, &Row::from_items);
  std::vector<Choice> ordered{std::prev(above)->choice};
  if (above != entry->rows.end()) ordered.push_back(above->choice);
  if (std::prev(above) != entry->rows.begin()) ordered.push_back(std::prev(above, 2)->choice);
  return ordered;
}

std::string TuningTable::unknown_choice() const {
  for (const Entry& entry : entries) {
    for (const Row& row : entry.rows) {
      const Variant* const variant = find_candidate(row.choice.variant);
      if (variant == nullptr) return no_candidate(row.choice.variant);
      const Problem problem{.type = entry.type, .op = entry.op, .settings = row.choice.settings};
      if (std::string reason = unsupported(variant->about, problem); !reason.empty()) return reason;
    }
  }
  return {};
}

TuningTable parse_tuning_table(std::string_view text, const std::string& name) {
  const Document document = parse_json(text, name);
  const Value value = document;
  value.check_schema(kSchema, "tune again with this program");
  TuningTable table;
  FieldReader fields(value);
  fields("device", table.device);
  fields("compute_capability", table.compute_capability);
  fields("multiprocessors", table.multiprocessors);
  fields("entries", table.entries);
  const Value provenance = value.at("provenance");
  for (const std::string& key : provenance.keys()) {
    const Value fact = provenance.at(key);
    if (!fact.json().is_string()) fact.expect("a text");
    table.provenance.emplace_back(key, fact.json());
  }
  return table;
}

TuningTable read_tuning_table(const std::string& path, const std::string& name) {
  return parse_tuning_table(read_text(path, name), name);
}

/// JSON, a row a line.
std::string to_text(const TuningTable& table) {
  Json head{{"schema", kSchema},
            {"device", table.device},
            {"compute_capability", table.compute_capability},
            {"multiprocessors", table.multiprocessors},
            {"provenance", Json::object()}};
  for (const auto& [key, value] : table.provenance) head["provenance"][key] = value;
  std::string text = head.dump(2);
  text.resize(text.size() - 2);  // its closing brace, on a line of its own
  text += ",\n  \"entries\": [";
  const char* between_entries = "\n";
  for (const TuningTable::Entry& entry : table.entries) {
    text += fmt::format("{}    {{\"type\": \"{}\", \"op\": \"{}\", \"choices\": [", between_entries, name(entry.type),
                        name(entry.op));
    const char* between_rows = "\n";
    for (const TuningTable::Row& row : entry.rows) {
      text += fmt::format("{}      {{\"from_items\": {}, \"variant\": {}, \"settings\": {}}}", between_rows,
                          row.from_items, Json(row.choice.variant).dump(), Json(row.choice.settings).dump());
      between_rows = ",\n";
    }
    text += "\n    ]}";
    between_entries = ",\n";
  }
  return text + "\n  ]\n}\n";
}

const std::vector<TuningTable>& built_in_tuning_tables() {
  static const std::vector<TuningTable> tables = [] {
    std::vector<TuningTable> all;
    for (const auto& [file, text] : kTunedTables) all.push_back(parse_tuning_table(text, file));
    return all;
  }();
  return tables;
}

const TuningTable* tuning_table(std::string_view device, int multiprocessors) {
  if (const char* const path = std::getenv(kTuningVariable); path != nullptr) {
    static std::map<std::string, TuningTable> read;
    if (const auto match = read.find(path); match != read.end()) return &match->second;
    const std::string name = fmt::format("{}={}", kTuningVariable, path);
    const TuningTable& table = read.emplace(path, read_tuning_table(path, name)).first->second;
    if (const std::string unknown = table.unknown_choice(); !unknown.empty()) {
      fmt::print(stderr, "scanlab: warning: {}: {}; best uses another there\n", name, unknown);
    }
    return &table;
  }
  const auto match = std::ranges::find_if(built_in_tuning_tables(), [&](const TuningTable& table) {
    return table.device == device && table.multiprocessors == multiprocessors;
  });
  return match == built_in_tuning_tables().end() ? nullptr : &*match;
}

}  // namespace scanlab
