#include "harness/tuning/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/host/status.hpp"

namespace scanlab::tuning {

namespace {

const std::vector<Column> kByStream{{Cache::cold, Launch::stream}, {Cache::warm, Launch::stream}};
const std::vector<Column> kAllColumns{{Cache::cold, Launch::stream},
                                      {Cache::cold, Launch::graph},
                                      {Cache::warm, Launch::stream},
                                      {Cache::warm, Launch::graph}};

bool is_hopeless(const Choice& choice, const Timings& timings) {
  constexpr double kHopeless = 1.6;
  const std::map<Choice, double> all = losses(timings);
  const auto loss = all.find(choice);
  return loss == all.end() || loss->second > kHopeless;
}

/// At both of the measured sizes that n lies between; never, if it does not.
bool is_hopeless_around(std::int64_t n, const Choice& choice, const TimingsBySize& measured) {
  const auto above = measured.upper_bound(n);
  if (above == measured.end() || above == measured.begin()) return false;
  return is_hopeless(choice, above->second) && is_hopeless(choice, std::prev(above)->second);
}

}  // namespace

TimingsBySize Tuner::measure(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                             const std::vector<Choice>& candidates) {
  failed_.clear();
  TimingsBySize measured;
  for (const std::size_t stride : {4, 2, 1}) {
    for (std::size_t i = 0; i < sizes.size() && !is_over_(); ++i) {
      const std::int64_t n = sizes[i];
      if ((i % stride != 0 && i + 1 != sizes.size()) || measured.contains(n)) continue;
      std::vector<Choice> promising = candidates;
      std::erase_if(promising, [&](const Choice& each) {
        return failed_.contains(each) || is_hopeless_around(n, each, measured);
      });
      const Problem problem{.type = monoid.first, .op = monoid.second, .items = n};
      measured[n] = measure_size(problem, promising, kAllColumns);
    }
  }
  leave_out_failed(measured);
  return measured;
}

TimingsBySize Tuner::measure_all(const TypeAndOperator& monoid, const std::vector<std::int64_t>& sizes,
                                 const std::vector<Choice>& candidates, const std::vector<Column>& columns) {
  TimingsBySize measured;
  for (const std::int64_t n : sizes) {
    if (is_over_()) break;
    const Problem problem{.type = monoid.first, .op = monoid.second, .items = n};
    measured[n] = measure_size(problem, candidates, columns);
  }
  leave_out_failed(measured);
  return measured;
}

TimingsBySize Tuner::tune_rival(std::string_view rival, const TypeAndOperator& monoid,
                                const std::vector<std::int64_t>& asked) {
  const auto [type, op] = monoid;
  std::vector<Choice> shapes = rival_candidates(rival, monoid);
  if (shapes.empty()) refuse(fmt::format("no shape of {} is compiled in for {} of {}", rival, name(op), name(type)));
  std::ranges::copy(rival_references(rival), std::back_inserter(shapes));
  failed_.clear();
  TimingsBySize all = measure_all(monoid, asked.empty() ? first_rival_sizes(monoid) : asked, shapes, kByStream);
  const std::vector<Choice> chosen = finalists(all);
  if (asked.empty() && chosen.size() > 1) {
    std::vector<std::int64_t> others = rival_sizes(monoid);
    std::erase_if(others, [&](std::int64_t n) { return all.contains(n); });
    all.merge(measure_all(monoid, others, chosen, kAllColumns));
    leave_out_failed(all);
  }
  keep_only(chosen, all);
  return all;
}

void Tuner::leave_out_failed(TimingsBySize& measured) const {
  for (auto& [n, timings] : measured) {
    for (const Choice& choice : failed_) timings.erase(choice);
  }
}

/// Every candidate in every column, interleaved, so that a disturbance does not hit one alone. A candidate that does
/// not fit the memory is left out; one that fails is not chosen for any n.
Timings Tuner::measure_size(const Problem& problem, const std::vector<Choice>& promising,
                            const std::vector<Column>& columns) {
  std::vector<measure::TimedCase> cases;
  for (const Choice& choice : promising) {
    for (const auto& [cache, launch] : columns) {
      Case scan{Registry::instance().find(choice.variant), problem};
      scan.problem.settings = choice.settings;
      measure::TimedCase& timed = cases.emplace_back(std::move(scan), cache, launch);
      timed.repetitions = repetitions_;
      timed.bound = timed.scan.variant->bind(timed.problem());
      timed.name =
          fmt::format("{}/cache:{}/launch:{}", case_name(timed.about(), timed.problem()), name(cache), name(launch));
    }
  }
  measure::ScanSession session(std::move(cases), backends_, {.device_seconds = 5e-4}, engine_);
  session.run();
  if (interrupted()) return {};
  Timings timings;
  std::set<Choice> incomplete;
  for (const measure::TimedCase& timed : session.cases()) {
    const Choice choice{timed.about().id, timed.problem().settings};
    timings[choice][{timed.cache, timed.launch}] = timed.nanoseconds;
    if (timed.state == measure::Timing::State::timed) continue;
    incomplete.insert(choice);
    if (timed.state != measure::Timing::State::failed) continue;
    failed_.insert(choice);
    any_failed_ = true;
  }
  for (const Choice& choice : incomplete) timings.erase(choice);
  return timings;
}

}  // namespace scanlab::tuning
