#include "harness/selection/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <boost/algorithm/string/split.hpp>
#include <charconv>

#include "harness/host/status.hpp"

namespace scanlab {

Words split(const std::string& text, char separator) {
  Words parts;
  boost::split(parts, text, [=](char letter) { return letter == separator; });
  return parts;
}

Words words_of(const OptionWords& stated, const std::string& option) {
  Words all;
  const auto texts = stated.find(option);
  if (texts == stated.end()) return all;
  for (const std::string& text : texts->second) {
    for (const std::string& word : split(text, ',')) {
      // An empty word is a script's unset variable: it must not come to mean "everything".
      if (word.empty()) refuse(fmt::format("--{} is given an empty word", option));
      all.push_back(word);
    }
  }
  return all;
}

bool fits(const std::string& glob, const std::string& id) { return fnmatch(glob.c_str(), id.c_str(), 0) == 0; }

void unknown(const char* what, const std::string& word, const Words& known) {
  const Words near = near_matches(word, known);
  constexpr std::size_t kFew = 4;  // so few are all worth saying
  const bool guess = !near.empty() && known.size() > kFew;
  const std::string hint = guess           ? fmt::format("did you mean {}?", fmt::join(near, " or "))
                           : known.empty() ? "there are none"
                                           : fmt::format("known: {}", fmt::join(known, ", "));
  refuse(fmt::format("there is no {} '{}'; {}", what, word, hint));
}

namespace {

/// The text of an option while it is parsed, for messages.
struct Counts {
  const std::string& option;
  const std::string& whole;
};

std::int64_t at_most(std::int64_t value, const Counts& counts) {
  if (value <= kMaxItems) return value;
  refuse(fmt::format("{}: '{}' is more than 2^40", counts.option, counts.whole));
}

std::int64_t parse_power(const std::string& text, const Counts& counts) {
  const auto fail = [&] {
    refuse(fmt::format("{}: '{}' in '{}' is not a number; write 1000, 2^20, 2^20+1 or a range 2^10:2^28:x4",
                       counts.option, text, counts.whole));
  };
  const Words parts = split(text, '^');
  std::int64_t numbers[2] = {};
  if (parts.size() > 2) fail();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [stop, error] = std::from_chars(parts[i].data(), end, numbers[i]);
    if (error == std::errc::result_out_of_range) return at_most(kMaxItems + 1, counts);
    if (error != std::errc{} || stop != end || numbers[i] < 0) fail();
    at_most(numbers[i], counts);
  }
  if (parts.size() == 1) return numbers[0];
  if (numbers[0] <= 1) return numbers[1] == 0 ? 1 : numbers[0];
  std::int64_t power = 1;
  for (std::int64_t i = 0; i < numbers[1]; ++i) {
    if (power > kMaxItems / numbers[0]) return at_most(kMaxItems + 1, counts);
    power *= numbers[0];
  }
  return power;
}

/// A number, a power (2^20), or a sum or difference of these (2^20+1).
std::int64_t parse_count(const std::string& text, const Counts& counts) {
  const std::size_t at = text.find_last_of("+-");
  if (at == std::string::npos || at == 0) return parse_power(text, counts);
  const std::int64_t left = parse_count(text.substr(0, at), counts);
  const std::int64_t right = parse_power(text.substr(at + 1), counts);
  if (text[at] == '-' && right > left) refuse(fmt::format("{}: '{}' is less than none", counts.option, text));
  return at_most(text[at] == '+' ? left + right : left - right, counts);
}

}  // namespace

std::vector<std::int64_t> parse_items(const std::string& text, const std::string& option) {
  const Counts counts{option, text};
  const Words parts = split(text, ':');
  const std::int64_t first = parse_count(parts[0], counts);
  if (parts.size() == 1) return {first};
  const auto fail = [&] {
    refuse(fmt::format("{}: '{}' is not a range; write FIRST:LAST:xFACTOR or FIRST:LAST:+STEP, as in 2^10:2^28:x4",
                       option, text));
  };
  if (parts.size() > 3) fail();
  const std::int64_t last = parse_count(parts[1], counts);
  const std::string step = parts.size() == 3 ? parts[2] : first > 0 ? "x2" : "+1";
  if (step.size() < 2 || (step[0] != 'x' && step[0] != '+') || first > last) fail();
  const std::int64_t by = parse_count(step.substr(1), counts);
  if ((step[0] == 'x' && (by < 2 || first < 1)) || by < 1) fail();
  constexpr std::size_t kMaxSizes = 100'000;
  std::vector<std::int64_t> items;
  for (std::int64_t n = first; n <= last; n = step[0] == 'x' ? n * by : n + by) {
    items.push_back(n);
    if (items.size() > kMaxSizes) refuse(fmt::format("{}: '{}' is more than {} sizes", option, text, kMaxSizes));
  }
  return items;
}

std::vector<std::int64_t> counts_of(const OptionWords& stated, const std::string& option, std::int64_t least,
                                    std::int64_t most) {
  std::vector<std::int64_t> all;
  for (const std::string& word : words_of(stated, option)) {
    for (const std::int64_t count : parse_items(word, "--" + option)) {
      if (count < least || count > most)
        refuse(fmt::format("--{} {}: give numbers from {} to {}", option, count, least, most));
      all.push_back(count);
    }
  }
  return all;
}

std::size_t parse_bytes(const std::string& text, const std::string& option) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},      {"B", 1},        {"KB", 1e3},        {"MB", 1e6},           {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  if (text.find('^') != std::string::npos && text.find(':') == std::string::npos) {
    return static_cast<std::size_t>(parse_items(text, option).front());
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : kUnits) {
    if (error == std::errc{} && unit == name && number >= 0 && number * factor < 1e18) {
      return static_cast<std::size_t>(number * factor);
    }
  }
  refuse(fmt::format("{} '{}' is no number of bytes: write 4096, 2^30, 300MiB or 2GiB", option, text));
}

}  // namespace scanlab
