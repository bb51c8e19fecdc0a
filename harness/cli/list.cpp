// scanlab list: every variant and baseline.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/measure/record.hpp"

namespace scanlab::cli {

namespace {

std::vector<std::string> machine_names(const Machines& machines) {
  std::vector<std::string> names;
  if (machines.cuda) names.emplace_back("cuda");
  if (machines.simt) names.emplace_back("simt");
  if (machines.host) names.emplace_back("host");
  return names;
}

template <class E>
std::vector<std::string> names(const std::vector<E>& values) {
  std::vector<std::string> texts;
  for (const E value : values) texts.emplace_back(name(value));
  return texts;
}

const char* kind_of(const Variant& variant) {
  if (variant.about.kind != Kind::scan) return name(variant.about.kind);
  return variant.origin == Origin::baseline ? "baseline" : "variant";
}

void print(const Variant& variant, std::ostream& out) {
  const Description& about = variant.about;
  fmt::print(out, "{} ({}, on {})\n  {}\n", about.id, kind_of(variant),
             fmt::join(machine_names(variant.machines), ", "), about.title);
  fmt::print(out, "  source    {}\n  takes     {}; {}; {}{}\n", about.source, about.limits,
             fmt::join(names(about.types), " "), fmt::join(names(about.operators), " "),
             about.in_place ? "; in place" : "");
  if (!about.fixed_bits)
    fmt::print(out, "  bits      not bitwise reproducible: floating-point results may differ between runs\n");
  if (!about.cost.work.empty()) {
    fmt::print(out, "  cost      work {}; span {}; traffic {}\n", about.cost.work, about.cost.span, about.cost.traffic);
  }
  for (const Parameter& parameter : about.parameters) {
    const bool for_checks =
        !parameter.small.empty() && std::ranges::find(parameter.values, parameter.small) == parameter.values.end();
    fmt::print(out, "  --set {}={}\n            {}{}\n", parameter.name, fmt::join(parameter.values, "|"),
               parameter.meaning, for_checks ? fmt::format("; for checks also {}", parameter.small) : "");
  }
  fmt::print(out, "\n");
}

}  // namespace

int list(const std::vector<std::string>& arguments, Context& context) {
  OptionWords words;
  bool json = false;
  Options options;
  options.list("variant", "GLOB", words, "select variants by id or glob (default all)")
      .flag("json", json, "print JSON");
  if (!options.parse(arguments, context)) return kOk;
  const Selection selection = select_scans(words);
  if (json) {
    measure::Facts all = {{"schema", "scanlab-list/2"}, {"variants", measure::Facts::array()}};
    for (const Variant* variant : selection.variants) {
      measure::Facts facts = {{"id", variant->about.id}};
      facts.update(measure::described(*variant));
      facts["machines"] = machine_names(variant->machines);
      all["variants"].push_back(facts);
    }
    context.out << all.dump(2) << "\n";
  } else {
    for (const Variant* variant : selection.variants) print(*variant, context.out);
  }
  return kOk;
}

}  // namespace scanlab::cli
