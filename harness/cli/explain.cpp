// scanlab explain: the steps of a variant, counted on the SIMT emulator; or, on a GPU, the cycles of its warps, or when
// its tiles come to the points of a scan.
#include "harness/cli/options.hpp"
#include "harness/simt/explanation.hpp"
#include "harness/simt/printed_kernel.hpp"
#include "harness/simt/role_cycles.hpp"

namespace scanlab::cli {

namespace {

/// An explanation with the code that counted, and when.
measure::Facts document(const simt::Explanation& explanation) {
  measure::Facts all = to_json(explanation);
  const measure::Facts run = measure::run_facts({});
  all["git_commit"] = run["git_commit"];
  all["git_dirty"] = run["git_dirty"] == "true";
  all["date"] = run["date"];
  return all;
}

std::string file_name(const Case& explained) {
  const auto& [variant, problem] = explained;
  std::string text =
      fmt::format("{}-{}-{}-{}", variant->about.id, name(problem.type), name(problem.mode), problem.items);
  for (const auto& [key, value] : problem.settings) text += "-" + value;
  return text + ".json";
}

/// Writes a file per case of simt::usual_cases().
int explain_all(const std::filesystem::path& directory, bool quick, bool replace, Context& context) {
  bool faults = false;
  const std::vector<Case> cases = simt::usual_cases(quick);
  for (const Case& each : cases) WholeFile(directory / file_name(each), replace);  // refused before any work
  {
    Progress progress(context.err);
    for (const Case& each : cases) {
      progress.show(each.variant->about.id);
      const simt::Explanation explanation = simt::explain(each);
      faults = faults || !explanation.report.faults.empty();
      WholeFile(directory / file_name(each), true).write(document(explanation).dump(1) + "\n");
    }
  }
  fmt::print(context.out, "{} explanations in {}\n", cases.size(), directory.string());
  return faults ? kFailed : kOk;
}

/// Runs each case in an instrumented form, and prints a table; a row of the file is that of a case and role, or of a
/// case and tile.
int explain_on_cuda(const std::vector<Case>& cases, bool timeline, const Output& csv, Context& context) {
  std::optional<WholeFile> file = csv.open();
  require_device(context, "without --device, explain counts steps on the SIMT emulator");
  std::string rows;
  const simt::RunColumns provenance = measure::provenance_columns();
  const auto add = [&](const Case& chosen, const auto& seen) {
    if (seen.empty()) return false;
    simt::print(case_name(chosen.variant->about, chosen.problem), seen, context.out);
    simt::RunColumns columns = simt::run_columns(chosen);
    columns.insert(columns.end(), provenance.begin(), provenance.end());
    if (rows.empty()) rows = simt::csv_head(columns, seen);
    rows += simt::csv_rows(columns, seen);
    return true;
  };
  for (const Case& chosen : cases) {
    const BoundScan scan = chosen.variant->bind(chosen.problem);
    const bool any = chosen.problem.items > 0;
    if (any && timeline && scan.cuda_timeline && add(chosen, simt::timeline(scan, chosen.problem))) continue;
    if (any && !timeline && scan.cuda_watch && add(chosen, simt::watch(scan, chosen.problem))) continue;
    fmt::print(context.err, "skipped: {}: {}\n", case_name(chosen.variant->about, chosen.problem),
               !scan.plan.possible() ? scan.plan.refusal
               : timeline            ? "it has no form that times its tiles, or too many of them"
                                     : "it has no form that watches its warps");
  }
  if (rows.empty()) {
    refuse(timeline ? "none of the chosen cases has a timeline; sums of i32 and f32 by look_ahead and one_wave have"
                    : "none of the chosen cases can be explained on a GPU; look_ahead can, for i32 and f32 sums");
  }
  if (file) {
    file->write(rows);
    fmt::print(context.out, "{} rows in {}\n", std::ranges::count(rows, '\n') - 1, *csv.path);
  }
  return kOk;
}

/// Runs a kernel as a source prints it. Status 0 if the fault of its description shows.
int explain_printed(const std::string& id, const OptionWords& words, Context& context) {
  if (id == "list") {
    simt::print_printed_kernels(context.out);
    return kOk;
  }
  const auto& registry = simt::PrintedKernelRegistry::instance();
  const simt::PrintedKernel* const kernel = registry.find(id);
  if (kernel == nullptr) unknown("printed kernel", id, registry.ids());
  std::vector<std::int64_t> items = counts_of(words, "items");
  if (items.empty()) items = {8};
  bool matches_description = true;
  for (const std::int64_t n : items) {
    const simt::PrintedRun run = simt::run_printed(*kernel, n);
    print(run, context.out);
    matches_description = matches_description && run.matches_description();
  }
  return matches_description ? kOk : kFailed;
}

int explain_on_emulator(const std::vector<Case>& cases, bool json, Context& context) {
  bool faults = false;
  int explained = 0;
  measure::Facts all = measure::Facts::array();
  for (const Case& chosen : cases) {
    if (const std::string reason = simt::unexplainable(chosen); !reason.empty()) {
      if (cases.size() == 1) refuse(reason);
      fmt::print(context.err, "skipped: {}\n", reason);
      continue;
    }
    ++explained;
    const simt::Explanation explanation = simt::explain(chosen);
    faults = faults || !explanation.report.faults.empty();
    if (json) {
      all.push_back(document(explanation));
    } else {
      print(explanation, context.out);
    }
  }
  if (explained == 0)
    refuse(
        "no chosen case can be explained: choose a variant that runs on the SIMT emulator, and a type that it takes");
  if (json) context.out << (all.size() == 1 ? all[0] : all).dump(1) << "\n";
  return faults ? kFailed : kOk;
}

}  // namespace

int explain(const Words& arguments, Context& context) {
  OptionWords words;
  std::string folder;
  std::optional<std::string> source_kernel;
  Output csv;
  bool on_gpu = false, timeline = false, json = false, all_variants = false, quick = false;
  Options options;
  add_selection_options(options, words, "2048");
  add_problem_options(options, words, "default those of the variant");
  options
      .choice("device", on_gpu, {{false, "simt"}, {true, "cuda"}},
              "count on the SIMT emulator, or time the warp roles on a GPU")
      .flag("timeline", timeline, "time the tiles with --device cuda, and not the warp roles")
      .output("csv", csv, "write the cycles or times of --device cuda to FILE as a table")
      .text("source-kernel", "NAME", source_kernel, "examine a kernel as its source prints it, or 'list' the names")
      .flag("json", json, "print JSON")
      .flag("all", all_variants, "explain every variant, padding and mode at a few n, into files in --out")
      .flag("quick", quick, "use fewer n with --all")
      .text("out", "DIR", folder, "write the files of --all to DIR")
      .positional("variant", 1);
  if (!options.parse(arguments, context)) return kOk;
  if (source_kernel) {
    options.refuse_useless(
        {"variant", "type", "op", "mode", "set", "device", "timeline", "csv", "json", "all", "quick", "out"},
        "--source-kernel is explained by itself, on the emulator");
    return explain_printed(*source_kernel, words, context);
  }
  if (all_variants) {
    options.refuse_useless({"variant", "type", "op", "mode", "items", "set", "device", "timeline", "csv", "json"},
                           "explain --all explains everything");
    if (!options.given("out")) refuse("explain --all writes files: say where with --out DIR");
    return explain_all(output_folder(folder), quick, csv.force, context);
  }
  options.refuse_useless({"out", "quick"}, "they go with explain --all");
  if (!csv.path) options.refuse_useless({"force"}, "nothing is written; give --all or --csv FILE");
  if (!words.contains("variant")) refuse("explain takes a variant, as in 'scanlab explain hso_block --items 2048'");
  words.try_emplace("items", Words{"2048"});
  std::vector<Case> cases = select_scans(words).cases();
  for (Case& chosen : cases) {
    if (!words.contains("mode")) chosen.problem.mode = chosen.variant->about.natural_mode;
  }
  if (on_gpu) {
    options.refuse_useless({"json"}, "explain --device cuda prints a table, or writes one with --csv FILE");
    return explain_on_cuda(cases, timeline, csv, context);
  }
  options.refuse_useless({"csv", "timeline"}, "they go with explain --device cuda");
  return explain_on_emulator(cases, json, context);
}

}  // namespace scanlab::cli
