#include "harness/implicit_sync/concurrency.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "harness/core/median.hpp"
#include "harness/cuda/hardware_queues.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"

namespace scanlab::streams {

using Json = nlohmann::ordered_json;

std::vector<SmallGrids> staircase(std::int64_t slots) {
  // Divisors of the slots fill waves to the last block; one block more makes a tail of one.
  std::set<std::int64_t> blocks{1, slots / 8, slots / 4, slots / 3, slots / 2, slots / 2 + 1, slots, slots + 1};
  std::erase_if(blocks, [](std::int64_t count) { return count < 1; });
  std::vector<SmallGrids> all;
  for (std::int64_t streams = 1; streams <= kMaxStreams; streams *= 2) {
    for (const std::int64_t count : blocks) all.push_back({.streams = streams, .kernels = 1, .blocks = count});
  }
  all.push_back({.streams = 4, .kernels = 3, .blocks = std::max<std::int64_t>(1, slots / 16)});
  return all;
}

std::vector<SmallGrids> every_grid(const std::vector<std::int64_t>& streams, const std::vector<std::int64_t>& kernels,
                                   const std::vector<std::int64_t>& blocks) {
  std::vector<SmallGrids> all;
  for (const std::int64_t stream_count : streams) {
    for (const std::int64_t in_each : kernels) {
      if (stream_count * in_each > kMaxKernels) {
        throw CommandError(kBadInput, fmt::format("{} streams of {} kernels are {}: at most {} can be issued ahead of "
                                                  "the device; choose fewer",
                                                  stream_count, in_each, stream_count * in_each, kMaxKernels));
      }
      for (const std::int64_t count : blocks) {
        all.push_back({.streams = stream_count, .kernels = in_each, .blocks = count});
      }
    }
  }
  return all;
}

Json to_json(const MeasuredGrids& measured, const ConcurrencySettings& settings, const Room& room, int connections) {
  const SmallGrids& grids = measured.grids;
  return {{"streams", grids.streams},
          {"kernels", grids.kernels},
          {"blocks", grids.blocks},
          {"threads", settings.threads},
          {"shared_bytes", room.shared_bytes},
          {"blocks_per_multiprocessor", settings.blocks_per_multiprocessor},
          {"slots", room.slots},
          {"connections", connections},
          {"block_seconds_asked", settings.block_seconds},
          {"block_seconds", measured.block_seconds},
          {"waves", waves(grids.total_blocks(), room.slots)},
          {"fluid_seconds", fluid_seconds(grids, room.slots, measured.block_seconds)},
          {"predicted_seconds", makespan_seconds(grids, room.slots, connections, measured.block_seconds)},
          {"serial_seconds", serial_seconds(grids, room.slots, measured.block_seconds)},
          {"makespan_seconds", measured.makespans}};
}

#ifdef SCANLAB_WITH_CUDA
Json measure_cases(const ConcurrencySettings& settings, std::vector<SmallGrids> grids) try {
  const Room room = room_for(settings);
  if (grids.empty()) grids = staircase(room.slots);
  Json cases = Json::array();
  for (const SmallGrids& each : grids) {
    cases.push_back(to_json(measure_grids(each, settings, room), settings, room, cuda::connections()));
  }
  return cases;
} catch (const std::invalid_argument& error) {
  throw CommandError(kBadInput, fmt::format("{}; choose other --threads", error.what()));
}
#else
// NOLINTNEXTLINE(performance-unnecessary-value-param): as the form with CUDA takes them
Json measure_cases(const ConcurrencySettings&, std::vector<SmallGrids>) {
  throw CommandError(kNoDevice, "this build has no CUDA: ./check and ./reproduce make one that has");
}
#endif

Json measure_cases_with(std::int64_t connections, const std::vector<std::string>& command) {
  const FreshProcess process =
      run_in_fresh_process(command, {{cuda::kConnectionsVariable, std::to_string(connections)}});
  Json cases = Json::parse(process.out, nullptr, /*allow_exceptions=*/false);
  if (process.status == kOk && cases.is_array()) return cases;
  if (interrupted()) return Json::array();  // Ctrl-C ends that process, too
  throw CommandError(
      process.status == kBadInput ? kBadInput : kFailed,
      fmt::format("the process for {} connections ended with status {} and no result", connections, process.status));
}

void print(const nlohmann::ordered_json& cases, const std::vector<std::int64_t>& connections, std::ostream& out) {
  if (cases.empty()) return;
  fmt::print(out, "{} slots, blocks of {:.3f} ms; makespan in ms, measured (median) and by the formula\n\n",
             cases[0]["slots"].get<std::int64_t>(), 1e3 * cases[0]["block_seconds"].get<double>());
  fmt::print(out, "{:>8}{:>8}{:>8}{:>7}{:>8}", "streams", "kernels", "blocks", "waves", "tail");
  for (const std::int64_t count : connections) fmt::print(out, "{:>22}", fmt::format("{} queues", count));
  fmt::print(out, "\n");
  const auto same_grids = [](const auto& grids, const auto& other) {
    return grids["streams"] == other["streams"] && grids["kernels"] == other["kernels"] &&
           grids["blocks"] == other["blocks"];
  };
  for (const auto& first : cases) {
    if (first["connections"] != connections.front()) continue;
    const auto slots = first["slots"].get<std::int64_t>();
    const SmallGrids grids{.streams = first["streams"], .kernels = first["kernels"], .blocks = first["blocks"]};
    const std::int64_t waves = streams::waves(grids.total_blocks(), slots);
    const std::int64_t tail = grids.total_blocks() - (waves - 1) * slots;
    fmt::print(out, "{:>8}{:>8}{:>8}{:>7}{:>7.0f}%", grids.streams, grids.kernels, grids.blocks, waves,
               100.0 * static_cast<double>(tail) / static_cast<double>(slots));
    for (const std::int64_t count : connections) {
      for (const auto& each : cases) {
        if (each["connections"] != count || !same_grids(each, first)) continue;
        fmt::print(out, "{:>11.3f}{:>11.3f}", 1e3 * median(each["makespan_seconds"].get<std::vector<double>>()),
                   1e3 * each["predicted_seconds"].get<double>());
      }
    }
    fmt::print(out, "\n");
  }
}

}  // namespace scanlab::streams
