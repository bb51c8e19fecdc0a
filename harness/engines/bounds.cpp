#include "harness/engines/bounds.hpp"

#include <algorithm>

#include "harness/streams/block_waves.hpp"

namespace scanlab::engines {

namespace {

double pipelined(const Parts& parts, double chunks) {
  const auto [h, k, d] = parts;
  return std::max({h + (k + d) / chunks, k + (h + d) / chunks, d + (h + k) / chunks});
}

/// Whether a copy in and a copy out can run at once.
bool copies_both_ways(const DeviceProfile& device) {
  const auto& engines = device.copy_engines;
  const auto in = std::ranges::count_if(engines, &CopyEngine::in);
  const auto out = std::ranges::count_if(engines, &CopyEngine::out);
  return in > 0 && out > 0 && engines.size() > 1;
}

}  // namespace

double Parts::ratio() const {
  const double copy = std::max(copy_in, copy_out);
  return copy > 0 ? kernel / copy : 0;
}

Parts parts(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs) {
  using streams::OperationKind;
  const std::int64_t slots = device.slots(costs.threads_a_block);
  Parts parts;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    const Cost& cost = costs.operations[i];
    const OperationKind kind = recording.operations[i].kind;
    if (kind == OperationKind::copy_in) parts.copy_in += cost.copy_seconds;
    if (kind == OperationKind::copy_out) parts.copy_out += cost.copy_seconds;
    if (kind == OperationKind::kernel) {
      parts.kernel += cost.block_seconds * static_cast<double>(streams::waves(cost.blocks, slots));
    }
  }
  return parts;
}

Bounds bounds(const streams::Job& job, const DeviceProfile& device, const Parts& parts) {
  const auto chunks = static_cast<double>(std::max<std::int64_t>(1, std::min<std::int64_t>(job.chunks, job.items)));
  const auto& [h, k, d] = parts;
  Bounds bounds{.serial = h + k + d, .van_werkhoven = pipelined(parts, chunks)};
  if (device.copy_engines.empty()) {
    bounds.fill_max = bounds.serial;
  } else if (!copies_both_ways(device)) {
    bounds.fill_max = std::max(h + d, k + (h + d) / chunks);
  } else if (job.memory == streams::HostMemory::pinned) {
    bounds.fill_max =
        pipelined({h * device.alone.in / device.both.in, k, d * device.alone.out / device.both.out}, chunks);
  } else {
    bounds.fill_max = bounds.van_werkhoven;
  }
  return bounds;
}

}  // namespace scanlab::engines
