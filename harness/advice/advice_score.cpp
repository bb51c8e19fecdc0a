#include "harness/advice/advice_score.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/host/document.hpp"
#include "harness/schedule/facts.hpp"

namespace scanlab::simulator {

namespace {

using Json = nlohmann::ordered_json;

/// Workload, work, items, and blocks a kernel.
using Key = std::tuple<std::string, int, std::int64_t, int>;
/// A measured choice: schedule, chunks and streams.
using ChoiceKey = std::tuple<std::string, int, int>;
using MeasuredChoices = std::map<ChoiceKey, MeasuredChoice>;

ChoiceKey key_of(const ScheduleChoice& choice) { return {choice.schedule->about.id, choice.chunks, choice.streams}; }

/// Reads the verified measurements of choices that advice could make: pinned memory and two buffers. A schedule that
/// makes three streams whatever is asked for was measured once for each requested number, and appears once.
std::map<Key, MeasuredChoices> read_choices(const Value& entries) {
  std::map<Key, MeasuredChoices> all;
  for (const Value& entry : entries.items()) {
    if (!entry.has("schedule") || !entry.has("verified") || !entry.at("verified").flag()) continue;
    auto [schedule, job] = streams::read_job(entry);
    const int buffers = std::exchange(job.buffers, streams::Job{}.buffers);
    if (const std::string reason = refusal(job); !reason.empty()) entry.fail(reason);
    if (job.memory != streams::HostMemory::pinned) continue;
    // As many as were asked for, or as many as the schedule then has.
    if (buffers != job.buffers && buffers != record(*schedule, job).buffers) continue;
    const auto seconds = entry.at("real_time").get<double>({.above = 0, .unit = 1e-9});
    MeasuredChoice& measurement = all[{job.workload->about.id, job.work, job.items, job.blocks}]
                                     [{schedule->about.id, job.chunks, streams_made(*schedule, job)}];
    measurement.chosen = {schedule, job};
    measurement.measured.push_back(seconds);
  }
  return all;
}

void predict(MeasuredChoices& all, const DeviceProfile& device) {
  for (auto& [key, measurement] : all) {
    const auto& [schedule, job] = measurement.chosen;
    const streams::Recording recording = record(*schedule, job);
    measurement.choice = choice_of(*schedule, recording, simulate(recording, device, costs(recording, device)).seconds);
  }
}

ScoredProblem scored(const MeasuredChoices& measured, const DeviceProfile& device) {
  ScoredProblem problem{.job = measured.begin()->second.chosen.job, .choices = measured.size()};
  problem.stated = advise(problem.job, device, {}, usual_choices()).advised();
  const MeasuredChoice* fastest = &measured.begin()->second;
  std::vector<ScheduleChoice> ranked;
  for (const auto& [key, measurement] : measured) {
    ranked.push_back(measurement.choice);
    problem.errors.push_back(measurement.error());
    if (measurement.seconds() < fastest->seconds()) fastest = &measurement;
  }
  problem.fastest = *fastest;
  rank(ranked);
  const auto stated = measured.find(key_of(problem.stated));
  problem.stated_was_measured = stated != measured.end();
  problem.scored = problem.stated_was_measured ? stated->second : measured.at(key_of(ranked.front()));
  for (const auto& [key, measurement] : measured) {
    if (measurement.choice.ties_with(problem.scored.choice)) problem.ties.push_back(problem.slower(measurement));
  }
  return problem;
}

Json to_json(const MeasuredChoice& measurement, const streams::Job& job) {
  Json json = to_json(measurement.choice, job);
  json["repetitions"] = measurement.measured.size();
  json["measured_us"] = 1e6 * measurement.seconds();
  return json;
}

Json to_json(const ScoredProblem& problem) {
  const streams::Job& job = problem.job;
  return {{"workload", job.workload->about.id},
          {"work", job.work},
          {"items", job.items},
          {"blocks", job.blocks},
          {"memory", name(job.memory)},
          {"buffers", job.buffers},
          {"copied_bytes", job.workload->about.array_bytes(job.items)},
          {"choices", problem.choices},
          {"median_error", median(problem.errors)},
          {"worst_error", std::ranges::max(problem.errors)},
          {"stated", to_json(problem.stated, job)},
          {"stated_was_measured", problem.stated_was_measured},
          {"advised", to_json(problem.scored, job)},
          {"fastest", to_json(problem.fastest, job)},
          {"slower", problem.slower(problem.scored)},
          {"ties", problem.ties.size()},
          {"ties_least_slower", std::ranges::min(problem.ties)},
          {"ties_most_slower", std::ranges::max(problem.ties)}};
}

/// With three digits behind the point, in the unit that leaves one before it.
std::string time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3f} µs", 1e6 * seconds);
  return seconds < 1 ? fmt::format("{:.3f} ms", 1e3 * seconds) : fmt::format("{:.3f} s", seconds);
}

