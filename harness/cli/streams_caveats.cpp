// scanlab streams caveats: what the sources say stops streams from overlapping, tried on this device.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "harness/cli/streams.hpp"
#include "harness/cli/streams_experiments.hpp"
#include "harness/core/median.hpp"
#include "harness/core/variant.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using streams::Experiment;
using streams::Finding;
using streams::Said;
using streams::Trials;
using streams::Verdict;
using Json = nlohmann::ordered_json;

namespace {

constexpr char kNotes[] =
    "While a kernel spins in one stream, a call is issued. Did it return before the kernel ended (.host)? Did a "
    "kernel\n"
    "issued then to a second stream start before the first one ended (.streams)? Yes and no need three quarters of "
    "the\n"
    "trials. Two controls come first; if they fail, no other answer counts (status 1).\n";

const char* word(Said said) { return said == Said::yes ? "yes" : said == Said::no ? "no" : "-"; }

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::yes:
      return "yes";
    case Verdict::no:
      return "no";
    case Verdict::unclear:
      return "unclear";
    case Verdict::not_applicable:
      break;
  }
  return "not here";
}

bool is_control(const Experiment& experiment) {
  return std::ranges::find(streams::controls(), experiment.name) != streams::controls().end();
}

/// The experiments whose names fit, and always the controls.
std::vector<const Experiment*> selected(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs) {
    const auto fits = [&](const Experiment& each) { return fnmatch(glob.c_str(), each.name.c_str(), 0) == 0; };
    if (std::ranges::any_of(streams::experiments(), fits)) continue;
    std::vector<std::string> names;
    for (const Experiment& each : streams::experiments()) names.push_back(each.name);
    const std::vector<std::string> near = near_matches(glob, names);
    const std::string hint = near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
    throw CommandError(kBadInput,
                       fmt::format("no experiment fits '{}'{} (scanlab streams caveats --list)", glob, hint));
  }
  std::vector<const Experiment*> all;
  for (const Experiment& each : streams::experiments()) {
    const auto fits = [&](const std::string& glob) { return fnmatch(glob.c_str(), each.name.c_str(), 0) == 0; };
    if (globs.empty() || is_control(each) || std::ranges::any_of(globs, fits)) all.push_back(&each);
  }
  return all;
}

void print_list(const std::vector<const Experiment*>& all, std::ostream& out) {
  for (const Experiment* each : all) {
    fmt::print(out, "{}\n  {}?\n  said     {}: {}\n  source   {}\n", each->name, each->question, word(each->said),
               each->claim, each->source);
  }
  fmt::print(out,
             "\n'scanlab streams caveats' asks the device that is here; what an H200 answered is in data/recorded/ and "
             "the report.\n");
}

Json trials_to_json(const Trials& trials) {
  return {{"yes", trials.yes}, {"seconds", trials.seconds}, {"why_not", trials.why_not}};
}

Trials trials_from_json(const std::string& text) {
  const Json json = Json::parse(text);
  return {.yes = json.at("yes"), .seconds = json.at("seconds"), .why_not = json.at("why_not")};
}

/// In this process. An error of CUDA ends the experiment, not the command: a call may not exist on this device.
Trials try_here([[maybe_unused]] const Experiment& experiment, [[maybe_unused]] int trials) {
#ifdef SCANLAB_WITH_CUDA
  try {
    return streams::run_experiment(experiment, trials);
  } catch (const std::exception& error) {
    return {.yes = 0, .seconds = {}, .why_not = error.what()};
  }
#else
  return {.yes = 0, .seconds = {}, .why_not = "this build has no CUDA"};
#endif
}

Trials try_in_fresh_process(const Experiment& experiment, int trials) {
  const FreshProcess process = run_in_fresh_process(
      {"streams", "caveats", kInFreshProcess, experiment.name, std::to_string(trials)}, experiment.environment);
  try {
    return trials_from_json(process.out);
  } catch (const Json::exception&) {
    return {.yes = 0,
            .seconds = {},
            .why_not = fmt::format("the process for it ended with status {} and no result", process.status)};
  }
}

/// What the fresh process does: `words` are the experiment's name and the number of trials.
int answer_in_fresh_process(const std::vector<std::string>& words, Context& context) {
  const auto found = words.size() == 2 ? std::ranges::find(streams::experiments(), words[0], &Experiment::name)
                                       : streams::experiments().end();
  if (found == streams::experiments().end()) {
    throw CommandError(kBadInput, fmt::format("'{}' is what scanlab says to itself", kInFreshProcess));
  }
  context.out << trials_to_json(try_here(*found, std::stoi(words[1]))).dump() << "\n";
  return kOk;
}

Finding find_out(const Experiment& experiment, int trials) {
  return {.experiment = &experiment,
          .trials = experiment.fresh_process ? try_in_fresh_process(experiment, trials) : try_here(experiment, trials)};
}

