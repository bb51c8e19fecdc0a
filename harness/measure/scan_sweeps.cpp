#include "harness/measure/scan_sweeps.hpp"

#include <algorithm>

#include "harness/measure/experiments.hpp"
#include "harness/selection/scan_selection.hpp"

namespace scanlab::measure {

namespace {

constexpr std::array kWhoNames{std::pair{ScanSweepPart::Who::device, std::string_view("device")},
                               std::pair{ScanSweepPart::Who::general, std::string_view("general")},
                               std::pair{ScanSweepPart::Who::host, std::string_view("host")}};

}  // namespace

void read_value(const Value& row, ScanSweepPart& part) {
  part.words = read_option_words(row);
  const Value sizes = experiments().at("sizes");
  std::string& items = part.words["items"].front();
  if (sizes.has(items)) items = sizes.at(items).text();
  part.who = values_of(part.words, "scans", kWhoNames).front();
  part.caches = values_of(part.words, "cache", kCacheNames);
  part.launches = values_of(part.words, "launch", kLaunchNames);
  if (row.has("vary")) part.vary = row.at("vary").text();
  for (const char* key : {"scans", "cache", "launch", "vary"}) part.words.erase(key);
}

void read_value(const Value& row, ScanSweep& sweep) {
  FieldReader fields(row);
  fields("name", sweep.name);
  fields("about", sweep.about);
  fields("rounds", sweep.rounds);
  fields.optional("seconds", sweep.seconds);
  fields.optional("named", sweep.of_chosen);
  fields("parts", sweep.parts);
}

const std::vector<ScanSweep>& scan_sweeps() {
  static const auto all = experiments().at("scan_sweep").get<std::vector<ScanSweep>>();
  return all;
}

namespace {

bool is_of(const Variant& variant, ScanSweepPart::Who who) {
  const bool on_host = variant.machines.host && !variant.machines.cuda;
  if (on_host || who == ScanSweepPart::Who::host) return on_host && who == ScanSweepPart::Who::host;
  return who == ScanSweepPart::Who::device || variant.about.types.size() == named_values<ElementType>().size();
}

/// Whether a variant of this build has the parameter that a part sets; look_ahead's need CUDA.
bool can_be_set(const ScanSweepPart& part) {
  const auto set = part.words.find("set");
  if (set == part.words.end()) return true;
  const std::string& word = set->second.front();
  return std::ranges::any_of(Registry::instance().all(), [&](const auto& entry) {
    return std::ranges::any_of(entry.second.about.parameters,
                               [&](const Parameter& known) { return word.starts_with(known.name + "="); });
  });
}

Selection select(const ScanSweepPart& part) {
  if (!can_be_set(part)) return {};
  Selection selection = select_scans(part.words);
  std::erase_if(selection.variants, [&](const Variant* variant) { return !is_of(*variant, part.who); });
  return selection;
}

/// The case itself, or once with each value of the part's parameter.
std::vector<Case> varied(const Case& scan, const std::string& parameter) {
  if (parameter.empty()) return {scan};
  std::vector<Case> all;
  for (const Parameter& known : scan.variant->about.parameters) {
    if (known.name != parameter) continue;
    for (const std::string& value : known.values) {
      all.push_back(scan);
      all.back().problem.settings[parameter] = value;
    }
  }
  return all;
}

}  // namespace

std::vector<ScanInColumns> cases(const ScanSweep& sweep) {
  std::vector<ScanInColumns> all;
  std::vector<const Variant*> floors;
  for (const ScanSweepPart& part : sweep.parts) {
    for (const Case& scan : select(part).cases()) {
      if (!unsupported(scan.variant->about, scan.problem).empty()) continue;
      if (scan.variant->about.kind == Kind::empty_launch) {
        if (std::ranges::find(floors, scan.variant) != floors.end()) continue;
        floors.push_back(scan.variant);
      }
      for (Case& each : varied(scan, part.vary)) all.push_back({std::move(each), part.caches, part.launches});
    }
  }
  return all;
}

}  // namespace scanlab::measure
