// scanlab scenarios: what lectures draw of copies, kernels and queues, or scenario files of the user's, simulated; a
// timeline each. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <list>
#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/scenarios/scenario.hpp"

namespace scanlab::cli {

namespace {

void print(const simulator::Scenario& scenario, const simulator::Simulation& simulation, std::ostream& out) {
  fmt::print(out, "  {:<24} {:>6.2f} {:<5}  {}\n", scenario.id, 1e3 * simulation.timeline.makespan(), scenario.unit,
             scenario.fact);
}

}  // namespace

int scenarios(const std::vector<std::string>& arguments, Context& context) {
  Words paths;
  std::optional<std::string> out;
  bool force = false;
  Options options;
  options.files("file", File::read, paths, "simulate these TOML files; --file may be left out (default: the lectures')")
      .text("out", "DIR", out, "write each timeline to DIR/ID.json")
      .force(force)
      .positional("file", -1);
  if (!options.parse(arguments, context)) return kOk;

  std::vector<simulator::Scenario> read;
  if (!paths.empty()) read = simulator::read_scenarios(paths);
  const std::vector<simulator::Scenario>& all = paths.empty() ? simulator::built_in_scenarios() : read;
  std::list<WholeFile> files;  // all of them can be written, or none is begun
  if (out) {
    const std::filesystem::path folder = output_folder(*out);
    for (const simulator::Scenario& scenario : all) files.emplace_back(folder / (scenario.id + ".json"), force);
  }
  auto file = files.begin();
  std::string source;
  for (const simulator::Scenario& scenario : all) {
    if (source != scenario.source) fmt::print(context.out, "{}{}\n", source.empty() ? "" : "\n", scenario.source);
    source = scenario.source;
    const simulator::Simulation simulation = simulator::simulate(scenario);
    print(scenario, simulation, context.out);
    if (file != files.end())
      (file++)->write(trace_of(scenario, simulation, simulation_facts(scenario.device, context)).dump() + "\n");
  }
  if (!files.empty()) fmt::print(context.out, "\n{} timelines in {}\n", all.size(), *out);
  return kOk;
}

}  // namespace scanlab::cli
