// Which cases a command works on: variants by glob, and every combination of type, operator, mode, n and settings.
#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab::cli {

/// Adds --variant, --type, --op, --mode, --items and --set. Lists are comma-separated or repeated; `--variant` takes
/// globs ('hso_*'); `--items` takes numbers, powers (2^20), sums (2^20+1) and ranges (2^10:2^28:x4, 0:100:+10);
/// `--set` takes parameter=value.
void add_selection_options(boost::program_options::options_description& options, const std::string& default_items);

struct Selection {
  std::vector<const Variant*> variants;
  std::vector<ElementType> types;
  std::vector<Operator> operators;
  std::vector<Mode> modes;
  std::vector<std::int64_t> items;
  Settings settings;

  /// Every combination, problem by problem (all variants of one problem are neighbours). A setting is given to the
  /// variants that have such a parameter. Combinations that a variant does not support are kept: whoever runs them
  /// reports the refusal.
  std::vector<Case> cases() const;
};

/// Throws CommandError (status 2) that names near matches for a word that fits nothing.
Selection read_selection(const boost::program_options::variables_map& values);

/// Parses one word of counts, which messages say is of `option`; throws CommandError.
std::vector<std::int64_t> parse_items(const std::string& text, const std::string& option = "--items");

/// Parses a number of bytes: 4096, 2^30, 300MiB, 2 GB; throws CommandError.
std::size_t parse_bytes(const std::string& text, const std::string& option);

/// Every comma-separated word of an option that may be repeated; throws CommandError for an empty one.
std::vector<std::string> option_words(const boost::program_options::variables_map& values, const char* option);

/// The number that an option gives; throws CommandError unless it is between `least` and `most`.
int option_number(const boost::program_options::variables_map& values, const char* option, int least, int most);

/// Throws CommandError: there is no `what` called `word`; names the near matches, or all.
[[noreturn]] void unknown(const char* what, const std::string& word, const std::vector<std::string>& known);

/// The same of an id, or a glob, that is no variant of this build; status 3 if it is one of a build with more.
[[noreturn]] void unknown_variant(const char* what, const std::string& pattern);

/// The one of `all` that is called `name`; throws as unknown() does.
template <class Named>
const Named& find_named(const char* what, const std::vector<Named>& all, const std::string& name) {
  std::vector<std::string> known;
  for (const Named& each : all) {
    if (each.name == name) return each;
    known.push_back(each.name);
  }
  unknown(what, name, known);
}

}  // namespace scanlab::cli
