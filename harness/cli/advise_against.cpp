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
#include "harness/engines/simulation.hpp"
#include "harness/model/json_error.hpp"
#include "harness/model/median.hpp"
#include "harness/streams/schedule.hpp"

namespace scanlab::cli {

namespace {

struct Configuration {
  ScheduledJob chosen;
  std::vector<double> measured;  ///< seconds, of each repetition
  double predicted = 0;

  double seconds() const { return median(measured); }
};

/// The facts in a case's name: streams/schedule:ID/workload:W/items:N/…
Facts facts_in(const std::string& name) {
  Facts facts;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (const std::size_t colon = part.find(':'); colon != std::string::npos) {
      const std::string key = part.substr(0, colon);
      const std::string value = part.substr(colon + 1);
      const bool is_word = key == "schedule" || key == "workload" || key == "memory";
      facts[key] = is_word ? Facts(value) : Facts(std::stoll(value));
    }
    begin = end + 1;
  }
  return facts;
}

/// Those that were measured and right, by their names.
std::map<std::string, Configuration> configurations_of(const std::string& path, Facts& facts) {
  const auto refuse = [&](const std::string& why) {
    throw CommandError(kBadInput,
                       fmt::format("{}: {}: 'scanlab streams run --sweep advise --out' writes one", path, why));
  };
  std::ifstream file(path);
  const Facts json = Facts::parse(file, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || !json.contains("benchmarks")) {
    refuse("cannot be read, or is no file of results");
  }
  std::map<std::string, Configuration> all;
  try {
    for (const Facts& run : json["benchmarks"]) {
      const std::string name = run.at("run_name");
      if (!name.starts_with("streams/schedule:") || run.value("verified", 0.0) != 1) continue;
      const auto [at, is_new] = all.try_emplace(name);
      if (is_new) at->second.chosen = job_of(facts_in(name));
      at->second.measured.push_back(1e-9 * run.at("real_time").get<double>());
    }
  } catch (const Facts::exception& error) {
    refuse(fmt::format("its cases are not those of 'streams run' ({})", what_is_wrong(error)));
  } catch (const std::exception& error) {  // of a registry, or of a number
    refuse(fmt::format("its cases are not those of 'streams run' ({})", error.what()));
  }
  if (all.empty()) refuse("it has no schedule that was measured");
  if (json.contains("context")) add_measured(facts, json["context"]);
  return all;
}

std::string describe_choice(const Configuration& one) {
  return fmt::format("{}, {} chunks, {} streams", one.chosen.schedule->about.id, one.chosen.job.chunks,
                     one.chosen.job.streams);
}

Facts to_json(const Configuration& one) {
  return {{"schedule", one.chosen.schedule->about.id}, {"chunks", one.chosen.job.chunks},
          {"streams", one.chosen.job.streams},         {"repetitions", one.measured.size()},
          {"measured_us", 1e6 * one.seconds()},        {"predicted_us", 1e6 * one.predicted}};
}

}  // namespace

Facts advise_against(const std::string& path, const engines::DeviceProfile& device, Facts& facts, Context& context) {
  using Problem = std::tuple<std::string, int, std::int64_t>;  // workload, work, items
  std::map<Problem, std::vector<Configuration>> problems;
  std::vector<double> errors;
  for (auto& [name, one] : configurations_of(path, facts)) {
    const streams::Recording recording = record(*one.chosen.schedule, one.chosen.job);
    one.predicted = simulate(recording, device, engines::costs(recording, device)).seconds;
    errors.push_back(std::abs(one.predicted / one.seconds() - 1));
    const streams::Job& job = one.chosen.job;
    problems[{job.workload->about.id, job.work, job.items}].push_back(one);
  }
  Facts all = Facts::array();
  std::vector<double> lost;
  fmt::print(context.out, "{:>7}  {:>10}  {:>10}  {}\n", "slower", "advised", "fastest", "than the fastest measured");
  for (const auto& [problem, choices] : problems) {
    const auto order = [](const Configuration& one) {
      return std::tuple(one.predicted, one.chosen.job.chunks, one.chosen.job.streams);
    };
    const Configuration& advised = *std::ranges::min_element(choices, {}, order);
    const Configuration& fastest = *std::ranges::min_element(choices, {}, &Configuration::seconds);
    lost.push_back(advised.seconds() / fastest.seconds() - 1);
    const auto& [workload, work, items] = problem;
    fmt::print(context.out, "{:>6.1f}%  {:>7.3f} ms  {:>7.3f} ms  {}, {} items, work {}: {}; fastest of {}: {}\n",
               100 * lost.back(), 1e3 * advised.seconds(), 1e3 * fastest.seconds(), workload, items, work,
               describe_choice(advised), choices.size(), describe_choice(fastest));
    all.push_back({{"workload", workload},
                   {"work", work},
                   {"items", items},
                   {"choices", choices.size()},
                   {"advised", to_json(advised)},
                   {"fastest", to_json(fastest)},
                   {"slower", lost.back()}});
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
