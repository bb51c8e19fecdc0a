#include "harness/cli/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "harness/cli/command.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text, char separator) {
  Words parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

Words option_words(const po::variables_map& values, const char* option) {
  Words all;
  if (values.count(option) == 0) return all;
  for (const std::string& text : values[option].as<Words>()) {
    for (const std::string& word : split(text, ',')) {
      // An empty word is a script's unset variable: it must not come to mean "everything".
      if (word.empty()) throw CommandError(kBadInput, fmt::format("--{} is given an empty word", option));
      all.push_back(word);
    }
  }
  return all;
}

int option_number(const po::variables_map& values, const char* option, int least, int most) {
  const int number = values[option].as<int>();
  if (number >= least && number <= most) return number;
  throw CommandError(kBadInput, fmt::format("--{} {}: between {} and {} is possible", option, number, least, most));
}

void unknown(const char* what, const std::string& word, const Words& known) {
  const Words near = near_matches(word, known);
  constexpr std::size_t kFew = 4;  // so few are all worth saying
  const bool guess = !near.empty() && known.size() > kFew;
  const std::string hint = guess           ? fmt::format("did you mean {}?", fmt::join(near, " or "))
                           : known.empty() ? "there are none"
                                           : fmt::format("known: {}", fmt::join(known, ", "));
  throw CommandError(kBadInput, fmt::format("there is no {} '{}'; {}", what, word, hint));
}

namespace {

template <class E>
std::vector<E> enumerators(const po::variables_map& values, const char* option) {
  std::vector<E> chosen;
  for (const std::string& word : option_words(values, option)) {
    if (word == "all") {
      for (const auto& [value, text] : named_values<E>()) chosen.push_back(value);
    } else if (const auto value = parse<E>(word)) {
      chosen.push_back(*value);
    } else {
      Words known{"all"};
      for (const auto& [each, text] : named_values<E>()) known.emplace_back(text);
      unknown(option, word, known);
    }
  }
  return chosen;
}

/// Every value of an option, for its help.
template <class E>
std::string all_or(const char* by_default) {
  std::string all;
  for (const auto& [value, text] : named_values<E>()) all += fmt::format("{}, ", text);
  return fmt::format("{}or all (default {})", all, by_default);
}

constexpr std::int64_t kMostItems = std::int64_t{1} << 40;  // more than any device holds, and sums of it do not wrap

/// The text of an option while it is parsed, for messages.
struct Counts {
  const std::string& option;
  const std::string& whole;
};

std::int64_t at_most(std::int64_t value, const Counts& counts) {
  if (value <= kMostItems) return value;
  throw CommandError(kBadInput, fmt::format("{}: '{}' is more than 2^40", counts.option, counts.whole));
}

std::int64_t parse_power(const std::string& text, const Counts& counts) {
  const auto fail = [&]() -> std::int64_t {
    throw CommandError(kBadInput, fmt::format("{}: '{}' in '{}' is not a number; write 1000, 2^20, 2^20+1 "
                                              "or a range 2^10:2^28:x4",
                                              counts.option, text, counts.whole));
  };
  const Words parts = split(text, '^');
  std::int64_t numbers[2] = {};
  if (parts.size() > 2) return fail();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [stop, error] = std::from_chars(parts[i].data(), end, numbers[i]);
    if (error == std::errc::result_out_of_range) return at_most(kMostItems + 1, counts);
    if (error != std::errc{} || stop != end || numbers[i] < 0) return fail();
    at_most(numbers[i], counts);
  }
  if (parts.size() == 1) return numbers[0];
  if (numbers[0] <= 1) return numbers[1] == 0 ? 1 : numbers[0];
  std::int64_t power = 1;
  for (std::int64_t i = 0; i < numbers[1]; ++i) {
    if (power > kMostItems / numbers[0]) return at_most(kMostItems + 1, counts);
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
  if (text[at] == '-' && right > left) {
    throw CommandError(kBadInput, fmt::format("{}: '{}' is less than none", counts.option, text));
  }
  return at_most(text[at] == '+' ? left + right : left - right, counts);
}

/// The build that has the scans and baselines that a pattern means, which this one lacks; else empty. Their ids are
/// their files' names.
std::string build_needed(const std::string& pattern) {
  const auto named_in = [&](const char* ids) {
    return std::ranges::any_of(split(ids, ','), [&](const std::string& id) {
      return !id.empty() && fnmatch(pattern.c_str(), id.c_str(), 0) == 0;
    });
  };
  if (named_in(SCANLAB_CUDA_ONLY_IDS))
    return "with CUDA: ./check and ./reproduce make it where they find or may fetch nvcc";
  if (named_in(SCANLAB_CCCL_ONLY_IDS))
    return "with the newest CCCL: ./check and ./reproduce make it where they may fetch that";
  return {};
}

}  // namespace

void unknown_variant(const char* what, const std::string& pattern) {
  if (const std::string build = build_needed(pattern); !build.empty()) {
    throw CommandError(kNoDevice, fmt::format("this build lacks '{}', which needs one {}", pattern, build));
  }
  unknown(what, pattern, Registry::instance().ids());
}

