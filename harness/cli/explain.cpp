// scanlab explain: what a variant does, step by step, counted on the SIMT emulator; or, on a GPU, where its cycles go.
#include "harness/simt/explanation.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/command.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

namespace {

/// With the code that counted, and when.
Json document(const simt::Explanation& explanation) {
  Json all = to_json(explanation);
  const measure::Facts build = measure::build_facts();
  all["git_commit"] = build["git_commit"];
  all["git_dirty"] = build["git_dirty"] == "true";
  all["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return all;
}

void write_file(const std::filesystem::path& path, const std::string& text) { WholeFile(path, true).write(text); }

/// Every variant that has an executor form, with every value of its padding, at the sizes that figures use.
int explain_all(const std::filesystem::path& directory, bool quick, Context& context) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  write_file(directory / ".writable", "");  // said before any work
  std::filesystem::remove(directory / ".writable");
  bool faults = false;
  int files = 0;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (!variant.machines.simt) continue;
    std::vector<Settings> every{{}};
    for (const Parameter& parameter : variant.about.parameters) {
      if (parameter.name != "padding" && parameter.name != "load") continue;
      std::vector<Settings> wider;
      for (const Settings& settings : every) {
        for (const std::string& value : parameter.values) {
          wider.push_back(settings);
          wider.back()[parameter.name] = value;
        }
      }
      every = std::move(wider);
    }
    for (const std::int64_t items :
         quick ? std::vector<std::int64_t>{1024, 2048} : std::vector<std::int64_t>{1024, 2048, 1 << 16}) {
      for (const ElementType type : {ElementType::i32, ElementType::f64}) {
        for (const Settings& settings : every) {
          for (const Mode mode : {Mode::exclusive, Mode::inclusive}) {
            const Problem problem{type, Operator::plus, mode, items, settings};
            if (!variant.bind(problem).plan.possible()) continue;
            std::string file = fmt::format("{}-{}-{}-{}", id, name(type), name(mode), items);
            for (const auto& [key, value] : settings) file += "-" + value;
            const simt::Explanation explanation = simt::explain({&variant, problem});
            faults = faults || !explanation.report.faults.empty();
            write_file(directory / (file + ".json"), document(explanation).dump(1) + "\n");
            ++files;
          }
        }
      }
    }
    fmt::print(context.err, "explained {}\n", id);
  }
  fmt::print(context.out, "{} explanations in {}\n", files, directory.string());
  return faults ? kFailed : kOk;
}

std::string tile(const Case& chosen) {
  for (const Parameter& parameter : chosen.variant->about.parameters) {
    if (parameter.name == "tile") return setting(chosen.variant->about, chosen.problem.settings, "tile");
  }
  return "";
}

void print(const Case& chosen, const std::vector<RoleCycles>& roles, std::ostream& out) {
  fmt::print(out, "{}\n", case_name(chosen.variant->about, chosen.problem));
  for (const RoleCycles& role : roles) {
    fmt::print(out, "  {:<12}", role.role);
    double rest = role.total;  // work, and the waits for a ticket and for the kernel before, which are not told from it
    for (const auto& [what, cycles] : role.waiting) {
      fmt::print(out, "waits for {} {:>5.1f} %   ", what, 100 * cycles / role.total);
      rest -= cycles;
    }
    fmt::print(out, "rest {:>5.1f} %\n", 100 * rest / role.total);
  }
}

