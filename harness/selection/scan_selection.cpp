#include "harness/selection/scan_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "harness/host/status.hpp"

namespace scanlab {

namespace {

/// The build that has the scans and baselines that a pattern means, which this one lacks; else empty. Their ids are
/// their files' names.
std::string build_needed(const std::string& pattern) {
  const auto named_in = [&](const char* ids) {
    return std::ranges::any_of(split(ids, ','),
                               [&](const std::string& id) { return !id.empty() && fits(pattern, id); });
  };
  if (named_in(SCANLAB_CUDA_ONLY_IDS))
    return "with CUDA: ./check and ./reproduce make it where they find or may fetch nvcc";
  if (named_in(SCANLAB_CCCL_ONLY_IDS))
    return "with the newest CCCL: ./check and ./reproduce make it where they may fetch that";
  return {};
}

/// `value`, or the first of those that there are if it is not among them.
template <class E>
E default_of(const std::vector<E>& all, E value) {
  return all.empty() || std::ranges::find(all, value) != all.end() ? value : all.front();
}

/// Returns the values that an option names, or its default.
template <class E>
std::vector<E> enumerators(const OptionWords& stated, const char* option, E otherwise) {
  std::vector<E> chosen = values_of(stated, option, named_values<E>());
  if (chosen.empty()) chosen.push_back(otherwise);
  return chosen;
}

}  // namespace

Settings settings_of(const OptionWords& stated, const std::vector<const Description*>& chosen) {
  std::map<std::string, std::vector<const Parameter*>> parameters;
  for (const Description* about : chosen) {
    for (const Parameter& parameter : about->parameters) parameters[parameter.name].push_back(&parameter);
  }
  Settings settings;
  for (const std::string& word : words_of(stated, "set")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(fmt::format("--set takes PARAMETER=VALUE, not '{}'", word));
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    const auto place = parameters.find(name);
    if (place == parameters.end()) {
      Words names;
      for (const auto& [known, all] : parameters) names.push_back(known);
      unknown("parameter of the chosen variants", name, names);
    }
    if (std::ranges::none_of(place->second, [&](const Parameter* each) { return each->takes(value); })) {
      Words values;
      for (const Parameter* each : place->second) values.insert(values.end(), each->values.begin(), each->values.end());
      std::ranges::sort(values);
      values.erase(std::unique(values.begin(), values.end()), values.end());
      unknown(("value of " + name).c_str(), value, values);
    }
    settings[name] = value;
  }
  return settings;
}

void unknown_variant(const char* what, const std::string& pattern) {
  if (const std::string build = build_needed(pattern); !build.empty()) {
    throw CommandError(kNoDevice, fmt::format("this build lacks '{}', which needs one {}", pattern, build));
  }
  unknown(what, pattern, Registry::instance().ids());
}

namespace {

constexpr std::int64_t kUsualSegment = 128;  // items, on average

}  // namespace

void add_counts(const OptionWords& stated, const char* option, std::int64_t least, std::vector<std::int64_t>& counts) {
  for (const std::int64_t n : counts_of(stated, option)) {
    if (n < least) refuse(fmt::format("--{} {}: give {} or more", option, n, least));
    if (std::ranges::find(counts, n) == counts.end()) counts.push_back(n);
  }
}

Selection select_scans(const OptionWords& stated) {
  Selection selection;
  Words globs = words_of(stated, "variant");
  if (globs.empty()) globs.emplace_back("*");
  selection.variants = matching<Variant>(globs, [](const std::string& glob) { unknown_variant("variant", glob); });
  keep_primitives(stated, "variant", selection.variants, [](const Variant&) { return false; });
  const Description first = stated.contains("variant") ? selection.variants.front()->about : Description{};
  selection.types = enumerators(stated, "type", default_of(first.types, ElementType::i32));
  selection.operators = enumerators(stated, "op", default_of(first.operators, Operator::plus));
  const Words named = words_of(stated, "op");
  const bool all = std::ranges::find(named, "all") != named.end();
  std::erase_if(selection.operators, [&](Operator op) {
    const bool none = std::ranges::none_of(selection.types, [op](ElementType type) { return defined(type, op); });
    if (none && !all) refuse(not_defined(selection.types.front(), op));
    return none;
  });
  selection.modes = enumerators(stated, "mode", Mode::inclusive);
  add_counts(stated, "items", 0, selection.items);
  add_counts(stated, "rows", 1, selection.rows);
  add_counts(stated, "inner", 1, selection.inner);
  add_counts(stated, "total", 1, selection.totals);
  add_counts(stated, "segment", 1, selection.segment);
  selection.lengths = values_of(stated, "lengths", kLengths);
  add_counts(stated, "width", 1, selection.widths);
  add_counts(stated, "kept", 0, selection.kept);
  const SegmentsBy by = segments_by(selection.primitive());
  const auto refuse_without = [&](const char* option, bool has, const char* of, const char* primitives) {
    if (has || !stated.contains(option)) return;
    refuse(fmt::format("--{} would have no effect: a {} has no {}; leave it out, or choose --primitive {}", option,
                       name(selection.primitive()), of, primitives));
  };
  for (const char* option : {"segment", "lengths", "width"}) {
    refuse_without(option, have_keys(by) || by == SegmentsBy::offsets, "segments",
                   "scan_by_key, segmented_scan, reduce_by_key, run_length_encode or unique");
  }
  refuse_without("kept", have_flags(by), "flags", "select or partition");
  for (const std::int64_t kept : selection.kept) {
    if (kept > Segments::kFlagGroup) refuse(fmt::format("--kept {}: give 0 to {}", kept, Segments::kFlagGroup));
  }
  if (fold_runs(by) && std::ranges::find(selection.lengths, Lengths::power) != selection.lengths.end()) {
    for (const std::int64_t mean : selection.segment) {
      if (mean < 8)
        refuse(fmt::format("--segment {}: runs of power-law lengths have 8 items or more in the mean", mean));
    }
  }
  for (const std::int64_t width : selection.widths) {
    if (width > 8 || !std::has_single_bit(static_cast<std::uint64_t>(width)))
      refuse(fmt::format("--width {}: give 1, 2, 4 or 8 bytes", width));
  }
  if (!selection.rows.empty() && !selection.totals.empty()) refuse("--total sets --rows: leave out one of them");
  selection.settings = settings_of(stated, selection.variants);
  return selection;
}

std::int64_t items_of(const Shape& shape) {
  std::int64_t lines = 0, count = 0;
  if (!__builtin_mul_overflow(shape.rows, shape.inner, &lines) && !__builtin_mul_overflow(lines, shape.axis, &count)) {
    return count;
  }
  refuse(fmt::format("--items {} --rows {} --inner {}: these are 2^63 items or more in all", shape.axis, shape.rows,
                     shape.inner));
}

std::vector<Shape> Selection::shapes(const Shape& usual) const {
  const auto or_usual = []<class Value>(const std::vector<Value>& stated, Value otherwise) {
    return stated.empty() ? std::vector{otherwise} : stated;
  };
  if (have_flags(usual.segments.by)) {
    std::vector<Shape> all;
    for (const std::int64_t each : or_usual(kept, usual.segments.kept)) {
      all.push_back({usual.axis, 1, 1, {.by = usual.segments.by, .width = 1, .kept = each}});
    }
    return all;
  }
  if (usual.segments.by != SegmentsBy::none) {
    std::vector<Shape> all;
    for (const std::int64_t mean : or_usual(segment, usual.segments.mean)) {
      for (const Lengths each : or_usual(lengths, usual.segments.lengths)) {
        if (fold_runs(usual.segments.by) && each == Lengths::power && mean < 8) continue;  // some would be empty
        for (const std::int64_t width : or_usual(widths, std::int64_t{usual.segments.width})) {
          all.push_back({usual.axis, 1, 1, {usual.segments.by, mean, each, static_cast<int>(width)}});
        }
      }
    }
    return all;
  }
  std::vector<Shape> all;
  for (const std::int64_t between : or_usual(inner, usual.inner)) {
    std::vector<std::int64_t> outer = rows;
    for (const std::int64_t total : totals) {
      const auto at_least_1 = [](std::int64_t value) { return std::max(value, std::int64_t{1}); };
      outer.push_back(at_least_1(total / at_least_1(usual.axis) / at_least_1(between)));  // their product may overflow
    }
    for (const std::int64_t r : or_usual(outer, usual.rows)) {
      const Shape shape{usual.axis, r, between};
      items_of(shape);  // if there can be so many
      if (std::ranges::find(all, shape) == all.end()) all.push_back(shape);
    }
  }
  return all;
}

std::vector<Case> Selection::cases(std::int64_t usual_rows) const {
  std::map<Shape, std::vector<std::pair<const Variant*, Settings>>> chosen;
  for (const Variant* variant : variants) {
    Settings own;
    for (const Parameter& parameter : variant->about.parameters) {
      if (const auto set = settings.find(parameter.name); set != settings.end()) own.insert(*set);
    }
    const bool on_arrays = scans_arrays(variant->about.primitive);
    const SegmentsBy by = segments_by(variant->about.primitive);
    for (const std::int64_t n : items) {
      const Shape usual{n, on_arrays ? 1 : usual_rows, 1, {.by = by, .mean = kUsualSegment}};
      for (const Shape& shape : shapes(usual)) chosen[shape].emplace_back(variant, own);
    }
    if (!items.empty()) continue;
    for (const CheckedShape& checked : variant->about.checked) {
      Settings all = own;
      all.insert(checked.settings.begin(), checked.settings.end());
      Shape usual = checked.shape;
      if (!on_arrays) usual.rows = usual_rows;
      usual.segments.by = by;
      for (const Shape& shape : shapes(usual)) chosen[shape].emplace_back(variant, all);
    }
  }
  std::vector<Case> all;
  for (const ElementType type : types) {
    for (const Operator op : operators) {
      if (!defined(type, op)) continue;
      for (const Mode mode : modes) {
        for (const auto& [shape, own] : chosen) {
          const auto [n, r, between, cut] = shape;
          for (const auto& [variant, set] : own) {
            if (!has_mode(cut.by) && mode != Mode::inclusive && modes.size() > 1) continue;
            all.push_back({variant, {type, op, mode, n * r * between, set, r, between, cut}});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace scanlab