/// Throws CommandError (status 1) if a control is not answered as it must be.
void require_control(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const bool as_it_must =
      finding.answer() != Verdict::unclear && finding.answer() != Verdict::not_applicable && !streams::differs(finding);
  if (!is_control(experiment) || as_it_must) return;
  throw CommandError(
      kFailed, fmt::format("the control {} failed ({}? It must be {}, and {} of {} trials said yes{}{}): is the "
                           "device in use, a profiler attached, or CUDA_LAUNCH_BLOCKING set? No other answer "
                           "would count",
                           experiment.name, experiment.question, word(experiment.said), finding.trials.yes,
                           finding.trials.count(), finding.trials.why_not.empty() ? "" : ": ", finding.trials.why_not));
}

void print(const std::vector<Finding>& findings, std::ostream& out) {
  fmt::print(out, "{:<42}{:<12}{:<13}{:>9}{:>12}  question\n", "experiment", "source says", "this device", "yes of",
             "median, us");
  for (const Finding& each : findings) {
    const bool tried = each.trials.why_not.empty();
    fmt::print(out, "{:<42}{:<12}{:<13}{:>9}{:>12}  {}?{}\n", each.experiment->name, word(each.experiment->said),
               word(each.answer()), tried ? fmt::format("{} of {}", each.trials.yes, each.trials.count()) : "",
               tried ? fmt::format("{:.1f}", 1e6 * median(each.trials.seconds)) : "", each.experiment->question,
               tried ? "" : fmt::format(" (not tried: {})", each.trials.why_not));
  }
  const auto count = std::ranges::count_if(findings, streams::differs);
  fmt::print(out, "\nThis device does the opposite of what the source says in {} of {} answers.\n", count,
             findings.size());
  for (const Finding& each : findings) {
    if (!streams::differs(each)) continue;
    fmt::print(out, "  {}? {}, not {}.\n    said: {} ({})\n", each.experiment->question, word(each.answer()),
               word(each.experiment->said), each.experiment->claim, each.experiment->source);
  }
}

Json document(const std::vector<Finding>& findings, const measure::Facts& provenance) {
  Json all{{"schema", kCaveatsSchema}, {"context", provenance}, {"experiments", Json::array()}};
  for (const Finding& each : findings) all["experiments"].push_back(to_json(each));
  return all;
}

}  // namespace

Json to_json(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  Json environment = Json::object();
  for (const auto& [name, value] : experiment.environment) environment[name] = value;
  return {{"name", experiment.name},
          {"question", experiment.question},
          {"said", experiment.said == Said::nothing ? Json(nullptr) : Json(word(experiment.said))},
          {"claim", experiment.claim},
          {"source", experiment.source},
          {"answer", finding.answer() == Verdict::not_applicable ? Json(nullptr) : Json(word(finding.answer()))},
          {"differs", streams::differs(finding)},
          {"yes", finding.trials.yes},
          {"trials", finding.trials.count()},
          {"seconds", finding.trials.seconds},
          {"why_not", finding.trials.why_not},
          {"environment", environment},
          {"fresh_process", experiment.fresh_process}};
}

int streams_caveats(const std::vector<std::string>& arguments, Context& context) {
  if (!arguments.empty() && arguments[0] == kInFreshProcess) {
    return answer_in_fresh_process({arguments.begin() + 1, arguments.end()}, context);
  }
  po::options_description options("options");
  options.add_options()  //
      ("experiment", po::value<std::vector<std::string>>()->composing()->value_name("GLOB"),
       "only these, and the controls (default all)")                                                                //
      ("trials", po::value<int>()->default_value(15)->value_name("N"), "of each experiment")                        //
      ("list", "what would be tried, and what the sources say; needs no device")                                    //
      ("json", po::value<std::string>()->value_name("FILE"), "every trial, with provenance; a whole file or none")  //
      ("force", "replace FILE if it exists")                                                                        //
      ("help,h", "this text");
  po::variables_map values;
  if (!parse_options(arguments, options, {}, streams_command("caveats"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const std::vector<const Experiment*> asked =
      selected(values.count("experiment") != 0 ? values["experiment"].as<std::vector<std::string>>()
                                               : std::vector<std::string>{});
  if (values.count("list") != 0) {
    print_list(asked, context.out);
    return kOk;
  }
  const int trials = values["trials"].as<int>();
  if (trials < 1 || trials > 10000) {
    throw CommandError(kBadInput, fmt::format("--trials {}: between 1 and 10000 is possible", trials));
  }
  const measure::Facts provenance = measure::measured_on("scanlab streams caveats (without --list)", context.argv);
  std::optional<WholeFile> file;
  if (values.count("json") != 0) file.emplace(values["json"].as<std::string>(), values.count("force") != 0);

  const InterruptGuard guard;
  std::vector<Finding> findings;
  {
    Progress progress(context.err);
    for (const Experiment* each : asked) {
      progress.show(fmt::format("{} of {}: {}", findings.size() + 1, asked.size(), each->name));
      findings.push_back(find_out(*each, trials));
      if (interrupted()) break;
      require_control(findings.back());
    }
  }
  if (interrupted()) {
    fmt::print(context.err, "scanlab: interrupted; nothing is written\n");
    return kInterrupted;
  }
  print(findings, context.out);
  if (file) file->write(document(findings, provenance).dump(1) + "\n");
  return kOk;
}

}  // namespace scanlab::cli
