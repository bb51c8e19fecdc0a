#include "harness/simulator/scenario_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/host/status.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;

// ---- the file

std::string Place::text() const { return fmt::format("{}, line {}", file, line); }

void Place::fail(const std::string& what) const { throw CommandError(kBadInput, fmt::format("{}: {}", text(), what)); }

Json FileValue::json() const {
  if (const auto* const text = as<std::string>()) return *text;
  if (const auto* const flag = as<bool>()) return *flag;
  if (const auto* const whole = as<std::int64_t>()) return *whole;
  if (const auto* const number = as<double>()) return *number;
  if (kind == Kind::one) return word;
  Json all = kind == Kind::list ? Json::array() : Json::object();
  for (const FileValue& each : list) all.push_back(each.json());
  for (const Entry& each : entries) all[each.key] = each.value.json();
  return all;
}

namespace {

FileValue converted(const toml::node& node) {
  FileValue value{.line = node.source().begin.line};
  if (const toml::table* const table = node.as_table()) {
    value.kind = FileValue::Kind::table;
    value.word = "a table";
    for (const auto& [key, each] : *table) {
      value.entries.push_back({std::string(key.str()), key.source().begin.line, converted(each)});
    }
  } else if (const toml::array* const list = node.as_array()) {
    value.kind = FileValue::Kind::list;
    value.word = "a list";
    for (const toml::node& each : *list) value.list.push_back(converted(each));
  } else {
    const auto take = [&](const auto& of, std::string word) {
      value.one = *of;
      value.word = std::move(word);
    };
    value.word = "a date or time";
    if (const auto text = node.value_exact<std::string>()) take(text, fmt::format("'{}'", *text));
    if (const auto flag = node.value_exact<bool>()) take(flag, fmt::format("{}", *flag));
    if (const auto whole = node.value_exact<std::int64_t>()) take(whole, fmt::format("{}", *whole));
    if (const auto number = node.value_exact<double>()) {
      take(number, fmt::format("{}", *number));
      if (!std::isfinite(*number)) value.one = {};
    }
  }
  return value;
}

}  // namespace

FileValue parse_toml(std::string_view text, const std::string& file) {
  try {
    return converted(toml::parse(text, std::string_view(file)));
  } catch (const toml::parse_error& error) {
    Place{file, error.source().begin.line}.fail(std::string(error.description()));
  }
}

// ---- a table

std::string Table::one_of_these(const std::string& what, const std::string& word, const Words& allowed) {
  const Words near = near_matches(word, allowed);
  return fmt::format("{}: {}{}", what, fmt::join(allowed, ", "),
                     near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or ")));
}

Table::Table(const FileValue& value, const std::string& file, std::string what, Words allowed)
    : value_(value), place_{file, value.line}, what_(std::move(what)) {
  for (const FileValue::Entry& each : value_.entries) {
    if (std::ranges::find(allowed, each.key) != allowed.end()) continue;
    Place{file, each.line}.fail(fmt::format("{} is no key of {}: allowed is {}", each.key, what_,
                                            one_of_these("one of these", each.key, allowed)));
  }
}

const FileValue* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(value_.entries, key, &FileValue::Entry::key);
  return found == value_.entries.end() ? nullptr : &found->value;
}

const FileValue& Table::at(std::string_view key) const {
  const FileValue* const found = find(key);
  if (found == nullptr) place_.fail(fmt::format("{} lacks the key {}", what_, key));
  return *found;
}

Place Table::place_of(std::string_view key) const {
  const FileValue* const found = find(key);
  return found == nullptr ? place_ : Place{place_.file, found->line};
}

void Table::refuse(std::string_view key, const std::string& allowed) const {
  constexpr std::size_t kMaxBytes = 60;
  std::string word = at(key).word;
  if (word.size() > kMaxBytes) word = "a text that is too long";
  place_of(key).fail(fmt::format("{} = {}: allowed is {}", key, word, allowed));
}

std::string Table::text(std::string_view key) const {
  constexpr std::size_t kMaxBytes = 1000;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  const auto* const found = at(key).as<std::string>();
  const std::string text = found != nullptr ? *found : "";
  if (text.empty() || text.size() > kMaxBytes || std::ranges::any_of(text, is_control)) {
    refuse(key, fmt::format("a text in quotes: one line of 1 to {} bytes", kMaxBytes));
  }
  return text;
}

std::string Table::text(std::string_view key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::string Table::one_of(std::string_view key, const Words& allowed) const {
  const auto* const text = at(key).as<std::string>();
  if (text != nullptr && std::ranges::find(allowed, *text) != allowed.end()) return *text;
  refuse(key, one_of_these("one of these", text != nullptr ? *text : "", allowed));
}

std::optional<double> Table::number(std::string_view key, double low, double high) const {
  if (!has(key)) return {};
  const auto* const whole = at(key).as<std::int64_t>();
  const auto* const real = at(key).as<double>();
  const double value = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : low - 1;
  if (!(value >= low && value <= high)) refuse(key, fmt::format("a number from {} to {}", low, high));
  return value;
}

std::optional<std::int64_t> Table::whole(std::string_view key, std::int64_t low, std::int64_t high) const {
  if (!has(key)) return {};
  const auto* const value = at(key).as<std::int64_t>();
  if (value == nullptr || *value < low || *value > high) {
    refuse(key, fmt::format("a whole number from {} to {}", low, high));
  }
  return *value;
}

std::optional<std::int64_t> Table::count(std::string_view key, std::int64_t low, std::int64_t high,
                                         std::int64_t (*parse)(const std::string&, const std::string&)) const {
  if (!has(key) || at(key).as<std::string>() == nullptr) return whole(key, low, high);
  std::int64_t value = 0;
  try {
    value = parse(text(key), std::string(key));
  } catch (const CommandError& error) {
    place_of(key).fail(error.what());
  }
  if (value < low || value > high) refuse(key, fmt::format("{} to {}", low, high));
  return value;
}

Table Table::table(std::string_view key, const std::string& what, Words allowed) const {
  const FileValue& found = at(key);
  if (found.kind != FileValue::Kind::table) refuse(key, fmt::format("a table, as {} = {{…}}", key));
  return {found, place_.file, what, std::move(allowed)};
}

}  // namespace scanlab::simulator
