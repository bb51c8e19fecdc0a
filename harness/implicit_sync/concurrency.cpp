#include "harness/implicit_sync/concurrency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/cuda/hardware_queues.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"

namespace scanlab::streams {

using Json = nlohmann::ordered_json;

std::vector<SmallGrids> staircase(std::int64_t slots) {
  // Divisors of the slots fill waves to the last block; one block more makes a tail of one.
  std::vector<std::int64_t> blocks{1, slots / 8, slots / 4, slots / 3, slots / 2, slots / 2 + 1, slots, slots + 1};
  std::erase_if(blocks, [](std::int64_t count) { return count < 1; });
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

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

}  // namespace scanlab::streams
