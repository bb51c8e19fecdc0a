#include "harness/implicit_sync/findings_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/median.hpp"

namespace scanlab::implicit_sync {

using Json = nlohmann::ordered_json;

void print_list(const std::vector<const Experiment*>& all, std::ostream& out) {
  for (const Experiment* each : all) {
    fmt::print(out, "{}\n  {}\n  said     {}: {}\n  source   {}\n", each->name, each->statement(), word(each->expected),
               each->claim, each->describe_sources());
  }
  fmt::print(out,
             "\n'scanlab streams implicit-sync' tests this device; data/recorded/ and the report have the answers of "
             "an H200.\n");
}

void print(const std::vector<Finding>& findings, std::ostream& out) {
  constexpr auto kRow = "{:<42}{:<12}{:<13}{:>9}{:>12}  {}{}\n";
  fmt::print(out, kRow, "experiment", "source says", "this device", "yes of", "median, us", "statement", "");
  for (const Finding& each : findings) {
    const bool tried = each.trials.refusal.empty();
    fmt::print(out, kRow, each.experiment->name, word(each.experiment->expected), word(each.answer()),
               tried ? fmt::format("{} of {}", each.trials.yes, each.trials.count()) : "",
               tried ? fmt::format("{:.1f}", 1e6 * median(each.trials.seconds)) : "", each.experiment->statement(),
               tried ? "" : fmt::format(" (not tried: {})", each.trials.refusal));
  }
  const auto count = std::ranges::count_if(findings, &Finding::differs);
  fmt::print(out, "\nThis device does the opposite of what the source says in {} of {} answers.\n", count,
             findings.size());
  for (const Finding& each : findings) {
    if (!each.differs()) continue;
    fmt::print(out, "  {}: {}, not {}.\n    said: {} ({})\n", each.experiment->statement(), word(each.answer()),
               word(each.experiment->expected), each.experiment->claim, each.experiment->describe_sources());
  }
}

Json document(const std::vector<Finding>& findings, const Json& provenance) {
  Json all{{"schema", kImplicitSyncSchema}, {"context", provenance}, {"experiments", Json::array()}};
  for (const Finding& each : findings) all["experiments"].push_back(to_json(each));
  return all;
}

}  // namespace scanlab::implicit_sync
