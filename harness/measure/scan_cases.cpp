#include "harness/measure/scan_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/host/status.hpp"
#include "harness/selection/scan_selection.hpp"

namespace scanlab::measure {

namespace {

bool contains(const auto& values, const auto& value) { return std::ranges::find(values, value) != values.end(); }

/// The states that an option names; `usual` if it is not said.
template <class State, std::size_t kStates>
std::vector<State> given_states(const OptionWords& given, const char* option,
                                const std::array<std::pair<State, std::string_view>, kStates>& names,
                                const std::vector<State>& usual) {
  std::vector<State> states;
  for (const std::string& word : words_of(given, option)) {
    const auto known = std::ranges::find_if(names, [&](const auto& entry) { return entry.second == word; });
    if (known == names.end()) {
      std::vector<std::string_view> words;
      for (const auto& [state, text] : names) words.push_back(text);
      throw CommandError(kBadInput, fmt::format("--{} takes {}, not '{}'", option, fmt::join(words, " or "), word));
    }
    if (!contains(states, known->first)) states.push_back(known->first);
  }
  return states.empty() ? usual : states;
}

std::vector<Cache> given_caches(const OptionWords& given) {
  return given_states(given, "cache", kCacheNames, {Cache::cold, Cache::warm});
}

/// Whether a sweep's case is left by what narrows it. A floor does not depend on the problem.
bool is_selected(const Case& scan, const Selection& wanted, const OptionWords& given) {
  const Problem& problem = scan.problem;
  if (!contains(wanted.variants, scan.variant)) return false;
  if (scan.variant->about.kind == Kind::empty_launch) return true;
  return (!given.contains("type") || contains(wanted.types, problem.type)) &&
         (!given.contains("op") || contains(wanted.operators, problem.op)) &&
         (!given.contains("mode") || contains(wanted.modes, problem.mode));
}

std::vector<std::pair<Cache, Launch>> columns(const ScanInColumns& each) {
  const bool on_host = TimedCase(each.scan).on_host();
  std::vector<std::pair<Cache, Launch>> all;
  for (const Cache cache : each.caches) {
    for (const Launch launch : each.launches) {
      const bool warm = cache == Cache::warm;
      const bool only_warm = launch == Launch::batch || launch == Launch::pipeline;
      const bool possible = on_host ? warm && launch == Launch::stream : warm || !only_warm;
      if (possible) all.emplace_back(cache, launch);
    }
  }
  return all;
}

}  // namespace

OptionWords add_rivals(OptionWords given) {
  const auto named = given.find("variant");
  if (named == given.end()) {
    throw CommandError(
        kBadInput, "--compare times what a scan is compared with beside it: name the scan, as in --variant my_scan");
  }
  for (const char* const glob : {"best", "cub_*", "memcpy", "copy_vector", "empty_launch"}) {
    const auto fits_it = [&](const auto& entry) { return fits(glob, entry.first); };
    if (std::ranges::any_of(Registry::instance().all(), fits_it)) named->second.emplace_back(glob);
  }
  return given;
}

std::vector<ScanInColumns> selected_scans(const OptionWords& given, const std::string& default_items) {
  Selection selection = select_scans(given);
  if (selection.items.empty()) selection.items = parse_items(default_items);
  const std::vector<Cache> caches = given_caches(given);
  const std::vector<Launch> launches = given_states(given, "launch", kLaunchNames, {Launch::stream, Launch::graph});
  std::vector<ScanInColumns> all;
  for (Case& each : selection.cases()) all.push_back({std::move(each), caches, launches});
  return all;
}

std::vector<ScanInColumns> selected_scans(const ScanSweep& sweep, const OptionWords& given) {
  for (const char* option : {"items", "set"}) {
    if (!given.contains(option)) continue;
    throw CommandError(kBadInput, fmt::format("a sweep sets --{} itself; only --variant, --type, --op, --mode, --cache "
                                              "and --launch narrow it",
                                              option));
  }
  if (sweep.of_chosen && !given.contains("variant")) {
    throw CommandError(kBadInput, fmt::format("the sweep {0} is too long for every variant: choose some, as in --sweep "
                                              "{0} --variant 'best,cub*'",
                                              sweep.name));
  }
  OptionWords narrowing = given;
  narrowing.try_emplace("type", std::vector<std::string>{"all"});  // of an operator, those that have it
  const Selection wanted = select_scans(narrowing);
  const std::vector<Cache> caches = given_caches(given);
  const std::vector<Launch> launches =
      given_states(given, "launch", kLaunchNames, {Launch::stream, Launch::graph, Launch::batch, Launch::pipeline});
  std::vector<ScanInColumns> all = cases(sweep);
  std::erase_if(all, [&](const ScanInColumns& each) { return !is_selected(each.scan, wanted, given); });
  for (ScanInColumns& each : all) {
    std::erase_if(each.caches, [&](Cache cache) { return !contains(caches, cache); });
    std::erase_if(each.launches, [&](Launch launch) { return !contains(launches, launch); });
  }
  return all;
}

std::vector<TimedCase> timed_cases(const std::vector<ScanInColumns>& scans, bool once,
                                   const std::function<bool(const std::string& name)>& wanted) {
  std::vector<TimedCase> all;
  std::set<std::string> names;
  for (const ScanInColumns& each : scans) {
    for (const auto& [cache, launch] : columns(each)) {
      TimedCase timed(each.scan, cache, launch);
      timed.name = case_name(timed.about(), timed.problem());
      if (!once) timed.name += fmt::format("/cache:{}", name(cache));
      if (!once && !timed.on_host()) timed.name += fmt::format("/launch:{}", name(launch));
      if (wanted(timed.name) && names.insert(timed.name).second) all.push_back(std::move(timed));
    }
  }
  const auto problem = [](const TimedCase& timed) {
    const Problem& p = timed.problem();
    return std::tuple(p.type, p.op, p.mode, p.items);
  };
  std::ranges::stable_sort(all, {}, problem);
  return all;
}

}  // namespace scanlab::measure
