// scanlab streams caveats: what the sources say stops streams from overlapping, tried on this device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <optional>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/implicit_sync/findings.hpp"
#include "harness/implicit_sync/findings_report.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

using implicit_sync::Experiment;
using implicit_sync::Finding;

namespace {

constexpr char kNotes[] =
    "Each experiment issues a call while a kernel spins in one stream. NAME.host: the call blocks the host until the\n"
    "kernel ends. NAME.streams: a kernel in a second stream starts only after the first kernel ends. An answer needs\n"
    "three quarters of the trials. Three controls come first; if they fail, no other answer counts (status 1).\n";

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
    refuse_options(values, {"trials", "json", "force"}, "--list measures nothing");
    implicit_sync::print_list(asked, context.out);
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
  implicit_sync::print(findings, context.out);
  if (file) {
    file->write(implicit_sync::document(findings, provenance).dump(1) + "\n");
    fmt::print(context.out, "\n{} experiments in {}\n", findings.size(), file->path().string());
  }
  return kOk;
}

}  // namespace scanlab::cli
