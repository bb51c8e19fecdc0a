// scanlab scenarios: what lectures draw of copies, kernels and queues, or scenario files of the user's, simulated; a
// timeline each. Needs no device.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <list>
#include <nlohmann/json.hpp>

#include "harness/cli/simulate.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/scenarios/scenario_file.hpp"

namespace scanlab::cli {

namespace {

constexpr char kNotes[] =
    "FILE.toml has one scenario or more. The default scenarios are those of lectures, in data/scenarios/, to copy\n"
    "from. data/README.md lists every key. This is a whole file:\n"
    "\n"
    "    [[scenario]]\n"
    "    title = \"Three tasks share one copy engine\"\n"
    "    device = {profile = \"didactic\", copy_engines = [[\"in\", \"out\"]], hardware_queues = 1}\n"
    "    job = {schedule = \"depth_first\", chunks = 3, streams = 3, blocks = 6, h2d_ms = 3, kernel_ms = 3, d2h_ms = "
    "3}\n"
    "\n"
    "In place of job, operations in issue order; a kernel without blocks fills the device. The host waits in\n"
    "synchronize, for a stream, an event or the device:\n"
    "\n"
    "    operations = [\n"
    "      {stream = 0, kind = \"h2d\", bytes = \"64MiB\", gb_per_s = 25, label = \"A\"},\n"
    "      {stream = 0, kind = \"record\", event = \"copied\"},\n"
    "      {stream = 1, kind = \"wait\", event = \"copied\"},\n"
    "      {stream = 1, kind = \"kernel\", ms = 4, blocks = 6, label = \"f(A)\", priority = -1},\n"
    "      {stream = 0, kind = \"memset\", bytes = \"64MiB\"},\n"
    "      {kind = \"synchronize\", stream = 1},\n"
    "      {stream = 1, kind = \"d2h\", ms = 2},\n"
    "    ]\n";

void print(const simulator::Scenario& scenario, const simulator::Simulation& simulation, std::ostream& out) {
  fmt::print(out, "  {:<24} {:>6.2f} {:<5}  {}\n", scenario.id, 1e3 * simulation.timeline.makespan(), scenario.unit,
             scenario.fact);
}

}  // namespace

int scenarios(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()  //
      ("file", po::value<std::vector<std::string>>()->value_name("FILE.toml …"),
       "simulate these scenario files; --file may be left out (default: the lectures' scenarios)")  //
      ("out", text("DIR"), "write each timeline to DIR/ID.json")                                    //
      ("force", "replace files that exist")                                                         //
      ("help,h", "print this text");
  po::positional_options_description positional;
  positional.add("file", -1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, command("scenarios"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }

  std::vector<simulator::Scenario> read;
  if (values.count("file") != 0) read = simulator::read_scenarios(values["file"].as<std::vector<std::string>>());
  const std::vector<simulator::Scenario>& all = values.count("file") != 0 ? read : simulator::built_in_scenarios();
  std::list<WholeFile> files;  // all of them can be written, or none is begun
  if (values.count("out") != 0) {
    const std::filesystem::path folder = output_folder(values);
    for (const simulator::Scenario& scenario : all)
      files.emplace_back(folder / (scenario.id + ".json"), values.count("force") != 0);
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
  if (!files.empty()) fmt::print(context.out, "\n{} timelines in {}\n", all.size(), values["out"].as<std::string>());
  return kOk;
}

}  // namespace scanlab::cli