void print(const ScoredProblem& verdict, std::ostream& out) {
  fmt::print(out, "{:>6.1f}%  {:>7.3f} ms  {:>7.3f} ms  {}, {} items, work {}: {}; fastest of {}: {}\n",
             100 * verdict.slower(verdict.scored), 1e3 * verdict.scored.seconds(), 1e3 * verdict.fastest.seconds(),
             verdict.job.workload->about.id, verdict.job.items, verdict.job.work, describe(verdict.scored.choice),
             verdict.choices, describe(verdict.fastest.choice));
  if (!verdict.stated_was_measured) {
    const bool ties = verdict.scored.choice.ties_with(verdict.stated);
    fmt::print(out, "{:35}advice is {}, which was not measured: this {}\n", "", describe(verdict.stated),
               ties ? "ties with it"
                    : fmt::format("is the best that was, predicted {:.1f}% slower",
                                  100 * (verdict.scored.choice.seconds / verdict.stated.seconds - 1)));
  }
  if (verdict.ties.size() > 1) {
    fmt::print(out, "{:35}{} that were measured tie by the prediction: {:.1f}% to {:.1f}% slower\n", "",
               verdict.ties.size(), 100 * std::ranges::min(verdict.ties), 100 * std::ranges::max(verdict.ties));
  }
  fmt::print(out, "{:35}error of the predictions: {:.1f}% in the median, {:.1f}% at worst\n", "",
             100 * median(verdict.errors), 100 * std::ranges::max(verdict.errors));
}

}  // namespace

double MeasuredChoice::seconds() const { return median(measured); }
double MeasuredChoice::error() const { return std::abs(choice.seconds / seconds() - 1); }

std::vector<double> AdviceScore::slower() const {
  std::vector<double> all;
  for (const ScoredProblem& problem : problems) all.push_back(problem.slower(problem.scored));
  return all;
}

std::vector<double> AdviceScore::errors() const {
  std::vector<double> all;
  for (const ScoredProblem& problem : problems) all.insert(all.end(), problem.errors.begin(), problem.errors.end());
  return all;
}

AdviceScore score_advice(const std::string& path, const DeviceProfile& device) {
  const Document document = read_json(path);
  const Value results = document;
  std::map<Key, MeasuredChoices> all = read_choices(results.at("benchmarks"));
  if (all.empty()) {
    results.fail(
        "no schedule was measured from pinned memory with two buffers: 'scanlab streams run --sweep advise --out' "
        "writes such a file");
  }
  AdviceScore score{.context = Json::object(), .problems = {}};
  if (results.has("context")) score.context = results.at("context").json();
  for (auto& [key, measured] : all) {
    const std::string reason = unknown_kernel_time(measured.begin()->second.chosen.job, device);
    if (!reason.empty()) results.fail(reason + ": take a profile of 'scanlab calibrate' with this work");
    predict(measured, device);
    score.problems.push_back(scored(measured, device));
  }
  return score;
}

Json to_json(const AdviceScore& score) {
  Json problems = Json::array();
  for (const ScoredProblem& problem : score.problems) problems.push_back(to_json(problem));
  const std::vector<double> lost = score.slower();
  const std::vector<double> errors = score.errors();
  return {{"configurations", errors.size()},         {"median_error", median(errors)},
          {"worst_error", std::ranges::max(errors)}, {"median_slower", median(lost)},
          {"worst_slower", std::ranges::max(lost)},  {"problems", std::move(problems)}};
}

void print(const Advice& advice, const DeviceProfile& device, int show, std::ostream& out) {
  const ScheduleChoice& best = advice.best();
  fmt::print(out, "copies {}, kernel {}; all at once, one after another: {}; no choice can take less than {}\n",
             time(advice.parts.copy_in + advice.parts.copy_out), time(advice.parts.kernel), time(advice.serial.seconds),
             time(advice.bound));
  if (advice.worth_it()) {
    fmt::print(out, "{}: {}, {:.2f} times as fast as serial\n", describe(best), time(best.seconds), advice.gain());
  } else {
    fmt::print(out, "streams are not worth it, leave it in one piece: {}, and {} at best; {}\n",
               time(advice.whole.seconds), time(best.seconds), limit_of(advice, device));
  }
  const std::size_t shown = std::min(advice.choices.size(), static_cast<std::size_t>(std::max(0, show)));
  if (shown > 0) fmt::print(out, "the fastest of {} choices, as simulated:\n", advice.choices.size());
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::print(out, "  {:>12}  {}\n", time(advice.choices[i].seconds), describe(advice.choices[i]));
  }
}

void print(const AdviceScore& score, std::ostream& out) {
  fmt::print(out, "{:>7}  {:>10}  {:>10}  {}\n", "slower", "advised", "fastest", "than the fastest measured");
  for (const ScoredProblem& problem : score.problems) print(problem, out);
  const std::vector<double> lost = score.slower();
  const std::vector<double> errors = score.errors();
  fmt::print(out, "{} problems: what is advised took {:.1f}% longer than the fastest in the median, {:.1f}% at worst\n",
             lost.size(), 100 * median(lost), 100 * std::ranges::max(lost));
  fmt::print(out, "{} configurations: error of the prediction {:.1f}% in the median, {:.1f}% at worst\n", errors.size(),
             100 * median(errors), 100 * std::ranges::max(errors));
}

}  // namespace scanlab::simulator