/// Runs each case in its instrumented form, prints a table, and writes `csv`, unless empty: one row a case and role.
int explain_on_cuda(const std::vector<Case>& cases, const std::string& csv, Context& context) {
  std::string why_not;
  const std::optional<measure::Facts> device = measure::device_facts(why_not);
  if (!device) throw CommandError(kNoDevice, fmt::format("explain --device cuda needs a GPU: {}", why_not));
  std::optional<WholeFile> file;
  if (!csv.empty()) file.emplace(csv, true);
  std::string rows;
  for (const Case& chosen : cases) {
    const BoundScan scan = chosen.variant->bind(chosen.problem);
    if (!scan.cuda_watch || chosen.problem.items == 0) {
      fmt::print(context.err, "skipped: {}: {}\n", case_name(chosen.variant->about, chosen.problem),
                 scan.plan.possible() ? "it has no form that watches its warps" : scan.plan.refusal);
      continue;
    }
    const std::vector<RoleCycles> roles = simt::watch(scan, chosen.problem);
    print(chosen, roles, context.out);
    if (rows.empty()) {
      rows = "variant,tile,items,type,role,cycles_total";
      for (const auto& [what, cycles] : roles.front().waiting) rows += ",cycles_waiting_" + what;
      rows += "\n";
    }
    for (const RoleCycles& role : roles) {
      rows += fmt::format("{},{},{},{},{},{}", chosen.variant->about.id, tile(chosen), chosen.problem.items,
                          name(chosen.problem.type), role.role, role.total);
      for (const auto& [what, cycles] : role.waiting) rows += fmt::format(",{}", cycles);
      rows += "\n";
    }
  }
  if (rows.empty()) {
    throw CommandError(kBadInput,
                       "none of the chosen cases can be explained on a GPU; look_ahead can, for i32 and f32 sums");
  }
  if (file) file->write(rows);
  return kOk;
}

}  // namespace

int explain(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  add_selection_options(options, "2048");
  options.add_options()("device", po::value<std::string>()->default_value("simt")->value_name("DEVICE"),
                        "simt: counts on the CPU executor; cuda: where the warps of each role spend their cycles")(
      "csv", po::value<std::string>()->value_name("FILE"), "with --device cuda: the cycles as a table")(
      "json", "as JSON")("all", "every variant, padding and mode at a few n, to files in --out")(
      "quick", "with --all: fewer n")("out", po::value<std::string>()->value_name("DIR"), "with --all: where")(
      "help,h", "this text");
  po::positional_options_description positional;
  positional.add("variant", 1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, command("explain"), context, values)) return kOk;
  const std::string device = values["device"].as<std::string>();
  if (device != "simt" && device != "cuda") {
    throw CommandError(kBadInput, fmt::format("--device takes simt or cuda, not '{}'", device));
  }
  if (device == "cuda" && (values.count("all") != 0 || values.count("json") != 0)) {
    throw CommandError(kBadInput, "explain --device cuda prints a table, or writes one with --csv FILE");
  }
  if (device == "simt" && values.count("csv") != 0) {
    throw CommandError(kBadInput, "--csv goes with explain --device cuda");
  }
  if (values.count("all") == 0 && (values.count("out") != 0 || values.count("quick") != 0)) {
    throw CommandError(kBadInput, "--out and --quick go with explain --all");
  }
  if (values.count("all") != 0) {
    for (const char* selector : {"variant", "type", "op", "mode", "items", "set", "json"}) {
      if (values.count(selector) != 0) {
        throw CommandError(kBadInput, fmt::format("explain --all explains everything: leave out --{}", selector));
      }
    }
    if (values.count("out") == 0 || values["out"].as<std::string>().empty()) {
      throw CommandError(kBadInput, "explain --all writes files: say where with --out DIR");
    }
    return explain_all(values["out"].as<std::string>(), values.count("quick") != 0, context);
  }
  if (values.count("variant") == 0) {
    throw CommandError(kBadInput, "explain takes a variant, as in 'scanlab explain hso_block --items 2048'");
  }
  Selection selection = read_selection(values);
  if (selection.items.empty()) selection.items = {2048};
  std::vector<Case> cases = selection.cases();
  if (values.count("mode") == 0) {
    for (Case& chosen : cases) chosen.problem.mode = chosen.variant->about.natural_mode;
  }
  if (device == "cuda") {
    return explain_on_cuda(cases, values.count("csv") != 0 ? values["csv"].as<std::string>() : "", context);
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
  if (explained == 0) throw CommandError(kBadInput, "none of the chosen cases can be explained");
  if (values.count("json") != 0) context.out << (all.size() == 1 ? all[0] : all).dump(1) << "\n";
  return faults ? kFailed : kOk;
}

}  // namespace scanlab::cli
