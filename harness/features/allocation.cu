// Memory for each chunk of a depth-first schedule: allocated before, by calls that wait for the device, or in the order
// of a stream from a pool.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"

namespace scanlab::features {
namespace {

using cuda::check;

constexpr std::int64_t kItems = std::int64_t{1} << 25;  // of 4 bytes: 128 MiB
constexpr int kStreams = 4;

__global__ void add_one(int* items, std::int64_t n) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) items[i] += 1;
}

enum class Way { before, calls, pool };

Program program(int chunks, bool waits) {
  Program all;
  std::vector<streams::Stream> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(all.new_stream());
  const std::int64_t bytes = kItems / chunks * 4;
  for (int i = 0; i < chunks; ++i) {
    const streams::Stream stream = streams[static_cast<std::size_t>(i % kStreams)];
    all.copy_in(stream, bytes);
    all.kernel(stream, 264, static_cast<double>(2 * bytes) / 4e12);
    all.copy_out(stream, bytes);
    if (waits) all.synchronize();
  }
  return all;
}

void keep_memory(bool keep) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the pool");
  std::uint64_t threshold = keep ? UINT64_MAX : 0;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "setting what a pool keeps");
  if (!keep) check(cudaMemPoolTrimTo(pool, 0), "emptying a pool");
}

void measure(Bench& bench) {
  const HostArray in = cuda::pinned_memory(kItems * sizeof(int)), out = cuda::pinned_memory(kItems * sizeof(int));
  int* const from = reinterpret_cast<int*>(in.get());
  int* const to = reinterpret_cast<int*>(out.get());
  for (std::int64_t i = 0; i < kItems; ++i) from[i] = static_cast<int>(i);
  const std::vector<cuda::Stream> streams(kStreams);
  const cuda::DeviceBuffer whole(kItems * sizeof(int));

  for (const int chunks : {4, 8, 16, 32, 64}) {
    const std::int64_t items = kItems / chunks;
    const std::size_t bytes = static_cast<std::size_t>(items) * sizeof(int);
    const auto run = [&](Way way) {
      for (int i = 0; i < chunks; ++i) {
        const cudaStream_t stream = streams[static_cast<std::size_t>(i % kStreams)].get();
        void* memory = whole.as<int>() + i * items;
        if (way == Way::calls) check(cudaMalloc(&memory, bytes), "allocating");
        if (way == Way::pool) check(cudaMallocAsync(&memory, bytes, stream), "allocating from a pool");
        check(cudaMemcpyAsync(memory, from + i * items, bytes, cudaMemcpyHostToDevice, stream), "copying");
        cuda::launch(add_one, {.blocks = 264, .threads = 1024}, stream, static_cast<int*>(memory), items);
        check(cudaMemcpyAsync(to + i * items, memory, bytes, cudaMemcpyDeviceToHost, stream), "copying");
        if (way == Way::calls) check(cudaFree(memory), "freeing");
        if (way == Way::pool) check(cudaFreeAsync(memory, stream), "freeing");
      }
    };
    const auto time = [&](const char* name, Way way, const Program& expected) {
      std::fill_n(to, kItems, 0);
      bench.time(
          name, chunks, [&] { run(way); }, &expected);
      for (std::int64_t i = 0; i < kItems; ++i) {
        if (to[i] != static_cast<int>(i) + 1) throw std::runtime_error("a chunk was computed wrong");
      }
    };
    time("cudaMalloc, cudaFree", Way::calls, program(chunks, true));
    keep_memory(false);
    time("cudaMallocAsync", Way::pool, program(chunks, false));
    keep_memory(true);
    time("cudaMallocAsync, pool keeps memory", Way::pool, program(chunks, false));
    keep_memory(false);
    time("allocated before", Way::before, program(chunks, false));
  }
}

}  // namespace

Feature allocation() {
  return {
      .about = {.id = "allocation",
                .title = "stream-ordered allocation of a chunk's memory in a depth-first schedule",
                .times = "makespan of 128 MiB in and out, four streams",
                .parameter = "chunks",
                .source = "CUDA C++ Programming Guide, Stream Ordered Memory Allocator",
                .model = "cudaFree waits for the device; calls that allocate take no time"},
      .lacks =
          [] {
            return cuda::device_attribute(cudaDevAttrMemoryPoolsSupported) != 0 ? std::string()
                                                                                : "the device has no memory pools";
          },
      .measure = measure,
  };
}

}  // namespace scanlab::features
