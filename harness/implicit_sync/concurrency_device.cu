#include <algorithm>
#include <stdexcept>
#include <string>

#include "harness/core/median.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/timing.hpp"
#include "harness/implicit_sync/concurrency.hpp"

namespace scanlab::streams {

namespace {

using cuda::check;

unsigned long long nanoseconds(double seconds) { return static_cast<unsigned long long>(seconds * 1e9); }

/// `stamps`: one a block.
__global__ void block_kernel(cuda::Stamps* stamps, unsigned long long nanoseconds) {
  const cuda::Stamps spun = cuda::spin_for(nanoseconds);
  if (threadIdx.x == 0) stamps[blockIdx.x] = spun;
}

double seconds(unsigned long long nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

Room room_for(const ConcurrencySettings& settings) {
  const auto attribute = [](cudaDeviceAttr which) { return static_cast<std::size_t>(cuda::device_attribute(which)); };
  Room room;
  room.shared_bytes = std::min(
      shared_bytes_for(settings.blocks_per_multiprocessor, attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                       attribute(cudaDevAttrReservedSharedMemoryPerBlock)),
      attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  check(cudaFuncSetAttribute(block_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "choosing between L1 and shared memory");
  cuda::allow(block_kernel, {.shared_bytes = room.shared_bytes});
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, block_kernel, settings.threads, room.shared_bytes),
        "asking how many blocks fit a multiprocessor");
  if (resident != settings.blocks_per_multiprocessor) {
    throw std::invalid_argument(std::to_string(resident) + " blocks of " + std::to_string(settings.threads) +
                                " threads fit a multiprocessor, not " +
                                std::to_string(settings.blocks_per_multiprocessor));
  }
  room.slots = resident_slots(cuda::multiprocessors(), resident);
  return room;
}

MeasuredGrids measure_grids(const SmallGrids& grids, const ConcurrencySettings& settings, const Room& room) {
  const std::vector<cuda::Stream> streams(static_cast<std::size_t>(grids.streams));
  std::vector<cuda::Stamps> stamps(static_cast<std::size_t>(grids.total_blocks()));
  const cuda::DeviceBuffer device_stamps(stamps.size() * sizeof(cuda::Stamps));
  const cuda::Stream gate_stream;
  const cuda::Event passed;
  cuda::Gate gate;

  const auto once = [&] {
    gate.close(gate_stream.get());
    passed.record(gate_stream.get());
    for (const cuda::Stream& stream : streams) {
      check(cudaStreamWaitEvent(stream.get(), passed.get(), 0), "waiting for the gate");
    }
    cuda::Stamps* place = device_stamps.as<cuda::Stamps>();
    for (const cuda::Stream& stream : streams) {
      for (std::int64_t kernel = 0; kernel < grids.kernels; ++kernel) {
        cuda::launch(
            block_kernel,
            {.blocks = static_cast<int>(grids.blocks), .threads = settings.threads, .shared_bytes = room.shared_bytes},
            stream.get(), place, nanoseconds(settings.block_seconds));
        place += grids.blocks;
      }
    }
    gate.open();
    check(cudaDeviceSynchronize(), "running small grids");
    if (gate.gave_up()) throw std::runtime_error("the host took too long to issue the kernels: is it busy?");
    check(cudaMemcpy(stamps.data(), device_stamps.data(), device_stamps.bytes(), cudaMemcpyDeviceToHost),
          "fetching the blocks' stamps");
  };

  once();  // loads the kernels
  MeasuredGrids measured{.grids = grids, .block_seconds = 0, .makespans = {}};
  std::vector<double> block_seconds;
  for (int repetition = 0; repetition < settings.repetitions; ++repetition) {
    once();
    const auto first = std::ranges::min_element(stamps, {}, &cuda::Stamps::start);
    const auto last = std::ranges::max_element(stamps, {}, &cuda::Stamps::end);
    measured.makespans.push_back(seconds(last->end - first->start));
    for (const cuda::Stamps& block : stamps) block_seconds.push_back(seconds(block.end - block.start));
  }
  measured.block_seconds = median(std::move(block_seconds));
  return measured;
}

}  // namespace scanlab::streams
