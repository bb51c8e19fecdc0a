#include "harness/cli/advise_against.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/cli/streams_timeline.hpp"
#include "harness/core/median.hpp"
#include "harness/host/json_error.hpp"
#include "harness/schedule/schedule.hpp"
#include "harness/simulator/simulation.hpp"

namespace scanlab::cli {

namespace {

struct Configuration {
  streams::ScheduledJob chosen;
  simulator::Choice choice;      ///< its seconds are predicted
  std::vector<double> measured;  ///< seconds, of each repetition

  double seconds() const { return median(measured); }
  double error() const { return std::abs(choice.seconds / seconds() - 1); }
};

/// Workload, work, items, and blocks a kernel.
using Problem = std::tuple<std::string, int, std::int64_t, int>;
/// What can be chosen for it: schedule, chunks and streams as it makes them.
using Name = std::tuple<std::string, int, int>;
using Configurations = std::map<Name, Configuration>;

Name name_of(const simulator::Choice& choice) { return {choice.schedule->about.id, choice.chunks, choice.streams}; }

/// The facts in a case's name: streams/schedule:ID/workload:W/items:N/…
measure::Facts facts_in(const std::string& name) {
  measure::Facts facts;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (const std::size_t colon = part.find(':'); colon != std::string::npos) {
      const std::string key = part.substr(0, colon);
      const std::string value = part.substr(colon + 1);
      const bool is_word = key == "schedule" || key == "workload" || key == "memory";
      facts[key] = is_word ? measure::Facts(value) : measure::Facts(std::stoll(value));
    }
    begin = end + 1;
  }
  return facts;
}

/// Those that were measured and right, and that advice could choose, which is of pinned memory and two buffers. Each
/// once: a schedule that makes three streams whatever is asked for was measured once for each number that was.
std::map<Problem, Configurations> problems_of(const std::string& path, measure::Facts& facts) {
  const auto refuse = [&](const std::string& why) {
    throw CommandError(kBadInput,
                       fmt::format("{}: {}: 'scanlab streams run --sweep advise --out' writes one", path, why));
  };
  std::ifstream file(path);
  const measure::Facts json = measure::Facts::parse(file, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || !json.contains("benchmarks")) {
    refuse("cannot be read, or is no file of results");
  }
  std::map<Problem, Configurations> all;
  try {
    for (const measure::Facts& run : json["benchmarks"]) {
      const std::string name = run.at("run_name");
      if (!name.starts_with("streams/schedule:") || run.value("verified", 0.0) != 1) continue;
      const auto [schedule, job] = job_of(facts_in(name));
      if (const std::string why = refusal(job); !why.empty()) throw std::invalid_argument(why);
      if (job.memory != streams::HostMemory::pinned || job.buffers != streams::Job{}.buffers) continue;
      const double seconds = 1e-9 * run.at("real_time").get<double>();
      if (!(seconds > 0)) throw std::invalid_argument(fmt::format("{} has a time of {} s", name, seconds));
      Configuration& one = all[{job.workload->about.id, job.work, job.items, job.blocks}]
                              [{schedule->about.id, job.chunks, streams_made(*schedule, job)}];
      one.chosen = {schedule, job};
      one.measured.push_back(seconds);
    }
  } catch (const measure::Facts::exception& error) {
    refuse(fmt::format("its cases are not those of 'streams run' ({})", what_is_wrong(error)));
  } catch (const std::exception& error) {  // of a registry, or of a number
    refuse(fmt::format("its cases are not those of 'streams run' ({})", error.what()));
  }
  if (all.empty()) refuse("it has no schedule that was measured from pinned memory with two buffers");
  if (json.contains("context")) measure::add_measured(facts, json["context"]);
  return all;
}

measure::Facts measured_json(const Configuration& one) {
  measure::Facts json = to_json(one.choice);
  json["repetitions"] = one.measured.size();
  json["measured_us"] = 1e6 * one.seconds();
  return json;
}

void predict(Configurations& all, const simulator::DeviceProfile& device) {
  for (auto& [name, one] : all) {
    const auto& [schedule, job] = one.chosen;
    const streams::Recording recording = record(*schedule, job);
    const double seconds = simulate(recording, device, simulator::costs(recording, device)).seconds;
    one.choice = simulator::choice_of(*schedule, recording, seconds);
  }
}

/// What advice says of a problem, and what was measured of that.
struct Verdict {
  simulator::Choice said;
  const Configuration* scored = nullptr;   ///< of what is said, or, if that was not measured, the best that was
  const Configuration* fastest = nullptr;  ///< as measured
  std::vector<double> ties;                ///< how much slower than the fastest each is that ties with the scored one
  std::vector<double> errors;              ///< of every prediction

