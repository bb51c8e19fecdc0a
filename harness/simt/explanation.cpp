#include "harness/simt/explanation.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/host/clock.hpp"
#include "harness/host/host_array.hpp"
#include "harness/host/status.hpp"
#include "harness/simt/emulator.hpp"

namespace scanlab::simt {

using Json = nlohmann::ordered_json;

namespace {

/// Whole pages, or sector counts would be off. Zeros: counts do not depend on values.
HostArray zeros(std::size_t bytes) {
  if (!host_memory_holds(bytes)) {
    throw CommandError(kBadInput, fmt::format("there is no memory for an array of {} bytes", bytes));
  }
  HostArray memory = pageable_memory(bytes);
  std::fill_n(memory.get(), bytes, std::byte{0});
  return memory;
}

Json json_of(const BankCounts& banks) {
  return {{"max_degree", banks.max_degree},
          {"mean_degree", banks.mean_degree()},
          {"transactions", banks.transactions},
          {"groups", banks.groups}};
}

Json json_of(const Launch& launch) {
  Json steps = Json::array();
  for (const Step& step : launch.steps) {
    const Counts& c = step.counts;
    steps.push_back(
        {{"name", step.name},
         {"number", step.number},
         {"active_threads", c.active_threads},
         {"operations", c.operations},
         {"swaps", c.swaps},
         {"shared",
          {{"requests", c.shared_requests}, {"banks16", json_of(c.banks16)}, {"banks32", json_of(c.banks32)}}},
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

std::string degree(const BankCounts& banks) {
  return banks.groups == 0 ? "-" : fmt::format("{} ({:.2f})", banks.max_degree, banks.mean_degree());
}

std::string with_closed_form(std::int64_t counted, const Json& form) {
  if (form.is_null()) return fmt::format("{}", counted);
  const bool same = form.get<std::int64_t>() == counted;
  return fmt::format("{}  (closed form {}{})", counted, form.get<std::int64_t>(), same ? "" : ": they differ");
}

}  // namespace

std::string unexplainable(const Case& chosen) {
  const Variant& variant = *chosen.variant;
  if (!variant.backends.simt) {
    return fmt::format(
        "{} has no form for the SIMT emulator: it is {}, and is verified and timed on its own machine only",
        variant.about.id, variant.backends.host ? "host code" : "plain CUDA or a library");
  }
  return variant.bind(chosen.problem).plan.refusal;
}

Explanation explain(const Case& chosen) {
  const BoundScan bound = chosen.variant->bind(chosen.problem);
  const std::size_t bytes = chosen.problem.array_bytes();
  const HostArray in = zeros(bytes);
  const HostArray out = zeros(bytes);
  const HostArray workspace = zeros(bound.plan.workspace_bytes);
  const Segments& segments = chosen.problem.segments;
  const HostArray entries = zeros(segments.array_bytes(chosen.problem.items));
  for (std::int64_t i = 0; i < segments.entries(chosen.problem.items); ++i) {
    segments.write_entry(entries.get(), i, chosen.problem.items);
  }
  const HostArray unique = zeros(chosen.problem.unique_bytes());
  std::uint64_t count = 0;
  Emulator emulator;
  const Clock::time_point begin = Clock::now();
  try {
    bound.simt({in.get(), out.get(), workspace.get(), entries.get(), &count, unique.get()}, emulator);
  } catch (const LaunchFailure&) {
  }
  return {chosen, emulator.report(), seconds_since(begin)};
}

std::vector<Case> usual_cases(bool quick) {
  const std::vector<std::int64_t> sizes =
      quick ? std::vector<std::int64_t>{1024, 2048} : std::vector<std::int64_t>{1024, 2048, 1 << 16};
  std::vector<Case> all;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (!variant.backends.simt) continue;
    std::vector<Settings> every{{}};
    for (const Parameter& parameter : variant.about.parameters) {
      if (parameter.name != "padding" && parameter.name != "load") continue;
      for (const Settings& settings : std::exchange(every, {})) {
        for (const std::string& value : parameter.values) {
          every.push_back(settings);
          every.back()[parameter.name] = value;
        }
      }
    }
    for (const std::int64_t items : sizes) {
      for (const ElementType type : {ElementType::i32, ElementType::f64}) {
        for (const Settings& settings : every) {
          for (const Mode mode : {Mode::exclusive, Mode::inclusive}) {
            Problem problem{type, Operator::plus, mode, items, settings};
            if (variant.bind(problem).plan.possible()) all.push_back({&variant, std::move(problem)});
          }
        }
      }
    }
  }
  return all;
}

Json to_json(const Explanation& explanation) {
  const Problem& problem = explanation.explained_case.problem;
  const Description& about = explanation.explained_case.variant->about;
  Json parameters = Json::object();
  for (const Parameter& parameter : about.parameters) {
    parameters[parameter.name] = setting(about, problem.settings, parameter.name);
  }
  Json launches = Json::array();
  for (const Launch& launch : explanation.report.launches) launches.push_back(json_of(launch));
  Json faults = Json::array();
  for (const Fault& fault : explanation.report.faults) {
    faults.push_back({{"kind", name(fault.kind)},
                      {"kernel", fault.kernel},
                      {"where", fault.where},
                      {"message", fault.message},
                      {"occurrences", fault.occurrences}});
  }
  const Counts totals = explanation.report.totals();
  Json document{{"schema", "scanlab-explain/2"},
                {"primitive", name(about.primitive)},
                {"variant", about.id},
                {"title", about.title},
                {"unpadded", about.unpadded},
                {"type", name(problem.type)},
                {"op", name(problem.op)},
                {"mode", name(problem.mode)},
                {"items", problem.axis()},
                {"rows", problem.rows},
                {"inner", problem.inner},
                {"parameters", parameters},
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
                  {"banks16", json_of(totals.banks16)},
                  {"banks32", json_of(totals.banks32)}}},
                {"closed_forms",
                 {{"operations", closed_form(about.cost.operations, problem)},
                  {"swaps", closed_form(about.cost.swaps, problem)},
                  {"operations_text", about.cost.work},
                  {"traffic_text", about.cost.traffic}}},
                {"faults", faults}};
  add_segments(problem, document);
  return document;
}

void print_launches(const Report& report, std::ostream& out) {
  int number = 0;
  for (const Launch& launch : report.launches) {
    fmt::print(out, "\nlaunch {}: {}, {} blocks of {} threads, {} bytes of shared memory, {} barriers\n", ++number,
               launch.kernel, launch.blocks, launch.threads, launch.shared_bytes, launch.barriers);
    constexpr auto kRow = "  {:<18}{:>10}{:>12}{:>10}{:>10}{:>14}{:>14}{:>20}\n";
    fmt::print(out, kRow, "", "active", "", "", "shared", "conflicts:", "max (mean)", "global sectors,");
    fmt::print(out, kRow, "step", "threads", "operations", "swaps", "requests", "16 banks", "32 banks",
               "touched / ideal");
    for (const Step& step : launch.steps) {
      const Counts& c = step.counts;
      const std::string sectors =
          c.global_sectors == 0 ? "-" : fmt::format("{} / {}", c.global_sectors, c.global_ideal_sectors);
      fmt::print(out, kRow, step.label(), c.active_threads, c.operations, c.swaps, c.shared_requests, degree(c.banks16),
                 degree(c.banks32), sectors);
    }
  }
}

void print_faults(const Report& report, std::ostream& out) {
  if (report.faults.empty()) {
    fmt::print(out, "  faults          none: no race, no access out of bounds, no read of unwritten shared memory\n");
  }
  for (const Fault& fault : report.faults) {
    fmt::print(out, "  FAULT           {}: {} in {}: {} ({} times)\n", fault.where, name(fault.kind), fault.kernel,
               fault.message, fault.occurrences);
  }
}

void print(const Explanation& explanation, std::ostream& out) {
  const Problem& problem = explanation.explained_case.problem;
  const Description& about = explanation.explained_case.variant->about;
  const std::string rows = problem.rows == 1 ? "" : fmt::format("{} rows of ", problem.rows);
  const std::string inner = problem.inner == 1 ? "" : fmt::format(" in each of {} columns", problem.inner);
  fmt::print(out, "{}: {}\n{} of {}{} {} items{}, {}", about.id, about.title, name(problem.mode), rows, problem.axis(),
             name(problem.type), inner, name(problem.op));
  for (const Parameter& parameter : about.parameters) {
    fmt::print(out, ", {}={}", parameter.name, setting(about, problem.settings, parameter.name));
  }
  fmt::print(out, "\n");
  print_launches(explanation.report, out);
  const Counts totals = explanation.report.totals();
  fmt::print(out, "\ntotals\n  operations      {}\n  swaps           {}\n",
             with_closed_form(totals.operations, closed_form(about.cost.operations, problem)),
             with_closed_form(totals.swaps, closed_form(about.cost.swaps, problem)));
  fmt::print(out, "  barriers        {}\n  launches        {}\n", explanation.report.barriers(),
             explanation.report.launches.size());
  fmt::print(out, "  global memory   {} bytes read, {} written; {} sectors, {} ideal (a scan must move {} bytes)\n",
             totals.global_bytes_read, totals.global_bytes_written, totals.global_sectors, totals.global_ideal_sectors,
             problem.ideal_bytes());
  fmt::print(out, "  shared memory   {} requests; degree {} with 16 banks per half-warp, {} with 32 banks per warp\n",
             totals.shared_requests, degree(totals.banks16), degree(totals.banks32));
  print_faults(explanation.report, out);
  fmt::print(out, "  traced in {:.2f} s\n", explanation.seconds);
}

}  // namespace scanlab::simt
