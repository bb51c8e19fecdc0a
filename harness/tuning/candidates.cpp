#include "harness/tuning/candidates.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <cmath>
#include <random>
#include <set>

#include "harness/core/operators.hpp"
#include "harness/tuning/tuning_table.hpp"

namespace scanlab::tuning {

namespace {

/// With the default of every parameter that is not set.
Choice with_defaults(Choice choice) {
  if (const Variant* const variant = Registry::instance().find(choice.variant); variant != nullptr) {
    for (const Parameter& parameter : variant->about.parameters) {
      if (!parameter.experiment) choice.settings.emplace(parameter.name, parameter.values.front());
    }
  }
  return choice;
}

/// The variants of the rival's family: those that have shapes, or the others.
std::vector<const Variant*> rival_variants(std::string_view rival, bool with_shapes) {
  std::vector<const Variant*> all;
  for (const auto& [id, variant] : Registry::instance().all()) {
    const bool is_rival = variant.origin == Origin::baseline && boost::iequals(variant.about.family, rival);
    if (is_rival && static_cast<bool>(variant.about.shapes) == with_shapes) all.push_back(&variant);
  }
  return all;
}

}  // namespace

std::optional<Choice> without_experiments(Choice choice) {
  const Variant* const variant = Registry::instance().find(choice.variant);
  if (variant == nullptr) return choice;
  for (const Parameter& parameter : variant->about.parameters) {
    if (!parameter.experiment) continue;
    const auto given = choice.settings.find(parameter.name);
    if (given == choice.settings.end()) continue;
    if (given->second != parameter.values.front()) return std::nullopt;
    choice.settings.erase(given);
  }
  return choice;
}

std::vector<Choice> candidates() {
  std::vector<Choice> all;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (!scanlab::is_candidate(variant)) continue;
    const Choice usual = with_defaults({id});
    all.push_back(usual);
    for (const Parameter& parameter : variant.about.parameters) {
      if (parameter.experiment) continue;
      for (const std::string& value : parameter.values) {
        Choice choice = usual;
        choice.settings[parameter.name] = value;
        if (choice != usual) all.push_back(choice);
      }
    }
  }
  return all;
}

std::vector<Choice> rival_candidates(std::string_view rival, const TypeAndOperator& monoid) {
  std::vector<Choice> all;
  for (const Variant* const variant : rival_variants(rival, true)) {
    for (Settings& settings : variant->about.shapes(monoid.first, monoid.second)) {
      all.push_back({variant->about.id, std::move(settings)});
    }
  }
  return all;
}

std::vector<TypeAndOperator> rival_monoids(std::string_view rival) {
  std::vector<TypeAndOperator> all;
  for (const TypeAndOperator& monoid : types_with_operators()) {
    if (!rival_candidates(rival, monoid).empty()) all.push_back(monoid);
  }
  return all;
}

std::vector<Choice> rival_references(std::string_view rival) {
  std::vector<Choice> all;
  for (const Variant* const variant : rival_variants(rival, false)) all.push_back({variant->about.id});
  if (Registry::instance().find("memcpy") != nullptr) all.push_back({"memcpy"});
  return all;
}

std::vector<const Variant*> timed_variants(const std::string& rival) {
  std::set<const Variant*> timed;
  const auto add = [&](const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) timed.insert(Registry::instance().find(choice.variant));
  };
  if (rival.empty()) {
    add(candidates());
  } else {
    add(rival_references(rival));
    for (const TypeAndOperator& monoid : rival_monoids(rival)) add(rival_candidates(rival, monoid));
  }
  return {timed.begin(), timed.end()};
}

std::vector<TypeAndOperator> defined_monoids(const std::vector<ElementType>& types,
                                             const std::vector<Operator>& operators) {
  std::vector<TypeAndOperator> all;
  for (const ElementType type : types) {
    for (const Operator op : operators) {
      if (defined(type, op)) all.emplace_back(type, op);
    }
  }
  return all;
}

std::vector<TypeAndOperator> usual_monoids() {
  std::vector<TypeAndOperator> all;
  for (const Operator op : {Operator::plus, Operator::max, Operator::affine}) {
    for (const auto& [type, word] : named_values<ElementType>()) all.emplace_back(type, op);
  }
  for_each_monoid([&]<class Op>(ElementType type, Operator op, Op) {
    if (Op::kHeavy) all.emplace_back(type, op);
  });
  return all;
}

std::vector<std::int64_t> tuning_sizes(const TypeAndOperator& monoid) {
  constexpr int kMin = 8, kDrawn = 12, kAbove = 26, kMax = 30, kDraws = 60;
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 32;
  std::vector<double> exponents;
  for (int k = kMin; k <= kMax; ++k) exponents.push_back(k);
  for (int k = kMin; k < kMax; ++k) {
    if (k < kDrawn || k >= kAbove) exponents.push_back(k + 0.5);
  }
  std::mt19937_64 random(kDraws);  // NOLINT(bugprone-random-generator-seed): the same sizes for everyone
  for (int i = 0; i < kDraws; ++i) {
    const double within = std::ldexp(static_cast<double>(random() >> 11), -53);
    exponents.push_back(kDrawn + (kAbove - kDrawn) * (i + within) / kDraws);
  }
  std::set<std::int64_t> sizes;
  for (const double exponent : exponents) {
    std::int64_t n = std::llround(std::exp2(exponent));
    // An even one is whole vectors for most types: no candidate would run its code for what is left over.
    if (exponent != std::floor(exponent)) n |= 1;
    if (n * static_cast<std::int64_t>(item_bytes(monoid.first, monoid.second)) <= kMaxBytes) sizes.insert(n);
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<std::int64_t> rival_sizes(const TypeAndOperator& monoid) {
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
  const auto bytes = static_cast<std::int64_t>(item_bytes(monoid.first, monoid.second));
  std::vector<std::int64_t> sizes = tuning_sizes(monoid);
  std::erase_if(sizes, [&](std::int64_t n) { return n * bytes > kMaxBytes; });
  return sizes;
}

std::vector<std::int64_t> first_rival_sizes(const TypeAndOperator& monoid) {
  const std::set<std::int64_t> sizes{std::int64_t{1} << 22, std::int64_t{1} << 26, rival_sizes(monoid).back()};
  return {sizes.begin(), sizes.end()};
}

}  // namespace scanlab::tuning
