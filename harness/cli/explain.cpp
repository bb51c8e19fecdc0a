// scanlab explain: what a variant does, step by step, counted on the SIMT emulator; or, on a GPU, where its cycles go.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/options.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/simt/explanation.hpp"
#include "harness/simt/printed_kernel.hpp"
#include "harness/simt/role_cycles.hpp"

namespace scanlab::cli {

using Json = nlohmann::ordered_json;

namespace {

/// With the code that counted, and when.
Json document(const simt::Explanation& explanation) {
  Json all = to_json(explanation);
  const measure::Facts run = measure::run_facts({});
  all["git_commit"] = run["git_commit"];
  all["git_dirty"] = run["git_dirty"] == "true";
  all["date"] = run["date"];
  return all;
}

std::string file_name(const Case& of) {
  const auto& [variant, problem] = of;
  std::string text =
      fmt::format("{}-{}-{}-{}", variant->about.id, name(problem.type), name(problem.mode), problem.items);
  for (const auto& [key, value] : problem.settings) text += "-" + value;
  return text + ".json";
}

/// A file per case of simt::usual_cases().
int explain_all(const std::filesystem::path& directory, bool quick, bool replace, Context& context) {
  bool faults = false;
  const std::vector<Case> cases = simt::usual_cases(quick);
  for (const Case& each : cases) WholeFile(directory / file_name(each), replace);  // refused before any work
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const simt::Explanation explanation = simt::explain(cases[i]);
    faults = faults || !explanation.report.faults.empty();
    WholeFile(directory / file_name(cases[i]), true).write(document(explanation).dump(1) + "\n");
    if (i + 1 == cases.size() || cases[i + 1].variant != cases[i].variant) {
      fmt::print(context.err, "explained {}\n", cases[i].variant->about.id);
    }
  }
  fmt::print(context.out, "{} explanations in {}\n", cases.size(), directory.string());
  return faults ? kFailed : kOk;
}

/// Runs each case in its instrumented form, prints a table, and writes the file of --csv, if any: one row a case and
/// role.
int explain_on_cuda(const std::vector<Case>& cases, std::optional<WholeFile> file, Context& context) {
  std::string refusal;
  if (!measure::device_facts(refusal)) {
    throw CommandError(kNoDevice, fmt::format("explain --device cuda needs a GPU: {}", refusal));
  }
  std::string rows;
  const simt::RunColumns provenance = measure::provenance_columns();
  for (const Case& chosen : cases) {
    const BoundScan scan = chosen.variant->bind(chosen.problem);
    if (!scan.cuda_watch || chosen.problem.items == 0) {
      fmt::print(context.err, "skipped: {}: {}\n", case_name(chosen.variant->about, chosen.problem),
                 scan.plan.possible() ? "it has no form that watches its warps" : scan.plan.refusal);
      continue;
    }
    const std::vector<RoleCycles> roles = simt::watch(scan, chosen.problem);
    simt::print(case_name(chosen.variant->about, chosen.problem), roles, context.out);
    simt::RunColumns columns = simt::run_columns(chosen);
    columns.insert(columns.end(), provenance.begin(), provenance.end());
    if (rows.empty()) rows = simt::csv_head(columns, roles);
    rows += simt::csv_rows(columns, roles);
  }
  if (rows.empty()) {
    throw CommandError(kBadInput,
                       "none of the chosen cases can be explained on a GPU; look_ahead can, for i32 and f32 sums");
  }
  if (file) {
    file->write(rows);
    fmt::print(context.out, "{} rows in {}\n", std::ranges::count(rows, '\n') - 1, file->path().string());
  }
  return kOk;
}

/// A kernel as a source prints it. Status 0 where the fault shows that is said of it.
int explain_printed(const std::string& id, const OptionWords& words, Context& context) {
  if (id == "list") {
    simt::print_printed_kernels(context.out);
    return kOk;
  }
  const auto& registry = simt::PrintedKernelRegistry::instance();
  const simt::PrintedKernel* const kernel = registry.find(id);
  if (kernel == nullptr) unknown("printed kernel", id, registry.ids());
  constexpr std::int64_t kDefaultItems = 8;
  std::vector<std::int64_t> items = counts_of(words, "items");
  if (items.empty()) items = {kDefaultItems};
  bool matches_description = true;
  for (const std::int64_t n : items) {
    const simt::PrintedRun run = simt::run_printed(*kernel, n);
    print(run, context.out);
    matches_description = matches_description && run.matches_description();
  }
  return matches_description ? kOk : kFailed;
}

}  // namespace

