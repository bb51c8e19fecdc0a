#include "harness/features/program.hpp"

#include <algorithm>
#include <utility>

namespace scanlab::features {

using streams::Stream;

namespace {
constexpr int kThreads = 1024;  // of a block
}

Program::Program(bool captured, std::vector<int> partitions) : partitions_(std::move(partitions)) {
  recording_.job = {.workload = streams::WorkloadRegistry::instance().find("scale"), .items = 1, .chunks = 1};
  recording_.captured = captured;
}

Stream Program::new_stream(int priority, int partition) {
  places_.push_back({priority, partition});
  return streams::Issuer(recording_).create_stream(streams::StreamKind::non_blocking);
}

void Program::kernel(Stream stream, std::int64_t blocks, double block_seconds) {
  kernels_.push_back({recording_.operations.size(), blocks, block_seconds});
  streams::Issuer(recording_).side_kernel(stream);
}

streams::Chunk Program::chunk_of(std::int64_t bytes) {
  const std::int64_t items = std::max<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(float)), 1);
  constexpr std::int64_t kApart = std::int64_t{1} << 40;  // none reaches into another
  const int number = recording_.buffers++;
  return {.index = number, .first = kApart * number, .items = items, .buffer = number};
}

void Program::copy_in(Stream stream, std::int64_t bytes) {
  streams::Issuer(recording_).copy_in(chunk_of(bytes), stream);
}
void Program::copy_out(Stream stream, std::int64_t bytes) {
  streams::Issuer(recording_).copy_out(chunk_of(bytes), stream);
}

simulator::Simulation Program::simulated(const simulator::DeviceProfile& device) const {
  simulator::Costs costs = simulator::costs(
      recording_, device, {.copy_in = {}, .kernel = 0.0, .copy_out = {}, .threads_per_block = kThreads});
  const std::int64_t in_one = device.slots(kThreads) / device.multiprocessors;
  for (const int multiprocessors : partitions_) costs.partitions.push_back(in_one * multiprocessors);
  for (const Kernel& kernel : kernels_) {
    simulator::OperationCost& cost = costs.operations[kernel.operation];
    const Place& place = places_[static_cast<std::size_t>(recording_.operations[kernel.operation].stream.index)];
    cost.blocks = kernel.blocks;
    cost.block_seconds = kernel.block_seconds;
    cost.priority = place.priority;
    cost.partition = place.partition;
  }
  return simulator::simulate(recording_, device, costs);
}

double Program::seconds(const simulator::DeviceProfile& device, Stream stream) const {
  const simulator::Simulation simulation = simulated(device);
  double begin = simulation.seconds, end = 0;
  for (const streams::Span& span : simulation.timeline.spans) {
    if (recording_.operations[span.operation].stream != stream) continue;
    begin = std::min(begin, simulation.timeline.issued[span.operation].start);
    end = std::max(end, span.when.end);
  }
  return end - begin;
}

}  // namespace scanlab::features