std::vector<std::int64_t> parse_items(const std::string& text, const std::string& option) {
  const Counts counts{option, text};
  const Words parts = split(text, ':');
  const std::int64_t first = parse_count(parts[0], counts);
  if (parts.size() == 1) return {first};
  const auto fail = [&]() {
    throw CommandError(kBadInput, fmt::format("{}: '{}' is not a range; write FIRST:LAST:xFACTOR or FIRST:LAST:+STEP, "
                                              "as in 2^10:2^28:x4",
                                              option, text));
  };
  if (parts.size() > 3) fail();
  const std::int64_t last = parse_count(parts[1], counts);
  const std::string step = parts.size() == 3 ? parts[2] : first > 0 ? "x2" : "+1";
  if (step.size() < 2 || (step[0] != 'x' && step[0] != '+') || first > last) fail();
  const std::int64_t by = parse_count(step.substr(1), counts);
  if ((step[0] == 'x' && (by < 2 || first < 1)) || by < 1) fail();
  constexpr std::size_t kMostSizes = 100'000;
  std::vector<std::int64_t> items;
  for (std::int64_t n = first; n <= last; n = step[0] == 'x' ? n * by : n + by) {
    items.push_back(n);
    if (items.size() > kMostSizes) {
      throw CommandError(kBadInput, fmt::format("{}: '{}' is more than {} sizes", option, text, kMostSizes));
    }
  }
  return items;
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
  throw CommandError(kBadInput,
                     fmt::format("{} '{}' is no number of bytes: write 4096, 2^30, 300MiB or 2GiB", option, text));
}

void add_selection_options(po::options_description& options, const std::string& default_items) {
  const auto list_of = [](const char* value) { return po::value<Words>()->composing()->value_name(value); };
  const std::string items = "numbers of items: 1000, 2^20, 2^20+1, ranges 2^10:2^28:x4 or 0:100:+10" +
                            (default_items.empty() ? std::string{} : " (default " + default_items + ")");
  options.add_options()                                                                                         //
      ("variant", list_of("GLOB"), "ids of variants and baselines, or globs: hs_block, 'hso_*' (default all)")  //
      ("type", list_of("TYPE"), all_or<ElementType>("i32").c_str())                                             //
      ("op", list_of("OP"), all_or<Operator>("plus").c_str())                                                   //
      ("mode", list_of("MODE"),
       "inclusive, exclusive, or all (default inclusive; for explain, what the variant gives with least work)")  //
      ("items", list_of("LIST"), items.c_str())                                                                  //
      ("set", list_of("PARAMETER=VALUE"), "a variant's own parameter, as scanlab list shows them");
}

Selection read_selection(const po::variables_map& values) {
  Selection selection;
  Words patterns = option_words(values, "variant");
  if (patterns.empty()) patterns.emplace_back("*");
  for (const std::string& pattern : patterns) {
    bool matched = false;
    for (const auto& [id, variant] : Registry::instance().all()) {
      if (fnmatch(pattern.c_str(), id.c_str(), 0) != 0) continue;
      matched = true;
      if (std::ranges::find(selection.variants, &variant) == selection.variants.end()) {
        selection.variants.push_back(&variant);
      }
    }
    if (!matched) unknown_variant("variant", pattern);
  }

  selection.types = enumerators<ElementType>(values, "type");
  selection.operators = enumerators<Operator>(values, "op");
  selection.modes = enumerators<Mode>(values, "mode");
  if (selection.types.empty()) selection.types = {ElementType::i32};
  if (selection.operators.empty()) selection.operators = {Operator::plus};
  if (selection.modes.empty()) selection.modes = {Mode::inclusive};
  for (const std::string& word : option_words(values, "items")) {
    for (const std::int64_t n : parse_items(word)) {
      if (std::ranges::find(selection.items, n) == selection.items.end()) selection.items.push_back(n);
    }
  }

  Words parameters;
  for (const Variant* variant : selection.variants) {
    for (const Parameter& parameter : variant->about.parameters) parameters.push_back(parameter.name);
  }
  std::ranges::sort(parameters);
  parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
  for (const std::string& word : option_words(values, "set")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw CommandError(kBadInput, fmt::format("--set takes PARAMETER=VALUE, not '{}'", word));
    }
    const std::string parameter = word.substr(0, equals);
    if (std::ranges::find(parameters, parameter) == parameters.end()) {
      unknown("parameter of the chosen variants", parameter, parameters);
    }
    selection.settings[parameter] = word.substr(equals + 1);
  }
  for (const Variant* variant : selection.variants) {  // a value that no variant takes is a typing error, not a skip
    for (const Parameter& parameter : variant->about.parameters) {
      const auto chosen = selection.settings.find(parameter.name);
      if (chosen != selection.settings.end() && !parameter.takes(chosen->second)) {
        unknown(("value of " + parameter.name).c_str(), chosen->second, parameter.values);
      }
    }
  }
  return selection;
}

std::vector<Case> Selection::cases() const {
  std::vector<Case> all;
  for (const ElementType type : types) {
    for (const Operator op : operators) {
      for (const Mode mode : modes) {
        for (const std::int64_t n : items) {
          for (const Variant* variant : variants) {
            Problem problem{type, op, mode, n, {}};
            for (const Parameter& parameter : variant->about.parameters) {
              if (const auto chosen = settings.find(parameter.name); chosen != settings.end()) {
                problem.settings.insert(*chosen);
              }
            }
            all.push_back({variant, std::move(problem)});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace scanlab::cli
