#include "harness/verify/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/operators.hpp"
#include "harness/verify/guard.hpp"

namespace scanlab::verify {

namespace {

template <class Item>
std::string text(const Item& item) {
  if constexpr (requires { item.each_field([](const char*, const auto&) {}); }) {
    std::string fields;
    item.each_field([&](const char* field, const auto& value) {
      fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field, text(value));
    });
    return "(" + fields + ")";
  } else if constexpr (std::is_same_v<Item, Half>) {
    return fmt::format("{}", static_cast<float>(item));
  } else {
    return fmt::format("{}", item);
  }
}

/// One sentence: how many items are wrong, the first of them, what it holds and what it should hold.
template <class Op>
std::string describe(const Tally& tally, std::int64_t items, const Mismatch& first, std::int64_t chain) {
  const auto got = *static_cast<const typename Op::Item*>(first.got);
  const auto expected = *static_cast<const typename Op::Item*>(first.expected);
  std::string sentence = fmt::format("{} of {} items wrong, the first at {}: got {}, expected {}", tally.wrong, items,
                                     tally.first, text(got), text(expected));
  if (is_poison(got)) return sentence + "; it was never written";
  if constexpr (Op::kRounds) {
    constexpr double u = kUnitRoundoff<typename Op::Element>;
    const double error =
        std::abs((static_cast<double>(rounded_part<Op>(got)) - rounded_part<Op>(expected)) - first.residual * u);
    sentence += fmt::format("; |error| {:.3g}, ", error);
    const double bound = gamma(chain, u).value_or(0) * first.magnitude;
    sentence += first.exact ? "where every sum is exact"
                            : fmt::format("bound {:.3g} for a chain of {} additions", bound, chain);
  }
  return sentence;
}

}  // namespace

bool rounds(const Problem& problem) {
  return with_monoid(problem.type, problem.op, []<class Op>(Op) { return Op::kRounds; });
}

std::vector<InputKind> distinct_inputs(std::vector<InputKind> kinds, const Problem& problem) {
  const bool has_exact = defined(problem.type, problem.op) &&
                         with_monoid(problem.type, problem.op, []<class Op>(Op) { return kHasExactInput<Op>; });
  if (has_exact) return kinds;
  if (std::ranges::find(kinds, InputKind::random) != kinds.end()) {
    std::erase(kinds, InputKind::exact);
  } else {
    std::ranges::replace(kinds, InputKind::exact, InputKind::random);
  }
  return kinds;
}

Outcome outcome_of(const Problem& problem, const Tally& tally, const Mismatch& first, std::int64_t chain) {
  Outcome outcome;
  if (rounds(problem)) outcome.error_to_bound = tally.worst;
  if (tally.wrong != 0) {
    outcome.status = Outcome::Status::failed;
    outcome.message = with_monoid(problem.type, problem.op,
                                  [&]<class Op>(Op) { return describe<Op>(tally, problem.items, first, chain); });
  }
  return outcome;
}

Outcome no_bound(std::int64_t chain, ElementType type) {
  return {.status = Outcome::Status::skipped,
          .message = fmt::format("a chain of {} additions in {} has no error bound (chain times unit roundoff >= 1/2)",
                                 chain, name(type))};
}

}  // namespace scanlab::verify
