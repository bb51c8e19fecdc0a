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
int explain_on_cuda(const std::vector<Case>& cases, const po::variables_map& values, Context& context) {
  std::string why_not;
  if (!measure::device_facts(why_not)) {
    throw CommandError(kNoDevice, fmt::format("explain --device cuda needs a GPU: {}", why_not));
  }
  std::optional<WholeFile> file = output_file(values, "csv");
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
int explain_printed(const std::string& id, const po::variables_map& values, Context& context) {
  for (const char* other : {"variant", "type", "op", "mode", "set", "csv", "json", "all", "quick", "out"}) {
    if (values.count(other) != 0) {
      throw CommandError(kBadInput, fmt::format("--source-kernel is explained by itself: leave out --{}", other));
    }
  }
  if (values["device"].as<std::string>() != "simt") {
    throw CommandError(kBadInput, "--source-kernel runs on the executor alone: leave out --device");
  }
  if (id == "list") {
    simt::print_printed_kernels(context.out);
    return kOk;
  }
  const auto& registry = simt::PrintedKernelRegistry::instance();
  const simt::PrintedKernel* const kernel = registry.find(id);
  if (kernel == nullptr) unknown("printed kernel", id, registry.ids());
  constexpr std::int64_t kDefaultItems = 8;
  std::vector<std::int64_t> items = counts_of(said(values), "items");
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
  po::options_description options("options");
  add_selection_options(options, "2048");
  options.add_options()  //
      ("device", text("DEVICE")->default_value("simt"),
       "select simt (counts of the SIMT emulator) or cuda (stall cycles of each warp role)")  //
      ("csv", text("FILE"), "write the cycles of --device cuda to FILE as a table")           //
      ("source-kernel", text("NAME"),
       "examine a kernel as its source prints it, or 'list' the names. The output has the first wrong item (of 8, or "
       "--items), "
       "the fault by file and line, and the correction")                                  //
      ("json", "print JSON")                                                              //
      ("all", "explain every variant, padding and mode at a few n, into files in --out")  //
      ("quick", "use fewer n with --all")                                                 //
      ("out", text("DIR"), "write the files of --all to DIR")                             //
      ("force", "replace files that exist")                                               //
      ("help,h", "print this text");
  po::positional_options_description positional;
  positional.add("variant", 1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, command("explain"), context, values)) return kOk;
  if (const auto id = given<std::string>(values, "source-kernel")) return explain_printed(*id, values, context);
  const std::string device = parse_word(values, "device", {"simt", "cuda"});
  if (device == "cuda" && (values.count("all") != 0 || values.count("json") != 0)) {
    throw CommandError(
        kBadInput,
        "explain --device cuda takes no --json and no --all: it prints a table, or writes one with --csv FILE");
  }
  if (device == "simt" && values.count("csv") != 0) {
    throw CommandError(kBadInput, "--csv goes with explain --device cuda: add it, or leave out --csv");
  }
  if (values.count("all") == 0 && (values.count("out") != 0 || values.count("quick") != 0)) {
    throw CommandError(kBadInput, "--out and --quick go with explain --all: add it, or leave them out");
  }
  if (values.count("all") == 0 && values.count("csv") == 0) {
    refuse_options(values, {"force"}, "nothing is written; give --all or --csv FILE");
  }
  if (values.count("all") != 0) {
    for (const char* selector : {"variant", "type", "op", "mode", "items", "set", "json"}) {
      if (values.count(selector) != 0) {
        throw CommandError(kBadInput, fmt::format("explain --all explains everything: leave out --{}", selector));
      }
    }
    if (values.count("out") == 0) {
      throw CommandError(kBadInput, "explain --all writes files: say where with --out DIR");
    }
    return explain_all(output_folder(values), values.count("quick") != 0, values.count("force") != 0, context);
  }
  if (values.count("variant") == 0) {
    throw CommandError(kBadInput, "explain takes a variant, as in 'scanlab explain hso_block --items 2048'");
  }
  Selection selection = select_scans(said(values));
  if (selection.items.empty()) selection.items = {2048};
  std::vector<Case> cases = selection.cases();
  if (values.count("mode") == 0) {
    for (Case& chosen : cases) chosen.problem.mode = chosen.variant->about.natural_mode;
  }
  if (device == "cuda") {
    return explain_on_cuda(cases, values, context);
  }
  bool faults = false;
  Json all = Json::array();
  int explained = 0;
  for (const Case& chosen : cases) {
    if (const std::string why = simt::unexplainable(chosen); !why.empty()) {
      if (cases.size() == 1) throw CommandError(kBadInput, why);
      fmt::print(context.err, "skipped: {}\n", why);
      continue;
    }
    ++explained;
    const simt::Explanation explanation = simt::explain(chosen);
    faults = faults || !explanation.report.faults.empty();
    if (values.count("json") != 0) {
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
  if (values.count("json") != 0) context.out << (all.size() == 1 ? all[0] : all).dump(1) << "\n";
  return faults ? kFailed : kOk;
}

}  // namespace scanlab::cli