int explain(const std::vector<std::string>& arguments, Context& context) {
  OptionWords words;
  std::string device = "simt", folder;
  std::optional<std::string> csv, source_kernel;
  bool json = false, all_variants = false, quick = false, force = false;
  Options options;
  add_selection_options(options, words, "2048");
  add_problem_options(options, words, "default those of the variant");
  options.choice("device", device, {"simt", "cuda"}, "count on the SIMT emulator, or time the warp roles on a GPU")
      .file("csv", File::written, csv, "write the cycles of --device cuda to FILE as a table")
      .text("source-kernel", "NAME", source_kernel, "examine a kernel as its source prints it, or 'list' the names")
      .flag("json", json, "print JSON")
      .flag("all", all_variants, "explain every variant, padding and mode at a few n, into files in --out")
      .flag("quick", quick, "use fewer n with --all")
      .text("out", "DIR", folder, "write the files of --all to DIR")
      .force(force)
      .positional("variant", 1);
  if (!options.parse(arguments, context)) return kOk;
  if (source_kernel) {
    options.leave_out({"variant", "type", "op", "mode", "set", "csv", "json", "all", "quick", "out"},
                      "--source-kernel is explained by itself");
    if (device != "simt") refuse("--source-kernel runs on the emulator alone: leave out --device");
    return explain_printed(*source_kernel, words, context);
  }
  if (device == "cuda" && (all_variants || json))
    refuse("explain --device cuda takes no --json and no --all: it prints a table, or writes one with --csv FILE");
  if (device == "simt" && csv) refuse("--csv goes with explain --device cuda: add it, or leave out --csv");
  if (!all_variants && (options.given("out") || quick))
    refuse("--out and --quick go with explain --all: add it, or leave them out");
  if (!all_variants && !csv) options.refuse_useless({"force"}, "nothing is written; give --all or --csv FILE");
  if (all_variants) {
    options.leave_out({"variant", "type", "op", "mode", "items", "set", "json"}, "explain --all explains everything");
    if (!options.given("out")) refuse("explain --all writes files: say where with --out DIR");
    return explain_all(output_folder(folder), quick, force, context);
  }
  if (!words.contains("variant")) refuse("explain takes a variant, as in 'scanlab explain hso_block --items 2048'");
  Selection selection = select_scans(words);
  if (selection.items.empty()) selection.items = {2048};
  std::vector<Case> cases = selection.cases();
  if (!words.contains("mode")) {
    for (Case& chosen : cases) chosen.problem.mode = chosen.variant->about.natural_mode;
  }
  if (device == "cuda") return explain_on_cuda(cases, output_file(csv, force), context);
  bool faults = false;
  Json all = Json::array();
  int explained = 0;
  for (const Case& chosen : cases) {
    if (const std::string reason = simt::unexplainable(chosen); !reason.empty()) {
      if (cases.size() == 1) throw CommandError(kBadInput, reason);
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
  if (explained == 0) {
    throw CommandError(kBadInput,
                       "none of the chosen cases can be explained: choose a variant of 'scanlab list' that "
                       "runs on the SIMT emulator, and a type that it takes");
  }
  if (json) context.out << (all.size() == 1 ? all[0] : all).dump(1) << "\n";
  return faults ? kFailed : kOk;
}

}  // namespace scanlab::cli
