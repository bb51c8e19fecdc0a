#include "harness/selection/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments_file.hpp"
#include "harness/host/document.hpp"
#include "harness/host/status.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/selection/job_selection.hpp"
#include "harness/selection/scan_selection.hpp"

namespace scanlab {

namespace {

constexpr std::array kWhoNames{std::pair{ScanSweepPart::Who::device, std::string_view("device")},
                               std::pair{ScanSweepPart::Who::general, std::string_view("general")},
                               std::pair{ScanSweepPart::Who::host, std::string_view("host")}};

/// data/experiments.toml as it was when the program was built.
Value experiments() {
  static const Document document = parse_toml(kExperimentFiles.front().second, "data/experiments.toml");
  return document;
}

/// Reads a part of a sweep: words by option, as on the command line.
OptionWords read_option_words(const Value& part) {
  OptionWords words;
  for (const std::string& option : part.keys()) words[option] = {part.at(option).text()};
  return words;
}

/// Timed rows of block scans: 64 for each of the 132 multiprocessors of a Hopper, which holds 1 to 32 at a time.
constexpr std::int64_t kTimedRows = 64 * 132;

bool contains(const auto& values, const auto& value) { return std::ranges::find(values, value) != values.end(); }

/// The states that an option names, each once, or all that are `usual`.
template <class Names, class State>
std::vector<State> states_of(const OptionWords& stated, const char* option, const Names& names,
                             const std::vector<State>& usual) {
  const std::vector<State> chosen = values_of(stated, option, names);
  return chosen.empty() ? usual : chosen;
}

std::vector<Cache> caches_of(const OptionWords& stated) {
  return states_of(stated, "cache", kCacheNames, std::vector{Cache::cold, Cache::warm});
}

void refuse_options(const OptionWords& stated, std::initializer_list<const char*> set_by_sweep, const char* narrowing) {
  for (const char* option : set_by_sweep) {
    if (stated.contains(option)) refuse(fmt::format("a sweep sets --{} itself; only {} narrow it", option, narrowing));
  }
}

bool is_of(const Variant& variant, ScanSweepPart::Who who) {
  const bool on_host = is_host_code(variant);
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

/// The case itself, or once with each value of the part's parameters, one of which is varied at a time.
std::vector<Case> varied(const Case& scan, const Words& parameters) {
  if (parameters.empty()) return {scan};
  std::vector<Case> all;
  for (const Parameter& known : scan.variant->about.parameters) {
    if (!contains(parameters, known.name)) continue;
    for (const std::string& value : known.values) {
      all.push_back(scan);
      all.back().problem.settings[known.name] = value;
    }
  }
  return all;
}

/// Whether a sweep's case is left by the options that narrow it. A floor does not depend on the problem.
bool is_selected(const Case& scan, const Selection& wanted, const OptionWords& stated) {
  const Problem& problem = scan.problem;
  if (stated.contains("variant") && !contains(wanted.variants, scan.variant)) return false;
  if (scan.variant->about.kind == Kind::empty_launch) return true;
  return (!stated.contains("type") || contains(wanted.types, problem.type)) &&
         (!stated.contains("op") || contains(wanted.operators, problem.op)) &&
         (!stated.contains("mode") || contains(wanted.modes, problem.mode));
}

}  // namespace

void read_value(const Value& row, ScanSweepPart& part) {
  part.words = read_option_words(row);
  const Value sizes = experiments().at("sizes");
  std::string& items = part.words["items"].front();
  if (sizes.has(items)) items = sizes.at(items).text();
  part.who = values_of(part.words, "scans", kWhoNames).front();
  part.caches = values_of(part.words, "cache", kCacheNames);
  part.launches = values_of(part.words, "launch", kLaunchNames);
  part.vary = words_of(part.words, "vary");
  for (const char* key : {"scans", "cache", "launch", "vary"}) part.words.erase(key);
}

void read_value(const Value& row, ScanSweep& sweep) {
  FieldReader fields(row);
  fields("name", sweep.name);
  fields("about", sweep.about);
  fields("rounds", sweep.rounds);
  fields.optional("seconds", sweep.seconds);
  fields.optional("named", sweep.needs_variants);
  fields("parts", sweep.parts);
}

void read_value(const Value& row, ScheduleSweep& sweep) {
  FieldReader fields(row);
  fields("name", sweep.name);
  fields("about", sweep.about);
  fields("rounds", sweep.rounds);
  for (const Value& part : row.at("parts").items()) sweep.parts.push_back(read_option_words(part));
}

const std::vector<ScanSweep>& scan_sweeps() {
  static const auto all = experiments().at("scan_sweep").get<std::vector<ScanSweep>>();
  return all;
}

const std::vector<ScheduleSweep>& schedule_sweeps() {
  static const auto all = experiments().at("schedule_sweep").get<std::vector<ScheduleSweep>>();
  return all;
}

/// Nobody flushes the cache of host code, which has no launches; a batch has no room for L2 flushes, and in a pipeline
/// the kernel before leaves what it will. A variant that waits on the host is launched from a stream only.
std::vector<std::pair<Cache, Launch>> ScanInColumns::columns() const {
  std::vector<std::pair<Cache, Launch>> all;
  for (const Cache cache : caches) {
    for (const Launch launch : launches) {
      const bool warm = cache == Cache::warm;
      const bool only_warm = launch == Launch::batch || launch == Launch::pipeline;
      const bool waits = scan.variant->about.waits_on_host && launch != Launch::stream;
      const bool possible = is_host_code(*scan.variant) ? warm && launch == Launch::stream : warm || !only_warm;
      if (possible && !waits) all.emplace_back(cache, launch);
    }
  }
  return all;
}

std::vector<ScanInColumns> cases(const ScanSweep& sweep) {
  std::vector<ScanInColumns> all;
  std::set<const Variant*> floors;
  for (const ScanSweepPart& part : sweep.parts) {
    for (const Case& scan : select(part).cases(kTimedRows)) {
      if (!unsupported(scan.variant->about, scan.problem).empty()) continue;
      if (scan.variant->about.kind == Kind::empty_launch && !floors.insert(scan.variant).second) continue;
      for (Case& each : varied(scan, part.vary)) all.push_back({std::move(each), part.caches, part.launches});
    }
  }
  return all;
}

std::vector<ScanInColumns> selected_scans(const OptionWords& stated, const std::string& default_items) {
  Selection selection = select_scans(stated);
  if (selection.items.empty() && selection.primitive() == Primitive::scan) selection.items = parse_items(default_items);
  if (selection.items.empty() && has_inner(selection.primitive())) {
    selection.items = {32, 256, 4096, 65536};
    if (selection.rows.empty() && selection.totals.empty()) selection.totals = {std::int64_t{1} << 28};
  }
  if (selection.items.empty() && segments_by(selection.primitive()) != SegmentsBy::none) {
    selection.items = {std::int64_t{1} << 28};
    if (selection.segment.empty()) selection.segment = {8, 128, 65536};
    if (selection.kept.empty()) selection.kept = {0, 1, 64, 127, 128};
  }
  const std::vector<Cache> caches = caches_of(stated);
  const auto launches = states_of(stated, "launch", kLaunchNames, std::vector{Launch::stream, Launch::graph});
  std::vector<ScanInColumns> all;
  for (Case& each : selection.cases(kTimedRows)) all.push_back({std::move(each), caches, launches});
  return all;
}

std::vector<ScanInColumns> selected_scans(const ScanSweep& sweep, const OptionWords& stated) {
  refuse_options(stated, {"items", "rows", "inner", "total", "segment", "lengths", "width", "kept", "set"},
                 "--variant, --type, --op, --mode, --cache and --launch");
  if (sweep.needs_variants && !stated.contains("variant"))
    refuse(
        fmt::format("the sweep {0} is too long for every variant: choose some, as in --sweep {0} --variant 'best,cub*'",
                    sweep.name));
  OptionWords narrowing = stated;
  narrowing.try_emplace("type", Words{"all"});  // of an operator, those that have it
  const Selection wanted = select_scans(narrowing);
  const std::vector<Cache> caches = caches_of(stated);
  const auto launches = states_of(stated, "launch", kLaunchNames,
                                  std::vector{Launch::stream, Launch::graph, Launch::batch, Launch::pipeline});
  std::vector<ScanInColumns> all = cases(sweep);
  std::erase_if(all, [&](const ScanInColumns& each) { return !is_selected(each.scan, wanted, stated); });
  for (ScanInColumns& each : all) {
    std::erase_if(each.caches, [&](Cache cache) { return !contains(caches, cache); });
    std::erase_if(each.launches, [&](Launch launch) { return !contains(launches, launch); });
  }
  return all;
}

OptionWords add_rivals(OptionWords stated) {
  const auto named = stated.find("variant");
  if (named == stated.end())
    refuse("--compare times what a scan is compared with beside it: name the scan, as in --variant my_scan");
  for (const char* const glob : {"best", "cub_*", "memcpy", "copy_vector", "empty_launch"}) {
    const auto fits_it = [&](const auto& entry) { return fits(glob, entry.first); };
    if (std::ranges::any_of(Registry::instance().all(), fits_it)) named->second.emplace_back(glob);
  }
  return stated;
}

std::vector<streams::ScheduledJob> jobs(const ScheduleSweep& sweep, const OptionWords& stated) {
  refuse_options(stated, {"items", "chunks", "streams", "memory", "buffers", "budget", "blocks", "work"},
                 "schedules and --workload");
  std::vector<streams::ScheduledJob> all;
  for (const OptionWords& part : sweep.parts) {
    const std::vector<streams::ScheduledJob> jobs = select_jobs(part, "", "").jobs();
    all.insert(all.end(), jobs.begin(), jobs.end());
  }
  const JobSelection wanted = select_jobs(stated, "all", "1");
  std::set<std::string> seen;  // a schedule with a fixed number of streams has one job for all numbers
  std::erase_if(all, [&](const streams::ScheduledJob& each) {
    return (stated.contains("schedule") && !contains(wanted.schedules, each.schedule)) ||
           !contains(wanted.workloads, each.job.workload) || !seen.insert(facts_of(each).dump()).second;
  });
  return all;
}

}  // namespace scanlab
