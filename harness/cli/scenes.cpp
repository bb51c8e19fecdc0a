// scanlab scenes: the pictures that lectures draw by hand, simulated; a timeline each. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <list>
#include <nlohmann/json.hpp>

#include "harness/cli/simulate.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/simulator/scenes.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

namespace {

/// One more process of a trace: a lane a multiprocessor, an event a block.
void add_blocks(const simulator::Scene& scene, const simulator::Simulation& simulation, Json& events) {
  constexpr int kProcess = 4;
  const auto metadata = [&](const char* what, std::size_t lane, const std::string& name) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", lane}, {"args", {{"name", name}}}});
  };
  metadata("process_name", 0, "multiprocessors");
  for (int i = 0; i < scene.device.multiprocessors; ++i) {
    metadata("thread_name", static_cast<std::size_t>(i) + 1, fmt::format("SM {}", i));
  }
  for (const simulator::PlacedBlock& block : place_blocks(scene, simulation)) {
    const streams::Operation& kernel = scene.recording.operations[block.operation];
    events.push_back({{"name", describe(kernel)},
                      {"cat", name(streams::Engine::compute)},
                      {"ph", "X"},
                      {"pid", kProcess},
                      {"tid", block.slot + 1},
                      {"ts", 1e6 * block.when.start},
                      {"dur", 1e6 * block.when.seconds()},
                      {"args", {{"operation", block.operation}, {"stream", describe(kernel.stream)}}}});
  }
}

Json trace_of(const simulator::Scene& scene, const simulator::Simulation& simulation, const Context& context) {
  measure::Facts facts = simulation_facts(scene.device, context);
  facts["scene"] = scene.id;
  facts["title"] = scene.title;
  facts["fact"] = scene.fact;
  facts["source"] = scene.source;
  facts["machine"] = scene.device.title;
  facts["unit"] = scene.unit;
  facts["makespan_us"] = 1e6 * simulation.timeline.makespan();
  if (scene.shows_blocks()) facts["multiprocessors"] = scene.device.multiprocessors;
  Json trace = trace_events(simulation.timeline, facts);
  if (scene.shows_blocks()) add_blocks(scene, simulation, trace["traceEvents"]);
  return trace;
}

}  // namespace

int scenes(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()                                                                                         //
      ("out", po::value<std::string>()->value_name("DIR"), "where to write DIR/ID.json, the timeline of each")  //
      ("force", "replace files that are there")                                                                 //
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
    if (file != files.end()) (file++)->write(trace_of(scene, simulation, context).dump() + "\n");
  }
  if (!files.empty()) fmt::print(context.out, "\n{} timelines in {}\n", all.size(), values["out"].as<std::string>());
  return kOk;
}

}  // namespace scanlab::cli
