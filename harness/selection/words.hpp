// The words that choose cases, on a command line and in the named sweeps: lists, counts, bytes, names and globs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/registry.hpp"

namespace scanlab {

using Words = std::vector<std::string>;

/// The values of each option: lists of words between commas, one list for each time the option was given. An option
/// that is not there is not stated.
using OptionWords = std::map<std::string, Words>;

/// The parts of a text between separators, empty ones included.
Words split(const std::string& text, char separator);

/// Every word of an option; none if it is not stated. Throws CommandError (status 2) for an empty one.
Words words_of(const OptionWords& stated, const std::string& option);

inline constexpr std::int64_t kMaxItems = std::int64_t{1} << 40;  // more than a device holds, and sums do not wrap

/// The counts of one word, from 0 to 2^40: a number, a power (2^20), a sum or difference of these (2^20+1), or a range
/// (2^10:2^28:x4, 0:100:+10). Throws CommandError (status 2), which calls it by `option`.
std::vector<std::int64_t> parse_items(const std::string& text, const std::string& option = "--items");
/// Returns the counts of all words of an option. Throws CommandError (status 2) for one that is not from `least` to
/// `most`.
std::vector<std::int64_t> counts_of(const OptionWords& stated, const std::string& option, std::int64_t least = 0,
                                    std::int64_t most = kMaxItems);

/// A number of bytes: 4096, 2^30, 300MiB, 2 GB. Throws CommandError (status 2).
std::size_t parse_bytes(const std::string& text, const std::string& option);

/// Throws CommandError (status 2): there is no `what` called `word`; names the near matches, or all if they are few.
[[noreturn]] void unknown(const char* what, const std::string& word, const Words& known);

/// The one of `all` that is called `name`; throws as unknown() does.
template <class Named>
const Named& find_named(const char* what, const std::vector<Named>& all, const std::string& name) {
  if (const auto match = std::ranges::find(all, name, &Named::name); match != all.end()) return *match;
  Words known;
  for (const Named& each : all) known.push_back(each.name);
  unknown(what, name, known);
}

/// The values that an option's words name, in their order; "all" names each of `known`, which has pairs of a value and
/// its name. Throws as unknown() does.
template <class Known>
auto values_of(const OptionWords& stated, const char* option, const Known& known) {
  std::vector<typename Known::value_type::first_type> chosen;
  for (const std::string& word : words_of(stated, option)) {
    const std::size_t before = chosen.size();
    for (const auto& [value, text] : known) {
      if (word == "all" || word == text) chosen.push_back(value);
    }
    if (chosen.size() > before) continue;
    Words names{"all"};
    for (const auto& [value, text] : known) names.emplace_back(text);
    unknown(option, word, names);
  }
  return chosen;
}

/// The values of an enumeration, each with its name, for values_of().
template <class Value, std::size_t kCount>
std::vector<std::pair<Value, std::string_view>> with_names(const std::array<Value, kCount>& all) {
  std::vector<std::pair<Value, std::string_view>> named;
  for (const Value each : all) named.emplace_back(each, name(each));
  return named;
}

/// Whether a glob, as of a shell, fits an id.
bool fits(const std::string& glob, const std::string& id);

/// The registered entries whose ids fit one of the globs, each once, glob by glob. `none` is called with a glob that
/// fits no id.
template <class Entry>
std::vector<const Entry*> matching(const Words& globs, const std::function<void(const std::string&)>& none) {
  std::vector<const Entry*> chosen;
  for (const std::string& glob : globs) {
    bool matched = false;
    for (const auto& [id, entry] : RegistryOf<Entry>::instance().all()) {
      if (!fits(glob, id)) continue;
      matched = true;
      if (std::ranges::find(chosen, &entry) == chosen.end()) chosen.push_back(&entry);
    }
    if (!matched) none(glob);
  }
  return chosen;
}

}  // namespace scanlab
