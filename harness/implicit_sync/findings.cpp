#include "harness/implicit_sync/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/host/fresh_process.hpp"
#include "harness/host/status.hpp"

namespace scanlab::implicit_sync {

using Json = nlohmann::ordered_json;

namespace {

#ifdef SCANLAB_WITH_CUDA
Trials try_here(const Experiment& experiment, int trials) {
  try {
    return run_experiment(experiment, trials);
  } catch (const std::exception& error) {
    return {.refusal = error.what()};
  }
}
#else
Trials try_here(const Experiment&, int) { return {.refusal = "this build has no CUDA"}; }
#endif

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

const char* word(Expected expected) {
  return expected == Expected::yes ? "yes" : expected == Expected::no ? "no" : "-";
}

const char* word(Answer answer) {
  switch (answer) {
    case Answer::yes:
      return "yes";
    case Answer::no:
      return "no";
    case Answer::unclear:
      return "unclear";
    case Answer::not_tried:
      break;
  }
  return "not here";
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
          {"stated", experiment.expected == Expected::nothing ? Json(nullptr) : Json(word(experiment.expected))},
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

}  // namespace scanlab::implicit_sync