  bool said_was_measured() const { return name_of(scored->choice) == name_of(said); }
  double slower(const Configuration& one) const { return one.seconds() / fastest->seconds() - 1; }
};

Verdict judge(const Configurations& measured, const simulator::DeviceProfile& device) {
  Verdict verdict;
  verdict.said =
      simulator::advise(measured.begin()->second.chosen.job, device, {}, simulator::usual_choices()).advised();
  std::vector<simulator::Choice> ranked;
  for (const auto& [name, one] : measured) {
    ranked.push_back(one.choice);
    verdict.errors.push_back(one.error());
    if (verdict.fastest == nullptr || one.seconds() < verdict.fastest->seconds()) verdict.fastest = &one;
  }
  simulator::rank(ranked);
  const auto found = measured.find(name_of(verdict.said));
  verdict.scored = found != measured.end() ? &found->second : &measured.at(name_of(ranked.front()));
  for (const auto& [name, one] : measured) {
    if (one.choice.ties_with(verdict.scored->choice)) verdict.ties.push_back(verdict.slower(one));
  }
  return verdict;
}

void print(const Problem& problem, const Verdict& verdict, std::size_t choices, std::ostream& out) {
  const auto& [workload, work, items, blocks] = problem;
  fmt::print(out, "{:>6.1f}%  {:>7.3f} ms  {:>7.3f} ms  {}, {} items, work {}: {}; fastest of {}: {}\n",
             100 * verdict.slower(*verdict.scored), 1e3 * verdict.scored->seconds(), 1e3 * verdict.fastest->seconds(),
             workload, items, work, describe(verdict.scored->choice), choices, describe(verdict.fastest->choice));
  if (!verdict.said_was_measured()) {
    const bool ties = verdict.scored->choice.ties_with(verdict.said);
    fmt::print(out, "{:35}advice is {}, which was not measured: this {}\n", "", describe(verdict.said),
               ties ? "ties with it"
                    : fmt::format("is the best that was, predicted {:.1f}% slower",
                                  100 * (verdict.scored->choice.seconds / verdict.said.seconds - 1)));
  }
  if (verdict.ties.size() > 1) {
    fmt::print(out, "{:35}{} that were measured tie by the prediction: {:.1f}% to {:.1f}% slower\n", "",
               verdict.ties.size(), 100 * std::ranges::min(verdict.ties), 100 * std::ranges::max(verdict.ties));
  }
  fmt::print(out, "{:35}error of the predictions: {:.1f}% in the median, {:.1f}% at worst\n", "",
             100 * median(verdict.errors), 100 * std::ranges::max(verdict.errors));
}

/// To the device and back.
double copied_bytes(const streams::Job& job) {
  const streams::WorkloadDescription& about = job.workload->about;
  return static_cast<double>(job.items) * static_cast<double>(about.item_bytes()) * (about.inputs + 1);
}

}  // namespace

std::string describe(const simulator::Choice& choice) {
  return fmt::format("{}, {} chunk{}, {} stream{}", choice.schedule->about.id, choice.chunks,
                     choice.chunks == 1 ? "" : "s", choice.streams, choice.streams == 1 ? "" : "s");
}

measure::Facts to_json(const simulator::Choice& choice) {
  return {{"schedule", choice.schedule->about.id},
          {"chunks", choice.chunks},
          {"streams", choice.streams},
          {"predicted_us", 1e6 * choice.seconds}};
}

measure::Facts advise_against(const std::string& path, const simulator::DeviceProfile& device, measure::Facts& facts,
                              Context& context) {
  measure::Facts all = measure::Facts::array();
  std::vector<double> lost;
  std::vector<double> errors;
  std::map<Problem, Configurations> problems = problems_of(path, facts);
  fmt::print(context.out, "{:>7}  {:>10}  {:>10}  {}\n", "slower", "advised", "fastest", "than the fastest measured");
  for (auto& [problem, measured] : problems) {
    predict(measured, device);
    const Verdict verdict = judge(measured, device);
    print(problem, verdict, measured.size(), context.out);
    lost.push_back(verdict.slower(*verdict.scored));
    errors.insert(errors.end(), verdict.errors.begin(), verdict.errors.end());
    const auto& [workload, work, items, blocks] = problem;
    all.push_back({{"workload", workload},
                   {"work", work},
                   {"items", items},
                   {"copied_bytes", copied_bytes(measured.begin()->second.chosen.job)},
                   {"choices", measured.size()},
                   {"median_error", median(verdict.errors)},
                   {"worst_error", std::ranges::max(verdict.errors)},
                   {"said", to_json(verdict.said)},
                   {"said_was_measured", verdict.said_was_measured()},
                   {"advised", measured_json(*verdict.scored)},
                   {"fastest", measured_json(*verdict.fastest)},
                   {"slower", lost.back()},
                   {"ties", verdict.ties.size()},
                   {"ties_least_slower", std::ranges::min(verdict.ties)},
                   {"ties_most_slower", std::ranges::max(verdict.ties)}});
  }
  fmt::print(context.out,
             "{} problems: what is advised took {:.1f}% longer than the fastest in the median, {:.1f}% at worst\n",
             lost.size(), 100 * median(lost), 100 * std::ranges::max(lost));
  fmt::print(context.out, "{} configurations: error of the prediction {:.1f}% in the median, {:.1f}% at worst\n",
             errors.size(), 100 * median(errors), 100 * std::ranges::max(errors));
  return {{"configurations", errors.size()},         {"median_error", median(errors)},
          {"worst_error", std::ranges::max(errors)}, {"median_slower", median(lost)},
          {"worst_slower", std::ranges::max(lost)},  {"problems", all}};
}

}  // namespace scanlab::cli
