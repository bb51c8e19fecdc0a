// JSON and TOML documents, read into structs and written from them; each struct lists its fields once. An error names
// the file, the line (of a TOML file) and the key, and says what is expected there.
//
//   template <class Fields>
//   void list_fields(Fields& fields, Device& device) {
//     fields("name", device.name);
//     fields("copy_us", device.copy_seconds, {.above = 0, .unit = 1e-6});
//     fields.optional("queues", device.queues, {.low = 1});
//   }
//   const auto device = read<Device>(parse_json(text, file));
//   const Json json = to_document(device);
//
// A type that is not an object defines `void read_value(const Value&, T&)` and `Json write_value(const T&)`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/host/status.hpp"

namespace scanlab {

/// "FILE, line 7: key 'copies[2].bytes': expected a number above 0, got "x"".
struct DocumentError : CommandError {
  explicit DocumentError(const std::string& sentence) : CommandError(kBadInput, sentence) {}
};

struct Document {
  std::string file;  ///< the name in error messages
  nlohmann::ordered_json json;
  std::map<std::string, unsigned, std::less<>> lines;  ///< numbers by path, if known
};

/// Parses a text. Throws DocumentError with the line and column.
Document parse_json(std::string_view text, const std::string& file);
Document parse_toml(std::string_view text, const std::string& file);
/// Reads a file. Throws DocumentError, with `name` or else the path, if it cannot be read or is empty.
std::string read_text(const std::string& path, const std::string& name = {});
Document read_json(const std::string& path);

/// The range of a number. The document gives it in `unit`, such as 1e-6 for microseconds.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double above = -std::numeric_limits<double>::infinity();
  double unit = 1;
};

/// Whether a text is free of control characters.
bool is_one_line(std::string_view text);

/// A value in a document. The document must outlive it.
class Value {
 public:
  Value(const Document& document)
      : document_(&document), json_(&document.json) {}  // NOLINT(google-explicit-constructor)

  const nlohmann::ordered_json& json() const { return *json_; }
  const std::string& file() const { return document_->file; }
  std::string place() const;  ///< "FILE", or "FILE, line 7"
  unsigned line() const;      ///< 0 if unknown
  [[noreturn]] void fail(const std::string& reason) const;
  /// Fails with "expected …, got …".
  [[noreturn]] void expect(const std::string& expected) const;

  bool has(const std::string& key) const;
  /// Returns a member; fails if this is not an object, or lacks the key.
  Value at(const std::string& key) const;
  std::vector<Value> items() const;
  /// Fails if this is not an object.
  std::vector<std::string> keys() const;
  /// Fails for a key that is not in `known`, and suggests the nearest one.
  void allow_keys(const std::vector<std::string>& known) const;
  /// Fails unless key "schema" is `known`; the error ends with `remedy`.
  void check_schema(std::string_view known, std::string_view remedy) const;

  std::string text() const;  ///< one line, not empty
  std::string choice(const std::vector<std::string>& all) const;
  /// The value of one of `words`, which are pairs of values and words.
  template <class Words>
  auto choose(const Words& words) const {
    std::vector<std::string> all;
    for (const auto& [value, word] : words) all.emplace_back(word);
    const auto place = std::ranges::find(all, choice(all)) - all.begin();
    return std::next(std::begin(words), place)->first;
  }
  bool flag() const;
  double number(const Limits& limits = {}) const;
  std::int64_t whole(std::int64_t low, std::int64_t high) const;

  template <class T>
  T get(const Limits& limits = {}) const;

 private:
  Value(const Document& document, const nlohmann::ordered_json& json, std::string path)
      : document_(&document), json_(&json), path_(std::move(path)) {}

  const Document* document_;
  const nlohmann::ordered_json* json_;
  std::string path_;
};

/// Reads the fields of an object.
class FieldReader {
 public:
  explicit FieldReader(const Value& value) : value_(value) {}

  template <class T>
  void operator()(const char* key, T& member, const Limits& limits = {}) {
    keys_.emplace_back(key);
    member = value_.at(key).template get<T>(limits);
  }
  /// Leaves the member unchanged if the document lacks the key.
  template <class T>
  void optional(const char* key, T& member, const Limits& limits = {}) {
    keys_.emplace_back(key);
    if (value_.has(key)) member = value_.at(key).template get<T>(limits);
  }
  /// Refuses keys that were not listed.
  void refuse_others() const { value_.allow_keys(keys_); }

 private:
  Value value_;
  std::vector<std::string> keys_;
};

template <class T>
nlohmann::ordered_json to_document(const T& value, const Limits& limits = {});

/// Writes the fields of an object, and skips optional fields that have their default value.
class FieldWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& member, const Limits& limits = {}) {
    json[key] = to_document(member, limits);
  }
  template <class T>
  void optional(const char* key, const T& member, const Limits& limits = {}) {
    if (!(member == T{})) json[key] = to_document(member, limits);
  }
  void refuse_others() const {}

  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

template <class T>
T Value::get(const Limits& limits) const {
  if constexpr (std::is_same_v<T, std::string>) {
    return text();
  } else if constexpr (std::is_same_v<T, bool>) {
    return flag();
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto kMax = static_cast<double>(std::numeric_limits<std::int64_t>::max());
    const auto bound = [&](double limit, T otherwise) {
      return std::abs(limit) < kMax ? static_cast<std::int64_t>(limit) : static_cast<std::int64_t>(otherwise);
    };
    constexpr T kHighest = sizeof(T) < 8 ? std::numeric_limits<T>::max() : std::numeric_limits<std::int64_t>::max();
    return static_cast<T>(whole(bound(limits.low, std::numeric_limits<T>::min()), bound(limits.high, kHighest)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return number(limits) * limits.unit;
  } else if constexpr (requires(T some) { some.has_value(); }) {
    return get<typename T::value_type>(limits);
  } else if constexpr (requires { typename T::mapped_type; }) {
    T all;
    for (const std::string& key : keys()) all.emplace(key, at(key).get<typename T::mapped_type>(limits));
    return all;
  } else if constexpr (requires(T all) { all.push_back({}); }) {
    T all;
    for (const Value& item : items()) all.push_back(item.get<typename T::value_type>(limits));
    return all;
  } else {
    T result{};
    if constexpr (requires { read_value(*this, result); }) {
      read_value(*this, result);
    } else {
      FieldReader fields(*this);
      list_fields(fields, result);
    }
    return result;
  }
}

template <class T>
T read(const Document& document) {
  return Value(document).get<T>();
}

template <class T>
nlohmann::ordered_json to_document(const T& value, const Limits& limits) {
  if constexpr (std::is_floating_point_v<T>) {
    return value / limits.unit;
  } else if constexpr (requires { value.has_value(); }) {
    return to_document(*value, limits);  // optional() skips a field without a value
  } else if constexpr (requires { write_value(value); }) {
    return write_value(value);
  } else if constexpr (requires(FieldWriter fields, T fielded) { list_fields(fields, fielded); }) {
    FieldWriter fields;
    list_fields(fields, const_cast<T&>(value));  // NOLINT(cppcoreguidelines-pro-type-const-cast): one list for both
    return std::move(fields.json);
  } else if constexpr (
      requires { typename T::mapped_type; } || !requires { value.front(); } || std::is_same_v<T, std::string>) {
    return value;
  } else {
    auto all = nlohmann::ordered_json::array();
    for (const auto& each : value) all.push_back(to_document(each, limits));
    return all;
  }
}

}  // namespace scanlab
