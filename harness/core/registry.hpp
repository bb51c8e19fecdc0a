// Registries of variants, schedules and workloads: each registers itself before main, and is looked up by its id.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scanlab {

/// Whether commands, files and figures can call something so: lower-case letters, digits and '_', a letter first.
constexpr bool is_id(std::string_view word) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !word.empty() && is_letter(word.front()) &&
         std::ranges::all_of(word, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// Every registered `Entry` by `about.id`. Registering what is no id, the same id twice, or a parameter without values
/// ends the program with a message that calls the entry by `Entry::kNoun`.
template <class Entry>
class RegistryOf {
 public:
  static RegistryOf& instance() {
    static RegistryOf registry;
    return registry;
  }

  void add(Entry entry) {  // NOLINT(performance-unnecessary-value-param): moved into the registry
    const std::string id = entry.about.id;
    if (!is_id(id)) refuse(id, "its id has to be lower-case letters, digits and '_', a letter first");
    if constexpr (requires { entry.about.parameters.front().values; }) {
      for (const auto& parameter : entry.about.parameters) {
        if (parameter.values.empty()) refuse(id, "its parameter '" + parameter.name + "' has no values");
      }
    }
    const auto [place, is_new] = entries_.try_emplace(id, std::move(entry));
    if (is_new) return;
    if constexpr (requires { place->second.join(std::move(entry)); }) {
      if (place->second.join(std::move(entry))) return;
    }
    refuse(id, "another one has that id; ids must be unique");
  }

  const std::map<std::string, Entry, std::less<>>& all() const { return entries_; }

  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const auto& [id, entry] : entries_) all.push_back(id);
    return all;
  }

  /// Null if there is none.
  const Entry* find(std::string_view id) const {
    const auto entry = entries_.find(id);
    return entry == entries_.end() ? nullptr : &entry->second;
  }

 private:
  /// Registration runs before main, where nothing could catch an exception.
  [[noreturn]] static void refuse(const std::string& id, const std::string& reason) {
    std::fprintf(stderr, "scanlab: the %s '%s' cannot be registered: %s\n", Entry::kNoun, id.c_str(), reason.c_str());
    std::exit(2);
  }

  std::map<std::string, Entry, std::less<>> entries_;
};

/// The names among `known` closest to `word`, for an error message; at most three, best first.
std::vector<std::string> near_matches(std::string_view word, const std::vector<std::string>& known);

}  // namespace scanlab
