// scanlab streams import: the timeline of a program that Nsight Systems watched, as a trace.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

void add_nsight_options(po::options_description& options) {
  options.add_options()  //
      ("from", po::value<double>()->value_name("MS"),
       "take operations issued from this time on, in milliseconds as Nsight shows them")                         //
      ("to", po::value<double>()->value_name("MS"), "take operations issued before this time, in milliseconds")  //
      ("range", text("NAME"), "take operations issued within the first NVTX range of this name")                 //
      ("gpu", po::value<std::int64_t>()->value_name("N"),
       "take the work on GPU N, as Nsight numbers them (default: the GPU of most operations)");
}

streams::NsightExport nsight_export(const std::string& file, const po::variables_map& values) {
  const streams::NsightPart part{.from_ms = given<double>(values, "from"),
                                 .to_ms = given<double>(values, "to"),
                                 .range = given<std::string>(values, "range").value_or(""),
                                 .gpu = given<std::int64_t>(values, "gpu")};
  constexpr double kMax = 1e12;  // milliseconds: 30 years, and a number of nanoseconds that is whole
  for (const auto& [option, ms] : {std::pair{"from", part.from_ms}, std::pair{"to", part.to_ms}}) {
    if (ms && !(*ms >= 0 && *ms <= kMax)) {
      throw CommandError(kBadInput,
                         fmt::format("--{} {} is out of range: give milliseconds of 0 or more", option, *ms));
    }
  }
  if (part.from_ms && part.to_ms && *part.from_ms >= *part.to_ms) {
    throw CommandError(
        kBadInput, fmt::format("--from {} is not before --to {}: give an earlier --from", *part.from_ms, *part.to_ms));
  }
  return streams::read_nsight_export(file, part);
}

void print_unknown(const streams::NsightExport& imported, std::ostream& out) {
  for (const std::string& each : imported.unknown) fmt::print(out, "  of the export: {}\n", each);
}

int streams_import(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()                                                     //
      ("export", text("FILE"), "read FILE of 'nsys export --type sqlite'")  //
      ("out", text("FILE"), "write the timeline to FILE, as trace events")  //
      ("force", "replace FILE if it exists");
  add_nsight_options(options);
  options.add_options()("help,h", "print this text");
  po::positional_options_description positional;
  positional.add("export", 1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, streams_command("import"), context, values)) return kOk;
  if (values.count("export") == 0 || values.count("out") == 0) {
    throw CommandError(kBadInput,
                       "import takes an export and a file to write, as in 'scanlab streams import report.sqlite --out "
                       "report.json'");
  }
  const auto path = values["export"].as<std::string>();
  const streams::NsightExport imported = nsight_export(path, values);
  const streams::Timeline timeline = imported.timeline();
  const streams::TimelineAnalysis analysis = analyse(timeline);
  if (!(analysis.covered > 0)) {
    throw CommandError(kBadInput, path + ": nothing in it takes any time, so there is no timeline: take another part");
  }
  std::optional<WholeFile> file = output_file(values);
  measure::Facts about = measure::run_facts(context.argv);
  about["device"] = imported.device;
  about["imported_from"] = std::filesystem::path(path).filename().string();
  about["unknown"] = imported.unknown;
  about["memory"] = name(imported.recording.job.memory);
  about["makespan_us"] = 1e6 * analysis.makespan;
  about["overlap"] = analysis.overlap();
  file->write(trace_events(timeline, about).dump() + "\n");
  fmt::print(context.out, "{} operations in {}\n", imported.spans.size(), values["out"].as<std::string>());
  print_unknown(imported, context.out);
  return kOk;
}

}  // namespace scanlab::cli
