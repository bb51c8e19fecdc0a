#include "harness/engines/bounds.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "harness/streams/block_waves.hpp"

namespace scanlab::engines {

namespace {

using streams::OperationKind;

/// Seconds that kernels take at least, whatever runs beside them.
struct Least {
  double all = 0;      ///< of the device, for all of them
  double of_each = 0;  ///< of the shortest
};

Least least_kernels(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs) {
  const std::int64_t slots = device.slots(costs.threads_a_block);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::int64_t blocks = 0;
  double of_slots = 0;
  double of_device = 0;
  double shortest_block = kNone;
  double shortest = kNone;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    if (recording.operations[i].kind != OperationKind::kernel) continue;
    const Cost& cost = costs.operations[i];
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

/// The least time in which copies both ways slow each other down. If they overlap for x seconds, the bus works longer
/// the longer x is, and copies wait for each other the longer the shorter x is; so what counts is the best x. The first
/// chunk on its way in, and the last on its way out, have nothing beside them. `least`: of all items, those of the
/// shortest chunk.
double slowed_down(double h, double d, const Least& kernels, double least, const DeviceProfile& device) {
  const double in = device.both.in / device.alone.in;
  const double out = device.both.out / device.alone.out;
  const auto all_in = [&](double x) { return h + (1 - in) * x + kernels.of_each + d * least; };
  const auto all_out = [&](double x) { return d + (1 - out) * x + kernels.of_each + h * least; };
  const auto on_the_bus = [&](double x) { return h + d - (in + out - 1) * x; };
  const double most = std::max(0.0, std::min((1 - least) * h / in, (1 - least) * d / out));
  // Where the bus is as long as one way, both of which are straight lines in x.
  const double with_in = (on_the_bus(0) - all_in(0)) / out;
  const double with_out = (on_the_bus(0) - all_out(0)) / in;
  double seconds = std::numeric_limits<double>::infinity();
  for (const double x : {0.0, most, std::clamp(with_in, 0.0, most), std::clamp(with_out, 0.0, most)}) {
    seconds = std::min(seconds, std::max({all_in(x), all_out(x), on_the_bus(x)}));
  }
  return seconds;
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
  const Parts parts = engines::parts(recording, costs);
  const auto& [h, k, d] = parts;
  const auto n =
      static_cast<double>(std::max<std::int64_t>(1, std::min<std::int64_t>(recording.job.chunks, recording.job.items)));
  return {.serial = h + k + d,
          .pipeline = pipeline(recording, device, parts, least_kernels(recording, device, costs)),
          .van_werkhoven = std::max({h + (k + d) / n, k + (h + d) / n, d + (h + k) / n})};
}

}  // namespace scanlab::engines
