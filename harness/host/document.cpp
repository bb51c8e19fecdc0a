#include "harness/host/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "harness/core/registry.hpp"

namespace scanlab {

namespace {

using Json = nlohmann::ordered_json;

std::string shorten(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + " ...";
}

std::string show(const Json& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) return fmt::format("{}", json.get<double>());
  return shorten(json.dump(-1, ' ', true, Json::error_handler_t::replace), 60);
}

std::string path_of(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

Json to_json(const toml::node& node, const std::string& path, Document& document) {
  document.lines.try_emplace(path, node.source().begin.line);
  if (const toml::table* const table = node.as_table()) {
    Json json = Json::object();
    for (const auto& [key, each] : *table) {
      const std::string name(key.str());
      document.lines[path_of(path, name)] = key.source().begin.line;
      json[name] = to_json(each, path_of(path, name), document);
    }
    return json;
  }
  if (const toml::array* const list = node.as_array()) {
    Json json = Json::array();
    for (const toml::node& each : *list)
      json.push_back(to_json(each, fmt::format("{}[{}]", path, json.size()), document));
    return json;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  return nullptr;  // a date or time, which no key takes
}

}  // namespace

Document parse_json(std::string_view text, const std::string& file) {
  try {
    return {.file = file, .json = Json::parse(text), .lines = {}};
  } catch (const Json::exception& error) {
    std::string reason = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    for (const std::string_view prefix : {"] ", "parse error at "}) {
      if (const auto at = reason.find(prefix); at != reason.npos) reason.erase(0, at + prefix.size());
    }
    throw DocumentError(fmt::format("{}: is no JSON: {}", file, shorten(reason, 200)));
  }
}

Document parse_toml(std::string_view text, const std::string& file) {
  try {
    Document document{.file = file, .json = {}, .lines = {}};
    document.json = to_json(toml::parse(text, std::string_view(file)), "", document);
    return document;
  } catch (const toml::parse_error& error) {
    throw DocumentError(fmt::format("{}, line {}: {}", file, error.source().begin.line, error.description()));
  }
}

std::string read_text(const std::string& path, const std::string& name) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  std::string text;
  if (std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status)) {  // others need not end
    std::ifstream file(path);
    text = {std::istreambuf_iterator<char>(file), {}};
  }
  if (text.empty()) throw DocumentError(fmt::format("{}: cannot be read, or is empty", name.empty() ? path : name));
  return text;
}

Document read_json(const std::string& path) { return parse_json(read_text(path), path); }

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

unsigned Value::line() const {
  for (std::string path = path_;; path.resize(std::min(path.size(), path.find_last_of(".[")))) {
    if (const auto line = document_->lines.find(path); line != document_->lines.end()) return line->second;
    if (path.find_last_of(".[") == path.npos) break;
  }
  const auto line = document_->lines.find("");
  return line == document_->lines.end() ? 0 : line->second;
}

std::string Value::place() const {
  return line() == 0 ? document_->file : fmt::format("{}, line {}", document_->file, line());
}

void Value::fail(const std::string& reason) const {
  throw DocumentError(path_.empty() ? fmt::format("{}: {}", place(), reason)
                                    : fmt::format("{}: key '{}': {}", place(), shorten(path_, 200), reason));
}

void Value::expect(const std::string& expected) const {
  fail(fmt::format("expected {}, got {}", expected, show(*json_)));
}

bool Value::has(const std::string& key) const { return json_->is_object() && json_->contains(key); }

Value Value::at(const std::string& key) const {
  if (!json_->is_object()) expect("an object");
  if (!json_->contains(key)) fail(fmt::format("lacks the key '{}'", key));
  return {*document_, json_->at(key), path_of(path_, key)};
}

std::vector<Value> Value::items() const {
  if (!json_->is_array()) expect("a list");
  std::vector<Value> all;
  for (const Json& item : *json_) all.push_back({*document_, item, fmt::format("{}[{}]", path_, all.size())});
  return all;
}

std::vector<std::string> Value::keys() const {
  if (!json_->is_object()) expect("an object");
  std::vector<std::string> all;
  for (const auto& [key, value] : json_->items()) all.push_back(key);
  return all;
}

void Value::allow_keys(const std::vector<std::string>& known) const {
  for (const std::string& key : keys()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::vector<std::string> near = near_matches(key, known);
    at(key).fail("there is no such key; " + (near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                          : fmt::format("did you mean {}?", fmt::join(near, " or "))));
  }
}

void Value::check_schema(std::string_view known, std::string_view remedy) const {
  const std::string schema = at("schema").text();
  if (schema == known) return;
  const auto version = [](std::string_view text) {
    int number = 0;
    std::from_chars(text.data() + std::min(text.rfind('/'), text.size() - 1) + 1, text.data() + text.size(), number);
    return number;
  };
  const bool newer = schema.starts_with(known.substr(0, known.rfind('/') + 1)) && version(schema) > version(known);
  at("schema").expect(fmt::format("{} ({})", known, newer ? "the file is of a newer Scanlab: update" : remedy));
}

std::string Value::text() const {
  constexpr std::size_t kMaxBytes = 1000;
  const std::string text = json_->is_string() ? json_->get<std::string>() : "";
  if (text.empty() || text.size() > kMaxBytes || !is_one_line(text)) {
    expect(fmt::format("a text of one line, of 1 to {} bytes", kMaxBytes));
  }
  return text;
}

std::string Value::choice(const std::vector<std::string>& all) const {
  const std::string word = json_->is_string() ? json_->get<std::string>() : "";
  if (std::ranges::find(all, word) != all.end()) return word;
  const std::vector<std::string> near = near_matches(word, all);
  fail(fmt::format("expected one of {}, got {}{}", fmt::join(all, ", "), show(*json_),
                   near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
}

bool Value::flag() const {
  if (!json_->is_boolean()) expect("true or false");
  return json_->get<bool>();
}

double Value::number(const Limits& limits) const {
  const double value = json_->is_number() ? json_->get<double>() : std::nan("");
  if (value >= limits.low && value > limits.above && value <= limits.high) return value;
  std::string expected = "a number";
  if (std::isfinite(limits.above)) expected += fmt::format(" above {}", limits.above);
  if (std::isfinite(limits.low)) expected += fmt::format(" from {}", limits.low);
  if (std::isfinite(limits.high)) expected += fmt::format(" to {}", limits.high);
  expect(expected);
}

std::int64_t Value::whole(std::int64_t low, std::int64_t high) const {
  constexpr double kExact = std::int64_t{1} << 53;
  std::int64_t value = 0;
  bool fits = false;
  if (json_->is_number_integer()) {
    value = json_->get<std::int64_t>();
    fits = value >= 0 || !json_->is_number_unsigned();
  } else if (json_->is_number_float()) {
    const auto number = json_->get<double>();
    fits = std::abs(number) <= kExact && number == std::floor(number);
    if (fits) value = static_cast<std::int64_t>(number);
  }
  if (!fits || value < low || value > high) expect(fmt::format("a whole number from {} to {}", low, high));
  return value;
}

}  // namespace scanlab
