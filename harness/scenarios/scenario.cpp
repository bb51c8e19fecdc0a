#include "harness/scenarios/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/schedule/facts.hpp"
#include "harness/simulator/model_run.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;

Simulation simulate(const Scenario& scenario) { return simulate(scenario.recording, scenario.device, scenario.costs); }

bool Scenario::shows_blocks() const {
  return device.slots(costs.threads_per_block) == device.multiprocessors && costs.partitions.empty() &&
         std::ranges::none_of(recording.operations, streams::is_copy) &&
         std::ranges::none_of(costs.operations, [](const OperationCost& cost) { return cost.share > 0; });
}

std::vector<PlacedBlock> place_blocks(const Scenario& scenario, const Simulation& simulation) {
  struct Waiting {
    std::size_t operation;
    Ticks start;
    std::int64_t blocks;
  };
  const auto cost = [&](const Waiting& kernel) -> const OperationCost& {
    return scenario.costs.operations[kernel.operation];
  };
  std::vector<Waiting> kernels;
  for (const streams::Span& span : simulation.timeline.spans) {
    const std::int64_t blocks = scenario.costs.operations[span.operation].blocks;
    if (blocks > 0) kernels.push_back({span.operation, ticks(span.when.start), blocks});
  }
  std::ranges::stable_sort(kernels, {}, &Waiting::start);
  std::vector<Ticks> free_from(static_cast<std::size_t>(scenario.device.slots(scenario.costs.threads_per_block)));
  std::vector<PlacedBlock> blocks;
  while (!kernels.empty()) {
    const Ticks now = std::max(std::ranges::min(free_from), kernels.front().start);
    const auto begun = std::ranges::upper_bound(kernels, now, {}, &Waiting::start);
    const auto kernel =
        std::ranges::min_element(kernels.begin(), begun, {}, [&](const Waiting& each) { return cost(each).priority; });
    const auto slot = std::ranges::min_element(free_from, {}, [&](Ticks free) { return std::max(free, now); });
    *slot = now + ticks(cost(*kernel).block_seconds);
    blocks.push_back(
        {kernel->operation, static_cast<std::size_t>(slot - free_from.begin()), {seconds(now), seconds(*slot)}});
    if (--kernel->blocks == 0) kernels.erase(kernel);
  }
  return blocks;
}

namespace {

/// One more process of a trace: a lane a multiprocessor, an event a block.
void add_blocks(const Scenario& scenario, const Simulation& simulation, Json& events) {
  constexpr int kProcess = 4;
  const auto metadata = [&](const char* what, std::size_t lane, const std::string& name) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", lane}, {"args", {{"name", name}}}});
  };
  metadata("process_name", 0, "multiprocessors");
  events.back()["args"]["kind"] = "multiprocessors";
  for (int i = 0; i < scenario.device.multiprocessors; ++i) {
    metadata("thread_name", static_cast<std::size_t>(i) + 1, fmt::format("SM {}", i));
  }
  for (const PlacedBlock& block : place_blocks(scenario, simulation)) {
    const streams::Operation& kernel = scenario.recording.operations[block.operation];
    events.push_back({{"name", describe(kernel)},
                      {"cat", name(streams::Engine::compute)},
                      {"ph", "X"},
                      {"pid", kProcess},
                      {"tid", block.slot + 1},
                      {"ts", 1e6 * block.when.start},
                      {"dur", 1e6 * block.when.seconds()},
                      {"args", streams::facts_of(scenario.recording, block.operation)}});
  }
}

}  // namespace

Json trace_of(const Scenario& scenario, const Simulation& simulation, Json facts) {
  facts["scenario"] = scenario.id;
  facts["title"] = scenario.title;
  facts["fact"] = scenario.fact;
  facts["source"] = scenario.source;
  facts["machine"] = scenario.device.title;
  facts["unit"] = scenario.unit;
  facts["makespan_us"] = 1e6 * simulation.timeline.makespan();
  if (scenario.shows_blocks()) facts["multiprocessors"] = scenario.device.multiprocessors;
  Json trace = streams::trace_events(simulation.timeline, facts);
  if (scenario.shows_blocks()) add_blocks(scenario, simulation, trace["traceEvents"]);
  return trace;
}

}  // namespace scanlab::simulator
