#include "harness/simulator/bounds.hpp"

#include <algorithm>
#include <limits>

#include "harness/simulator/block_waves.hpp"

namespace scanlab::simulator {

namespace {

using streams::OperationKind;

/// Seconds that kernels take at least, whatever runs beside them.
struct Least {
  double all = 0;      ///< of the device, for all of them
  double of_each = 0;  ///< of the shortest
};

Least least_kernels(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs) {
  const std::int64_t slots = device.slots(costs.threads_per_block);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::int64_t blocks = 0;
  double of_slots = 0;
  double of_device = 0;
  double shortest_block = kNone;
  double shortest = kNone;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    if (recording.operations[i].kind != OperationKind::kernel) continue;
    const OperationCost& cost = costs.operations[i];
    const auto count = static_cast<double>(cost.blocks);
    const double share = cost.share / static_cast<double>(std::min(cost.blocks, slots));
    const double block = cost.block_seconds * (1 - cost.spread);
    blocks += cost.blocks;
    of_slots += count * cost.block_seconds / static_cast<double>(slots);
    of_device += count * cost.block_seconds * share;
    shortest_block = std::min(shortest_block, block);
    shortest = std::min(shortest, std::max(static_cast<double>(streams::waves(cost.blocks, slots)) * block,
                                           count * cost.block_seconds * share));
  }
  if (blocks == 0) return {};
  return {.all = std::max({of_slots, of_device, static_cast<double>(streams::waves(blocks, slots)) * shortest_block}),
          .of_each = shortest};
}

/// Whether a copy in and a copy out can run at once.
bool copies_both_ways(const DeviceProfile& device) {
  const auto& engines = device.copy_engines;
  const auto in = std::ranges::count_if(engines, &CopyEngine::in);
  const auto out = std::ranges::count_if(engines, &CopyEngine::out);
  return in > 0 && out > 0 && engines.size() > 1;
}

/// Seconds that depend on for how many of them copies run both ways.
struct Line {
  double alone = 0;  ///< if they never do
  double slope = 0;

  double at(double both) const { return alone + slope * both; }
  double meets(const Line& other) const { return (alone - other.alone) / (other.slope - slope); }
};

/// The least time in which copies both ways slow each other down. The longer they overlap, the sooner the bus is done
/// and the later each way; the best is where the bus is done with the first of them. `least`: of all items, the part
/// that the shortest chunk has, which goes its way before and behind the busiest engine.
double slowed_down(double h, double d, const Least& kernels, double least, const DeviceProfile& device) {
  const double in = device.both.in / device.alone.in;
  const double out = device.both.out / device.alone.out;
  const Line all_in{h + kernels.of_each + d * least, 1 - in};
  const Line all_out{d + kernels.of_each + h * least, 1 - out};
  const Line bus{h + d, 1 - in - out};
  const double both = bus.slope < 0 ? std::max(0.0, std::min(bus.meets(all_in), bus.meets(all_out))) : 0;
  return std::max({all_in.at(both), all_out.at(both), bus.at(both)});
}

double pipeline(const streams::Recording& recording, const DeviceProfile& device, const Parts& parts,
                const Least& kernels) {
  const streams::Job& job = recording.job;
  const double h = parts.copy_in;
  const double d = parts.copy_out;
  if (device.copy_engines.empty()) return h + kernels.all + d;
  const double least = job.items > 0 ? static_cast<double>(job.items / job.chunks) / static_cast<double>(job.items) : 0;
  const double ends = kernels.of_each;
  double seconds = std::max({h + ends + d * least, kernels.all + (h + d) * least, d + ends + h * least});
  if (!copies_both_ways(device)) return std::max(seconds, h + d + (job.chunks == 1 ? kernels.all : 0));
  if (job.memory == streams::HostMemory::pinned) {
    seconds = std::max(seconds, slowed_down(h, d, kernels, least, device));
  }
  return seconds;
}

}  // namespace

double Parts::ratio() const {
  const double copy = std::max(copy_in, copy_out);
  return copy > 0 ? kernel / copy : 0;
}

Parts parts(const streams::Recording& recording, const Costs& costs) {
  Parts parts{.copy_in = 0, .kernel = costs.whole_kernel, .copy_out = 0};
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    const OperationKind kind = recording.operations[i].kind;
    if (kind == OperationKind::copy_in) parts.copy_in += costs.operations[i].copy_seconds;
    if (kind == OperationKind::copy_out) parts.copy_out += costs.operations[i].copy_seconds;
  }
  return parts;
}

Bounds bounds(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs) {
  const Parts parts = simulator::parts(recording, costs);
  const auto& [h, k, d] = parts;
  const auto n =
      static_cast<double>(std::max<std::int64_t>(1, std::min<std::int64_t>(recording.job.chunks, recording.job.items)));
  return {.serial = h + k + d,
          .pipeline = pipeline(recording, device, parts, least_kernels(recording, device, costs)),
          .van_werkhoven = std::max({h + (k + d) / n, k + (h + d) / n, d + (h + k) / n})};
}

}  // namespace scanlab::simulator
