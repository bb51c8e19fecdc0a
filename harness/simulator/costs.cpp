#include "harness/simulator/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/simulator/block_scheduler.hpp"
#include "harness/simulator/block_waves.hpp"

namespace scanlab::simulator {

using streams::Operation;
using streams::OperationKind;

namespace {

/// How many times the mean time of its blocks a kernel takes, alone.
double duration_of(double share, double spread) {
  double all = std::max(1.0, share) * (1 - spread);  // until the first end
  for (int group = 1; group < kSpreadGroups; ++group) {
    const double left = share * (kSpreadGroups - group) / kSpreadGroups;
    all += std::max(1.0, left) * spread * (end_of_group(group, kSpreadGroups) - end_of_group(group - 1, kSpreadGroups));
  }
  return all;
}

/// Blocks that get less than they ask for end one after another, and the kernel's tail is the time when those left ask
/// for less than the device has: with a share D and a spread s, s / D^2 of the work. A kernel that uses less than that
/// is one whose blocks have all they ask for.
OperationCost measured_kernel(const KernelTimes& measured, const KernelTimes::Row& row, std::int64_t slots) {
  constexpr double kMaxShare = 8;
  const double used = measured.used(row);
  const double share = std::min(kMaxShare, std::sqrt(measured.spread * used / std::max(1e-9, 1 - used)));
  const double waves = static_cast<double>((row.blocks + slots - 1) / slots);
  OperationCost cost{.blocks = row.blocks};
  cost.spread = share > 1 ? measured.spread : 0;
  cost.share = share > 1 ? share : used;
  cost.block_seconds = row.seconds / waves / duration_of(cost.share, cost.spread);
  return cost;
}

/// A kernel over `items` of the job's: blocks as those of one launch over all items, which takes `whole_seconds`.
/// `by_memory`: what bounds them is the rate of device memory, of which that launch has all.
OperationCost unmeasured_kernel(const streams::Job& job, std::int64_t items, int threads_per_block, std::int64_t slots,
                                double whole_seconds, bool by_memory) {
  const auto blocks_of = [&](std::int64_t some) {
    return std::max<std::int64_t>(1, job.blocks > 0 ? job.blocks : streams::waves(some, threads_per_block));
  };
  const auto waves = static_cast<double>(streams::waves(blocks_of(job.items), slots));
  // So many blocks as ever fit share the items out; else more items are more blocks.
  const double items_a_block =
      job.blocks > 0 && job.items > 0 ? static_cast<double>(items) / static_cast<double>(job.items) : 1;
  OperationCost cost{.blocks = blocks_of(items), .block_seconds = whole_seconds / waves * items_a_block};
  if (by_memory) {
    const double block_share = waves / static_cast<double>(blocks_of(job.items));
    cost.share = block_share * static_cast<double>(std::min(cost.blocks, slots));
  }
  return cost;
}

/// Time alone of a kernel whose blocks all take as long: full waves, and a last one that may ask for less of the
/// device.
double alone_seconds(const OperationCost& kernel, std::int64_t slots) {
  const std::int64_t full = (kernel.blocks - 1) / slots;
  const double block_share = kernel.share / static_cast<double>(std::min(kernel.blocks, slots));
  const auto lasts = [&](std::int64_t blocks) { return std::max(1.0, block_share * static_cast<double>(blocks)); };
  return kernel.block_seconds * (static_cast<double>(full) * lasts(slots) + lasts(kernel.blocks - full * slots));
}

/// The measured kernel, of a job that has one like it.
std::optional<KernelTimes> measured_times(const streams::Job& job, const DeviceProfile& device,
                                          const KnownTimes& known) {
  if (known.kernel || job.blocks != 0) return {};
  const streams::WorkloadDescription& workload = job.workload->about;
  return device.kernel_times(workload.id, workload.ordered ? 1 : job.work);
}

}  // namespace

std::string unknown_kernel_time(const streams::Job& job, const DeviceProfile& device, const KnownTimes& known) {
  const streams::WorkloadDescription& workload = job.workload->about;
  if (known.kernel || workload.ordered || job.work == 1 || measured_times(job, device, known)) return {};
  return fmt::format("{} does not say how long a kernel of {} with work {}{} takes", device.name, workload.id, job.work,
                     job.blocks == 0 ? "" : fmt::format(" in {} blocks", job.blocks));
}

Costs costs(const streams::Recording& recording, const DeviceProfile& device, const KnownTimes& known) {
  const streams::Job& job = recording.job;
  const streams::WorkloadDescription& workload = job.workload->about;
  if (known.threads_per_block < 1 || device.slots(known.threads_per_block) < 1) {
    throw std::invalid_argument(fmt::format("{} threads a block: {} holds from 1 to {} on a multiprocessor",
                                            known.threads_per_block, device.name, device.resident_threads));
  }
  const EachWay& rates = job.memory == streams::HostMemory::pageable ? device.pageable : device.alone;
  const double item_bytes = static_cast<double>(workload.item_bytes());
  const double part = job.items > 0 ? 1 / static_cast<double>(job.items) : 0;
  const double item_in = known.copy_in ? *known.copy_in * part / workload.inputs : item_bytes / rates.in;
  const double item_out = known.copy_out ? *known.copy_out * part : item_bytes / rates.out;
  const bool by_memory = !known.kernel;
  const double whole_seconds =
      by_memory ? static_cast<double>(workload.array_bytes(job.items)) / device.device_rate : *known.kernel;
  const std::int64_t slots = device.slots(known.threads_per_block);

  const CallCosts& calls = device.calls;
  const std::optional<KernelTimes> measured = measured_times(job, device, known);
  const auto call = [&](const Operation& operation) {
    if (is_copy(operation)) return operation.synchronous ? calls.synchronous_copy : calls.copy;
    if (is_kernel(operation)) return measured ? measured->call : calls.kernel;
    return operation.kind == OperationKind::record_event ? calls.record : calls.wait;
  };

  const auto kernel = [&](std::int64_t items) {
    if (!measured) return unmeasured_kernel(job, items, known.threads_per_block, slots, whole_seconds, by_memory);
    return measured_kernel(*measured, measured->at(items), slots);
  };

  Costs all{.threads_per_block = known.threads_per_block,
            .launch_seconds = calls.graph,
            .whole_kernel = measured ? measured->at(job.items).seconds : alone_seconds(kernel(job.items), slots),
            .partitions = {},
            .operations = {}};
  all.operations.reserve(recording.operations.size());
  for (const Operation& operation : recording.operations) {
    const auto items = operation.kind == OperationKind::side_kernel ? recording.buffer_items : operation.chunk.items;
    OperationCost cost;
    if (is_copy(operation)) {
      cost.copy_seconds = static_cast<double>(items) * (copies_in(operation) ? item_in : item_out);
    } else if (is_kernel(operation)) {
      cost = kernel(items);
    }
    cost.call_seconds = call(operation);
    if (streams::is_work(operation)) all.launch_seconds += calls.graph_node;
    all.operations.push_back(cost);
  }
  return all;
}

}  // namespace scanlab::simulator
