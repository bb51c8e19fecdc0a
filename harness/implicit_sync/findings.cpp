#include "harness/implicit_sync/findings.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/core/median.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/status.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/implicit_sync/test_bed.hpp"
#endif

namespace scanlab::implicit_sync {

using Json = nlohmann::ordered_json;

namespace {

Json in_json(Expected expected) { return expected == Expected::nothing ? Json(nullptr) : Json(word(expected)); }

Trials try_here([[maybe_unused]] const Experiment& experiment, [[maybe_unused]] int trials) {
#ifdef SCANLAB_WITH_CUDA
  try {
    return run_experiment(experiment, trials);
  } catch (const std::exception& error) {
    return {.refusal = error.what()};
  }
#else
  return {.refusal = "this build has no CUDA"};
#endif
}

Trials try_in_fresh_process(const Experiment& experiment, int trials, std::vector<std::string> words) {
  words.insert(words.end(), {kInFreshProcess, experiment.name, std::to_string(trials)});
  const FreshProcess process = run_in_fresh_process(words, experiment.environment);
  const Json json = Json::parse(process.out, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return {.refusal = fmt::format("the process for it ended with status {} and no result", process.status)};
  }
  return {.yes = json.at("yes"), .seconds = json.at("seconds"), .refusal = json.at("refusal")};
}

}  // namespace

#ifdef SCANLAB_WITH_CUDA
Trials run_experiment(const Experiment& experiment, int repetitions) {
  Trials result;
  if (experiment.prepare_process) result.refusal = experiment.prepare_process();
  if (!result.refusal.empty()) return result;
  TestBed bed(experiment.non_blocking_streams);
  experiment.trial(bed);  // what is loaded or allocated at first use is no part of an answer
  for (int i = 0; i < repetitions; ++i) {
    bed.clear();
    const Trial trial = experiment.trial(bed);
    result.yes += trial.yes ? 1 : 0;
    result.seconds.push_back(trial.seconds);
  }
  return result;
}
#endif

const char* word(Expected expected) {
  constexpr std::array kWords{"no", "yes", "-", "may"};
  return kWords.at(static_cast<std::size_t>(expected));
}

const char* word(Answer answer) {
  constexpr std::array kWords{"no", "yes", "unclear", "not here"};
  return kWords.at(static_cast<std::size_t>(answer));
}

Answer Finding::answer() const {
  if (!trials.refusal.empty()) return Answer::not_tried;
  const int all = trials.count();
  const int no = all - trials.yes;
  if (all == 0) return Answer::unclear;
  if (4 * trials.yes >= 3 * all) return Answer::yes;
  if (4 * no >= 3 * all) return Answer::no;
  return Answer::unclear;
}

bool Finding::differs() const {
  return (experiment->expected == Expected::yes && answer() == Answer::no) ||
         (experiment->expected == Expected::no && answer() == Answer::yes);
}

Finding find_out(const Experiment& experiment, int trials, const std::vector<std::string>& command) {
  return {&experiment,
          experiment.fresh_process ? try_in_fresh_process(experiment, trials, command) : try_here(experiment, trials)};
}

std::string answer_in_fresh_process(const std::vector<std::string>& words) {
  const auto chosen =
      words.size() == 2 ? std::ranges::find(experiments(), words[0], &Experiment::name) : experiments().end();
  if (chosen == experiments().end()) {
    throw CommandError(kBadInput, fmt::format("'{}' is what scanlab says to itself", kInFreshProcess));
  }
  const Trials trials = try_here(*chosen, std::stoi(words[1]));
  return Json{{"yes", trials.yes}, {"seconds", trials.seconds}, {"refusal", trials.refusal}}.dump();
}

void require_control(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const Answer answer = finding.answer();
  const bool as_it_must = (answer == Answer::yes || answer == Answer::no) && !finding.differs();
  if (!is_control(experiment) || as_it_must) return;
  throw CommandError(
      kFailed,
      fmt::format("the control {} failed ('{}' must be {}, and {} of {} trials said yes{}{}): is the device in "
                  "use, a profiler attached, or CUDA_LAUNCH_BLOCKING set? No other answer would count",
                  experiment.name, experiment.statement(), word(experiment.expected), finding.trials.yes,
                  finding.trials.count(), finding.trials.refusal.empty() ? "" : ": ", finding.trials.refusal));
}

Json to_json(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const Answer answer = finding.answer();
  const bool clear = answer == Answer::yes || answer == Answer::no;
  Json sources = Json::array();
  for (const auto& [work, place] : experiment.sources) sources.push_back({{"work", work}, {"place", place}});
  Json environment = Json::object();
  for (const auto& [name, value] : experiment.environment) environment[name] = value;
  return {{"name", experiment.name},
          {"subject", experiment.subject},
          {"verb", experiment.verb},
          {"object", experiment.object},
          {"statement", experiment.statement()},
          {"stated", in_json(experiment.expected)},
          {"documented", in_json(experiment.documented())},
          {"claim", experiment.claim},
          {"sources", sources},
          {"measured", clear ? Json(word(answer)) : Json(nullptr)},
          {"differs", finding.differs()},
          {"yes", finding.trials.yes},
          {"trials", finding.trials.count()},
          {"seconds", finding.trials.seconds},
          {"refusal", finding.trials.refusal},
          {"environment", environment},
          {"fresh_process", experiment.fresh_process}};
}

void print_list(const std::vector<const Experiment*>& all, std::ostream& out) {
  for (const Experiment* each : all) {
    const Expected documented = each->documented();
    fmt::print(out, "{}\n  {}\n  said     {}: {}\n  source   {}\n  NVIDIA   {}\n", each->name, each->statement(),
               word(each->expected), each->claim, each->describe_sources(),
               documented == Expected::nothing ? "undocumented" : word(documented));
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
