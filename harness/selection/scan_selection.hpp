// Which scans are meant: variants by glob, and every combination of type, operator, mode, n and settings.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/host/status.hpp"
#include "harness/selection/words.hpp"

namespace scanlab {

struct Selection {
  std::vector<const Variant*> variants;
  std::vector<ElementType> types;
  std::vector<Operator> operators;
  std::vector<Mode> modes;
  std::vector<std::int64_t> items;  ///< of the axis
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> inner;
  std::vector<std::int64_t> totals;
  std::vector<std::int64_t> segment;  ///< mean lengths
  std::vector<Lengths> lengths;
  std::vector<std::int64_t> widths;
  std::vector<std::int64_t> kept;  ///< of each Segments::kFlagGroup
  Settings settings;

  Primitive primitive() const { return variants.front()->about.primitive; }
  /// Every combination, problem by problem (all variants of one problem are neighbours), by n. Where no items are
  /// stated, each variant has the shapes that it is checked in (Description::checked). Where no rows are stated, there
  /// are as many as make up the total, else `usual_rows`, or one if the primitive scans arrays. A setting is given to
  /// the variants that have such a parameter. Combinations that a variant does not support are kept: whoever runs them
  /// reports the refusal.
  std::vector<Case> cases(std::int64_t usual_rows = 1) const;

 private:
  /// The usual shape, with the rows, the inner items and the segments that are stated in place of its own.
  std::vector<Shape> shapes(const Shape& usual) const;
};

/// Selects by `variant` (globs; else all) among those of one `primitive` (else scan, or that of the first variant if no
/// scan is chosen), `type` (else i32), `op` (else plus), `mode` (else inclusive), `items`, `rows`,
/// `inner`, `total`, `segment`, `lengths`, `width` and `kept` (else none) and `set` (parameter=value). If the first
/// named variant lacks i32 or plus, its first type or operator takes that place. Throws CommandError (status 2) that
/// names near matches for a word that fits nothing.
Selection select_scans(const OptionWords& stated);

/// Leaves the entries of the stated primitives, else scans, else those of the first entry's primitive, and those that
/// are `of_any`. Returns these primitives. Throws CommandError for an entry that `option` names by its id and that
/// would go, and if none is left.
template <class Entry, class OfAny>
std::vector<Primitive> keep_primitives(const OptionWords& stated, const char* option,
                                       std::vector<const Entry*>& entries, OfAny of_any) {
  std::vector<Primitive> wanted = values_of(stated, "primitive", kPrimitiveNames);
  if (wanted.empty()) {
    const auto is_scan = [&](const Entry* each) { return !of_any(*each) && each->about.primitive == Primitive::scan; };
    const auto first = std::ranges::find_if_not(entries, [&](const Entry* each) { return of_any(*each); });
    const bool scans = first == entries.end() || std::ranges::any_of(entries, is_scan);
    wanted = {scans ? Primitive::scan : (*first)->about.primitive};
  }
  const Words named = words_of(stated, option);
  std::erase_if(entries, [&](const Entry* each) {
    if (of_any(*each) || std::ranges::find(wanted, each->about.primitive) != wanted.end()) return false;
    if (std::ranges::find(named, each->about.id) != named.end()) {
      refuse(fmt::format("{} is a {}, and what is chosen beside it a {}: choose {}s of one primitive", each->about.id,
                         name(each->about.primitive), name(wanted.front()), Entry::kNoun));
    }
    return true;
  });
  if (entries.empty()) refuse(fmt::format("no chosen {} is a {}", Entry::kNoun, name(wanted.front())));
  return wanted;
}

/// Appends the values of an option that names counts, each once. Throws CommandError for one below `least`.
void add_counts(const OptionWords& stated, const char* option, std::int64_t least, std::vector<std::int64_t>& counts);

/// The items of a tensor in all. Throws CommandError if they are 2^63 or more.
std::int64_t items_of(const Shape& shape);

/// The settings of `set` (parameter=value). Throws CommandError (status 2) for a parameter or value that none of the
/// chosen takes: that is a typing error, not a skip.
Settings settings_of(const OptionWords& stated, const std::vector<const Description*>& chosen);
/// The same of registered entries.
template <class Entry>
Settings settings_of(const OptionWords& stated, const std::vector<const Entry*>& chosen) {
  std::vector<const Description*> abouts;
  for (const Entry* each : chosen) abouts.push_back(&each->about);
  return settings_of(stated, abouts);
}

/// Throws CommandError: an id, or a glob, is no variant of this build; status 3 if it is one of a build with more.
[[noreturn]] void unknown_variant(const char* what, const std::string& glob);

}  // namespace scanlab
