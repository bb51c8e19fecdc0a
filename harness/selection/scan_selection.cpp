#include "harness/selection/scan_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

constexpr std::array kPrimitives{Primitive::scan, Primitive::block_scan, Primitive::warp_scan};

/// Leaves the variants of the stated primitives, else scans, else those of the first variant's primitive. A variant
/// that is named by its id has to be one of them.
void keep_primitives(const OptionWords& stated, std::vector<const Variant*>& variants) {
  std::vector<Primitive> wanted = values_of(stated, "primitive", with_names(kPrimitives));
  const auto is_scan = [](const Variant* each) { return each->about.primitive == Primitive::scan; };
  if (wanted.empty()) {
    wanted = {std::ranges::any_of(variants, is_scan) ? Primitive::scan : variants.front()->about.primitive};
  }
  const Words named = words_of(stated, "variant");
  std::erase_if(variants, [&](const Variant* each) {
    if (std::ranges::find(wanted, each->about.primitive) != wanted.end()) return false;
    if (std::ranges::find(named, each->about.id) != named.end()) {
      refuse(fmt::format("{} is a {}, and what is chosen beside it a {}: choose variants of one primitive",
                         each->about.id, name(each->about.primitive), name(wanted.front())));
    }
    return true;
  });
  if (variants.empty()) refuse(fmt::format("no chosen variant is a {}", name(wanted.front())));
}

/// Appends the values of an option that names counts, each once.
void add_counts(const OptionWords& stated, const char* option, std::vector<std::int64_t>& counts) {
  for (const std::int64_t n : counts_of(stated, option)) {
    if (std::ranges::find(counts, n) == counts.end()) counts.push_back(n);
  }
}

}  // namespace

Selection select_scans(const OptionWords& stated) {
  Selection selection;
  Words globs = words_of(stated, "variant");
  if (globs.empty()) globs.emplace_back("*");
  selection.variants = matching<Variant>(globs, [](const std::string& glob) { unknown_variant("variant", glob); });
  keep_primitives(stated, selection.variants);
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
  add_counts(stated, "items", selection.items);
  add_counts(stated, "rows", selection.rows);
  if (std::ranges::find(selection.rows, 0) != selection.rows.end()) refuse("--rows 0: give one row or more");
  selection.settings = settings_of(stated, selection.variants);
  return selection;
}

std::vector<Case> Selection::cases(std::int64_t usual_rows) const {
  std::map<std::int64_t, std::vector<std::pair<const Variant*, Settings>>> sizes;
  for (const Variant* variant : variants) {
    Settings own;
    for (const Parameter& parameter : variant->about.parameters) {
      if (const auto chosen = settings.find(parameter.name); chosen != settings.end()) own.insert(*chosen);
    }
    for (const std::int64_t n : items) sizes[n].emplace_back(variant, own);
    if (!items.empty()) continue;
    for (const auto& [n, checked] : variant->about.checked) {
      sizes[n].emplace_back(variant, own);
      sizes[n].back().second.insert(checked.begin(), checked.end());
    }
  }
  std::vector<Case> all;
  for (const ElementType type : types) {
    for (const Operator op : operators) {
      if (!defined(type, op)) continue;
      for (const Mode mode : modes) {
        for (const auto& [n, chosen] : sizes) {
          const bool is_one = chosen.front().first->about.primitive == Primitive::scan;
          const std::vector<std::int64_t> usual{is_one ? 1 : usual_rows};
          for (const std::int64_t r : rows.empty() ? usual : rows) {
            for (const auto& [variant, own] : chosen) all.push_back({variant, {type, op, mode, n * r, own, r}});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace scanlab
