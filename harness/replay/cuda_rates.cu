#include "harness/replay/cuda_rates.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/stream.hpp"

namespace scanlab::streams {

namespace {

using cuda::check;

void copy(const HostArrays& arrays, Direction direction, void* device, std::size_t bytes, cudaStream_t stream) {
  check(direction == Direction::in ? cudaMemcpyAsync(device, arrays.input(0), bytes, cudaMemcpyHostToDevice, stream)
                                   : cudaMemcpyAsync(arrays.output(), device, bytes, cudaMemcpyDeviceToHost, stream),
        "copying");
}

}  // namespace

double copy_seconds(const HostArrays& arrays, Direction direction, std::size_t bytes, bool both_ways) {
  const cuda::DeviceBuffer buffer(bytes);
  const cuda::DeviceBuffer other(both_ways ? bytes : 0);
  const cuda::Stream stream;
  const cuda::Stream other_way;
  const cuda::Event start;
  const cuda::Event end;
  copy(arrays, direction, buffer.data(), bytes, stream.get());  // untimed
  stream.synchronize();
  if (both_ways) {
    // Issued first, and three times as long: it runs before the timed copy begins and after it has ended.
    const Direction back = direction == Direction::in ? Direction::out : Direction::in;
    for (int i = 0; i < 3; ++i) copy(arrays, back, other.data(), bytes, other_way.get());
  }
  start.record(stream.get());
  copy(arrays, direction, buffer.data(), bytes, stream.get());
  end.record(stream.get());
  end.synchronize();
  other_way.synchronize();
  return cuda::seconds_between(start, end);
}

double kernel_seconds(const Job& job) {
  const WorkloadDescription& about = job.workload->about;
  const std::int64_t items = longest_chunk(job.items, job.chunks);
  if (items == 0) return 0;
  const BoundKernel kernel = job.workload->bind(items, job.blocks, job.work);
  const std::size_t bytes = static_cast<std::size_t>(items) * about.item_bytes();
  std::vector<cuda::DeviceBuffer> buffers;
  const auto array = [&](std::size_t wanted) {
    void* const data = buffers.emplace_back(wanted).data();
    if (wanted > 0) check(cudaMemset(data, 0, wanted), "clearing memory");
    return data;
  };
  ChunkMemory memory;
  for (int input = 0; input < about.inputs; ++input) memory.inputs[static_cast<std::size_t>(input)] = array(bytes);
  memory.output = array(bytes);
  memory.carry_in = array(about.item_bytes());
  memory.carry_out = array(about.item_bytes());
  memory.workspace = array(kernel.workspace_bytes);
  if (kernel.prepare) kernel.prepare(memory.workspace, nullptr);
  check(cudaDeviceSynchronize(), "preparing a kernel");

  const cuda::Stream stream;
  const cuda::Event start;
  const cuda::Event end;
  const auto run = [&](int times) {
    start.record(stream.get());
    for (int i = 0; i < times; ++i) kernel.launch(memory, stream.get());
    end.record(stream.get());
    end.synchronize();
    return cuda::seconds_between(start, end) / times;
  };
  run(1);  // untimed: loads it
  constexpr double kSeconds = 10e-3;
  return run(static_cast<int>(std::clamp(kSeconds / std::max(run(2), 1e-6), 3.0, 1000.0)));
}

}  // namespace scanlab::streams
