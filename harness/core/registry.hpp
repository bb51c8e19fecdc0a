// What registers itself before main and is then found by its id: variants, schedules, workloads.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scanlab {

/// Every registered `Entry` by `about.id`. Registering the same id twice ends the program with a message that calls the
/// entries by `Entry::kNoun`.
template <class Entry>
class RegistryOf {
 public:
  static RegistryOf& instance() {
    static RegistryOf registry;
    return registry;
  }

  void add(Entry entry) {
    const std::string id = entry.about.id;
    if (entries_.emplace(id, std::move(entry)).second) return;
    // Registration runs before main, where nothing could catch an exception.
    std::fprintf(stderr, "scanlab: two %ss are registered with the id '%s'; ids must be unique\n", Entry::kNoun,
                 id.c_str());
    std::exit(2);
  }

  const std::map<std::string, Entry, std::less<>>& all() const { return entries_; }

  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const auto& [id, entry] : entries_) all.push_back(id);
    return all;
  }

  /// Null if there is none.
  const Entry* find(std::string_view id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

/// The names among `known` closest to `word`, for an error message; at most three, best first.
std::vector<std::string> near_matches(std::string_view word, const std::vector<std::string>& known);

}  // namespace scanlab
