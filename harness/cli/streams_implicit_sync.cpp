// scanlab streams implicit-sync: what the sources say stops streams from overlapping, tried on this device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <optional>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/implicit_sync/findings.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

using implicit_sync::Experiment;
using implicit_sync::Finding;

int streams_implicit_sync(const std::vector<std::string>& arguments, Context& context) {
  if (!arguments.empty() && arguments[0] == kInFreshProcess) {
    context.out << implicit_sync::answer_in_fresh_process({arguments.begin() + 1, arguments.end()}) << "\n";
    return kOk;
  }
  OptionWords words;
  int trials = 15;
  bool list = false, force = false;
  std::optional<std::string> json;
  Options options;
  options.list("experiment", "GLOB", words, "select experiments by name or glob; controls always run (default all)")
      .number("trials", trials, 1, 10000, "take N trials per experiment")
      .flag("list", list, "print the experiments and their sources; needs no device")
      .file("json", File::written, json, "write every trial to FILE, with provenance")
      .force(force);
  if (!options.parse(arguments, context)) return kOk;
  const std::vector<const Experiment*> asked = implicit_sync::select(words_of(words, "experiment"));
  if (list) {
    options.refuse_useless({"trials", "json", "force"}, "--list measures nothing");
    implicit_sync::print_list(asked, context.out);
    return kOk;
  }
  const measure::Facts provenance =
      measure::measured_on("scanlab streams implicit-sync (without --list)", context.argv);
  std::optional<WholeFile> file = output_file(json, force);

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
