// scanlab streams import: the timeline of a program that Nsight Systems watched, as a trace.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

void NsightWords::add_to(Options& options) {
  options.real("from", "MS", part.from_ms, "take operations issued from this time on, in milliseconds as Nsight shows")
      .real("to", "MS", part.to_ms, "take operations issued before this time, in milliseconds")
      .text("range", "NAME", part.range, "take operations issued within the first NVTX range of this name")
      .count("gpu", part.gpu, "take the work on GPU N, as Nsight numbers them (default: the GPU of most operations)");
}

streams::NsightExport NsightWords::read(const std::string& file) const {
  constexpr double kMax = 1e12;  // milliseconds: 30 years, and a number of nanoseconds that is whole
  for (const auto& [option, ms] : {std::pair{"from", part.from_ms}, std::pair{"to", part.to_ms}}) {
    if (ms && !(*ms >= 0 && *ms <= kMax))
      refuse(fmt::format("--{} {} is out of range: give milliseconds of 0 or more", option, *ms));
  }
  if (part.from_ms && part.to_ms && *part.from_ms >= *part.to_ms)
    refuse(fmt::format("--from {} is not before --to {}: give an earlier --from", *part.from_ms, *part.to_ms));
  return streams::read_nsight_export(file, part);
}

void print_unknown(const streams::NsightExport& imported, std::ostream& out) {
  for (const std::string& each : imported.unknown) fmt::print(out, "  of the export: {}\n", each);
}

int streams_import(const std::vector<std::string>& arguments, Context& context) {
  std::optional<std::string> exported, out;
  bool force = false;
  NsightWords nsight;
  Options options;
  options.file("export", File::read, exported, "read FILE of 'nsys export --type sqlite'; --export may be left out")
      .file("out", File::written, out, "write the timeline to FILE, as trace events")
      .force(force)
      .positional("export", 1);
  nsight.add_to(options);
  if (!options.parse(arguments, context)) return kOk;
  if (!exported || !out)
    refuse(
        "import takes an export and a file to write, as in 'scanlab streams import report.sqlite --out report.json'");
  const std::string& path = *exported;
  const streams::NsightExport imported = nsight.read(path);
  const streams::Timeline timeline = imported.timeline();
  const streams::TimelineAnalysis analysis = analyse(timeline);
  if (!(analysis.covered > 0))
    refuse(path + ": nothing in it takes any time, so there is no timeline: take another part");
  WholeFile file(*out, force);
  measure::Facts about = measure::run_facts(context.argv);
  about["device"] = imported.device;
  about["imported_from"] = std::filesystem::path(path).filename().string();
  about["unknown"] = imported.unknown;
  about["memory"] = name(imported.recording.job.memory);
  about["makespan_us"] = 1e6 * analysis.makespan;
  about["overlap"] = analysis.overlap();
  file.write(trace_events(timeline, about).dump() + "\n");
  fmt::print(context.out, "{} operations in {}\n", imported.spans.size(), *out);
  print_unknown(imported, context.out);
  return kOk;
}

}  // namespace scanlab::cli
