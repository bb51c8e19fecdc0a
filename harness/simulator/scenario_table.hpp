// What stands in a TOML file, with the line of each value; and how a table of it is read, so that every error names
// the line, the word and what is allowed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/selection/words.hpp"

namespace scanlab::simulator {

/// A line of a file: "my.toml, line 7".
struct Place {
  std::string file;
  std::uint32_t line = 0;

  std::string text() const;
  /// Throws CommandError (status 2).
  [[noreturn]] void fail(const std::string& what) const;
};

/// A value: a table, a list, or one text, flag or number.
struct FileValue {
  enum class Kind { table, list, one };
  struct Entry;

  Kind kind = Kind::one;
  std::uint32_t line = 0;
  /// Nothing of a table, a list, and what no key takes: a date, or no finite number.
  std::variant<std::monostate, std::string, bool, std::int64_t, double> one;
  std::string word;             ///< how messages call it
  std::vector<FileValue> list;  ///< of a list
  std::vector<Entry> entries;   ///< of a table, in no order

  /// Null if it is something else.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&one);
  }
  /// The same as JSON, which keeps no lines.
  nlohmann::ordered_json json() const;
};
struct FileValue::Entry {
  std::string key;
  std::uint32_t line = 0;  ///< of the key
  FileValue value;
};

/// Throws CommandError (status 2) with the line and what is wrong in it.
FileValue parse_toml(std::string_view text, const std::string& file);

/// A table of a file, key by key. Whatever refuses throws CommandError (status 2).
class Table {
 public:
  /// Refuses keys that it cannot have. `what`: how messages call it, "a scenario". `value` is a table, and outlives it.
  Table(const FileValue& value, const std::string& file, std::string what, Words allowed);

  const Place& place() const { return place_; }
  Place place_of(std::string_view key) const;
  const std::vector<FileValue::Entry>& entries() const { return value_.entries; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Refuses a table without the key.
  const FileValue& at(std::string_view key) const;
  /// Refuses the key's value, and says what is allowed.
  [[noreturn]] void refuse(std::string_view key, const std::string& allowed) const;

  /// One line, not empty.
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, const std::string& otherwise) const;
  std::string one_of(std::string_view key, const Words& allowed) const;
  std::optional<double> number(std::string_view key, double low, double high) const;
  std::optional<std::int64_t> whole(std::string_view key, std::int64_t low, std::int64_t high) const;
  /// A whole number, or a text that `parse` takes, as it takes words of the command line: parse(word, key).
  std::optional<std::int64_t> count(std::string_view key, std::int64_t low, std::int64_t high,
                                    std::int64_t (*parse)(const std::string&, const std::string&)) const;
  /// A table within it.
  Table table(std::string_view key, const std::string& what, Words allowed) const;

  /// The registered entry that a key names.
  template <class Entry>
  const Entry& registered(std::string_view key, const std::string& id) const {
    const auto& registry = RegistryOf<Entry>::instance();
    if (const Entry* const found = registry.find(id)) return *found;
    refuse(key, one_of_these(std::string("a ") + Entry::kNoun, id, registry.ids()));
  }

 private:
  const FileValue* find(std::string_view key) const;
  static std::string one_of_these(const std::string& what, const std::string& word, const Words& allowed);

  const FileValue& value_;
  Place place_;
  std::string what_;
};

}  // namespace scanlab::simulator
