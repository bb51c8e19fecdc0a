// scanlab scenes: the pictures that lectures draw by hand, simulated; a timeline each. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <list>
#include <nlohmann/json.hpp>

#include "harness/cli/simulate.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/simulator/scenes.hpp"

namespace scanlab::cli {

int scenes(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()                                                         //
      ("out", text("DIR"), "where to write DIR/ID.json, the timeline of each")  //
      ("force", "replace files that are there")                                 //
      ("help,h", "this text");
  po::variables_map values;
  if (!parse_options(arguments, options, {}, command("scenes"), context, values)) return kOk;

  const std::vector<simulator::Scene>& all = simulator::scenes();
  std::list<WholeFile> files;  // all of them can be written, or none is begun
  if (values.count("out") != 0) {
    const std::filesystem::path folder = values["out"].as<std::string>();
    for (const simulator::Scene& scene : all)
      files.emplace_back(folder / (scene.id + ".json"), values.count("force") != 0);
  }
  auto file = files.begin();
  std::string source;
  for (const simulator::Scene& scene : all) {
    if (source != scene.source) fmt::print(context.out, "{}{}\n", source.empty() ? "" : "\n", scene.source);
    source = scene.source;
    const simulator::Simulation simulation = simulator::simulate(scene);
    fmt::print(context.out, "  {:<24} {:>6.2f} {:<5}  {}\n", scene.id, 1e3 * simulation.timeline.makespan(), scene.unit,
               scene.fact);
    if (file != files.end())
      (file++)->write(trace_of(scene, simulation, simulation_facts(scene.device, context)).dump() + "\n");
  }
  if (!files.empty()) fmt::print(context.out, "\n{} timelines in {}\n", all.size(), values["out"].as<std::string>());
  return kOk;
}

}  // namespace scanlab::cli
