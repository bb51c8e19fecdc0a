// scanlab explain: what a variant does, step by step, counted on the CPU executor; or, on a GPU, where its cycles go.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/command.hpp"
#include "harness/cli/explain_cuda.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/memory.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/simt/executor.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kSchema = "scanlab-explain/1";

/// Memory aligned as cudaMalloc aligns it, or sector counts would be off. Zeros: counts do not depend on values.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes)
      : data_(host_memory_holds(bytes) ? std::aligned_alloc(256, (bytes + 256) / 256 * 256) : nullptr, std::free) {
    if (data_ == nullptr)
      throw CommandError(kBadInput, fmt::format("there is no memory for an array of {} bytes", bytes));
    std::fill_n(static_cast<unsigned char*>(data_.get()), (bytes + 256) / 256 * 256, static_cast<unsigned char>(0));
  }
  void* get() const { return data_.get(); }

 private:
  std::unique_ptr<void, decltype(&std::free)> data_;
};

struct Explanation {
  const Variant* variant;
  Problem problem;
  simt::Report report;
  double seconds = 0;
};

/// Why a case cannot be explained, or empty.
std::string unexplainable(const Case& chosen) {
  const Variant& variant = *chosen.variant;
  if (!variant.machines.simt) {
    return fmt::format("{} has no executor form: it is {}, and is verified and timed on its own machine only",
                       variant.about.id, variant.machines.host ? "host code" : "plain CUDA or a library");
  }
  return variant.bind(chosen.problem).plan.refusal;
}

/// Runs a case on the executor, tracing. A fault that stops a launch is in the report like any other.
Explanation explain_case(const Case& chosen) {
  const BoundScan bound = chosen.variant->bind(chosen.problem);
  const std::size_t bytes =
      static_cast<std::size_t>(chosen.problem.items) * item_bytes(chosen.problem.type, chosen.problem.op);
  const AlignedBytes in(bytes);
  const AlignedBytes out(bytes);
  const AlignedBytes workspace(bound.plan.workspace_bytes);
  simt::Executor executor;
  const auto begin = std::chrono::steady_clock::now();
  try {
    bound.simt({in.get(), out.get(), workspace.get()}, executor);
  } catch (const simt::LaunchFailure&) {
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return {chosen.variant, chosen.problem, executor.report(), elapsed.count()};
}

Json to_json(const simt::BankCounts& banks) {
  return {{"max_degree", banks.max_degree},
          {"mean_degree", banks.mean_degree()},
          {"transactions", banks.transactions},
          {"groups", banks.groups}};
}

Json to_json(const simt::Launch& launch) {
  Json steps = Json::array();
  for (const simt::Step& step : launch.steps) {
    const simt::Counts& c = step.counts;
    steps.push_back(
        {{"label", step.label},
         {"active_threads", c.active_threads},
         {"operations", c.operations},
         {"swaps", c.swaps},
         {"shared",
          {{"requests", c.shared_requests}, {"banks16", to_json(c.banks16)}, {"banks32", to_json(c.banks32)}}},
         {"global",
          {{"bytes", c.global_bytes_read + c.global_bytes_written},
           {"sectors", c.global_sectors},
           {"ideal_sectors", c.global_ideal_sectors}}}});
  }
  return {{"kernel", launch.kernel},     {"blocks", launch.blocks},
          {"threads", launch.threads},   {"shared_bytes", launch.shared_bytes},
          {"barriers", launch.barriers}, {"steps", steps}};
}

/// The closed form's value, or null where the variant states none for this n.
Json closed_form(const std::function<std::optional<std::int64_t>(const Problem&)>& form, const Problem& problem) {
  const std::optional<std::int64_t> value = form ? form(problem) : std::nullopt;
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Explanation& explanation) {
  const Problem& problem = explanation.problem;
  const Description& about = explanation.variant->about;
  Json parameters = Json::object();
  for (const Parameter& parameter : about.parameters) {
    parameters[parameter.name] = setting(about, problem.settings, parameter.name);
  }
  Json launches = Json::array();
  for (const simt::Launch& launch : explanation.report.launches) launches.push_back(to_json(launch));
  Json faults = Json::array();
  for (const simt::Fault& fault : explanation.report.faults) {
    faults.push_back({{"kind", simt::name(fault.kind)},
                      {"kernel", fault.kernel},
                      {"where", fault.where},
                      {"message", fault.message},
                      {"occurrences", fault.occurrences}});
  }
  const simt::Counts totals = explanation.report.totals();
  return {{"schema", kSchema},
          {"variant", about.id},
          {"title", about.title},
          {"type", name(problem.type)},
          {"op", name(problem.op)},
          {"mode", name(problem.mode)},
          {"items", problem.items},
          {"parameters", parameters},
          {"git_commit", measure::build_facts()["git_commit"]},
          {"git_dirty", measure::build_facts()["git_dirty"] == "true"},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"launches", launches},
          {"totals",
           {{"launches", explanation.report.launches.size()},
            {"operations", totals.operations},
            {"swaps", totals.swaps},
            {"barriers", explanation.report.barriers()},
            {"global_bytes_read", totals.global_bytes_read},
            {"global_bytes_written", totals.global_bytes_written},
            {"global_sectors", totals.global_sectors},
            {"global_ideal_sectors", totals.global_ideal_sectors},
            {"shared_requests", totals.shared_requests},
            {"banks16", to_json(totals.banks16)},
            {"banks32", to_json(totals.banks32)}}},
          {"closed_forms",
           {{"operations", closed_form(about.cost.operations, problem)},
            {"swaps", closed_form(about.cost.swaps, problem)},
            {"operations_text", about.cost.work},
            {"traffic_text", about.cost.traffic}}},
          {"faults", faults}};
}

