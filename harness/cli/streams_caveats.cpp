// scanlab streams caveats: what the sources say stops streams from overlapping, tried on this device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <optional>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/core/median.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/implicit_sync/findings.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

using implicit_sync::Experiment;
using implicit_sync::Finding;
using Json = nlohmann::ordered_json;

namespace {

constexpr char kNotes[] =
    "Each experiment issues a call while a kernel spins in one stream. NAME.host: the call blocks the host until the\n"
    "kernel ends. NAME.streams: a kernel in a second stream starts only after the first kernel ends. An answer needs\n"
    "three quarters of the trials. Two controls come first; if they fail, no other answer counts (status 1).\n";

void print_list(const std::vector<const Experiment*>& all, std::ostream& out) {
  for (const Experiment* each : all) {
    fmt::print(out, "{}\n  {}\n  said     {}: {}\n  source   {}\n", each->name, each->statement(), word(each->said),
               each->claim, each->source);
  }
  fmt::print(out,
             "\n'scanlab streams implicit-sync' tests this device; data/recorded/ and the report have the answers of "
             "an H200.\n");
}

void print(const std::vector<Finding>& findings, std::ostream& out) {
  constexpr auto kRow = "{:<42}{:<12}{:<13}{:>9}{:>12}  {}{}\n";
  fmt::print(out, kRow, "experiment", "source says", "this device", "yes of", "median, us", "statement", "");
  for (const Finding& each : findings) {
    const bool tried = each.trials.why_not.empty();
    fmt::print(out, kRow, each.experiment->name, word(each.experiment->said), word(each.answer()),
               tried ? fmt::format("{} of {}", each.trials.yes, each.trials.count()) : "",
               tried ? fmt::format("{:.1f}", 1e6 * median(each.trials.seconds)) : "", each.experiment->statement(),
               tried ? "" : fmt::format(" (not tried: {})", each.trials.why_not));
  }
  const auto count = std::ranges::count_if(findings, &Finding::differs);
  fmt::print(out, "\nThis device does the opposite of what the source says in {} of {} answers.\n", count,
             findings.size());
  for (const Finding& each : findings) {
    if (!each.differs()) continue;
    fmt::print(out, "  {}: {}, not {}.\n    said: {} ({})\n", each.experiment->statement(), word(each.answer()),
               word(each.experiment->said), each.experiment->claim, each.experiment->source);
  }
}

Json document(const std::vector<Finding>& findings, const measure::Facts& provenance) {
  Json all{{"schema", implicit_sync::kCaveatsSchema}, {"context", provenance}, {"experiments", Json::array()}};
  for (const Finding& each : findings) all["experiments"].push_back(to_json(each));
  return all;
}

}  // namespace

int streams_caveats(const std::vector<std::string>& arguments, Context& context) {
  if (!arguments.empty() && arguments[0] == kInFreshProcess) {
    context.out << implicit_sync::answer_in_fresh_process({arguments.begin() + 1, arguments.end()}) << "\n";
    return kOk;
  }
  po::options_description options("options");
  options.add_options()  //
      ("experiment", list_of("GLOB"),
       "select experiments by name or glob; controls always run (default all)")                         //
      ("trials", po::value<int>()->default_value(15)->value_name("N"), "take N trials per experiment")  //
      ("list", "print the experiments and their sources; needs no device")                              //
      ("json", text("FILE"), "write every trial to FILE, with provenance")                              //
      ("force", "replace FILE if it exists")                                                            //
      ("help,h", "print this text");
  po::variables_map values;
  if (!parse_options(arguments, options, {}, streams_command("implicit-sync"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const std::vector<const Experiment*> asked = implicit_sync::select(option_words(values, "experiment"));
  if (values.count("list") != 0) {
    print_list(asked, context.out);
    return kOk;
  }
  const int trials = option_number(values, "trials", 1, 10000);
  const measure::Facts provenance =
      measure::measured_on("scanlab streams implicit-sync (without --list)", context.argv);
  std::optional<WholeFile> file = output_file(values, "json");

  const InterruptGuard guard;
  std::vector<Finding> findings;
  {
    Progress progress(context.err);
    for (const Experiment* each : asked) {
      progress.show(fmt::format("{} of {}: {}", findings.size() + 1, asked.size(), each->name));
      findings.push_back(find_out(*each, trials, {"streams", "implicit-sync"}));
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