std::string degree(const simt::BankCounts& banks) {
  return banks.groups == 0 ? "-" : fmt::format("{} ({:.2f})", banks.max_degree, banks.mean_degree());
}

std::string beside(std::int64_t counted, const Json& form) {
  if (form.is_null()) return fmt::format("{}", counted);
  const bool same = form.get<std::int64_t>() == counted;
  return fmt::format("{}  (closed form {}{})", counted, form.get<std::int64_t>(), same ? "" : ": they differ");
}

void print(const Explanation& explanation, std::ostream& out) {
  const Problem& problem = explanation.problem;
  const Description& about = explanation.variant->about;
  fmt::print(out, "{}: {}\n{} of {} {} items, {}", about.id, about.title, name(problem.mode), problem.items,
             name(problem.type), name(problem.op));
  for (const Parameter& parameter : about.parameters) {
    fmt::print(out, ", {}={}", parameter.name, setting(about, problem.settings, parameter.name));
  }
  fmt::print(out, "\n");
  int number = 0;
  for (const simt::Launch& launch : explanation.report.launches) {
    fmt::print(out, "\nlaunch {}: {}, {} blocks of {} threads, {} bytes of shared memory, {} barriers\n", ++number,
               launch.kernel, launch.blocks, launch.threads, launch.shared_bytes, launch.barriers);
    constexpr auto kRow = "  {:<18}{:>10}{:>12}{:>10}{:>10}{:>14}{:>14}{:>20}\n";
    fmt::print(out, kRow, "", "active", "", "", "shared", "conflicts:", "max (mean)", "global sectors,");
    fmt::print(out, kRow, "step", "threads", "operations", "swaps", "requests", "16 banks", "32 banks",
               "touched / ideal");
    for (const simt::Step& step : launch.steps) {
      const simt::Counts& c = step.counts;
      const std::string sectors =
          c.global_sectors == 0 ? "-" : fmt::format("{} / {}", c.global_sectors, c.global_ideal_sectors);
      fmt::print(out, kRow, step.label, c.active_threads, c.operations, c.swaps, c.shared_requests, degree(c.banks16),
                 degree(c.banks32), sectors);
    }
  }
  const simt::Counts totals = explanation.report.totals();
  fmt::print(out, "\ntotals\n  operations      {}\n  swaps           {}\n",
             beside(totals.operations, closed_form(about.cost.operations, problem)),
             beside(totals.swaps, closed_form(about.cost.swaps, problem)));
  fmt::print(out, "  barriers        {}\n  launches        {}\n", explanation.report.barriers(),
             explanation.report.launches.size());
  fmt::print(out, "  global memory   {} bytes read, {} written; {} sectors, {} ideal (a scan must move {} bytes)\n",
             totals.global_bytes_read, totals.global_bytes_written, totals.global_sectors, totals.global_ideal_sectors,
             problem.ideal_bytes());
  fmt::print(out, "  shared memory   {} requests; degree {} with 16 banks a half-warp, {} with 32 banks a warp\n",
             totals.shared_requests, degree(totals.banks16), degree(totals.banks32));
  if (explanation.report.faults.empty()) {
    fmt::print(out, "  faults          none: no race, no access out of bounds, no read of unwritten shared memory\n");
  }
  for (const simt::Fault& fault : explanation.report.faults) {
    fmt::print(out, "  FAULT           {}: {} in {}: {} ({} times)\n", fault.where, simt::name(fault.kind),
               fault.kernel, fault.message, fault.occurrences);
  }
  fmt::print(out, "  traced in {:.2f} s\n", explanation.seconds);
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
            const Explanation explanation = explain_case({&variant, problem});
            faults = faults || !explanation.report.faults.empty();
            write_file(directory / (file + ".json"), to_json(explanation).dump(1) + "\n");
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
    if (const std::string why = unexplainable(chosen); !why.empty()) {
      if (cases.size() == 1) throw CommandError(kBadInput, why);
      fmt::print(context.err, "skipped: {}\n", why);
      continue;
    }
    ++explained;
    const Explanation explanation = explain_case(chosen);
    faults = faults || !explanation.report.faults.empty();
    if (values.count("json") != 0) {
      all.push_back(to_json(explanation));
    } else {
      print(explanation, context.out);
    }
  }
  if (explained == 0) throw CommandError(kBadInput, "none of the chosen cases can be explained");
  if (values.count("json") != 0) context.out << (all.size() == 1 ? all[0] : all).dump(1) << "\n";
  return faults ? kFailed : kOk;
}

}  // namespace scanlab::cli
