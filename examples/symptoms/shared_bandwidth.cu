// Kernels of two streams that each move as much as the memory can: chains of passes over two arrays, or one pass each.
#include "symptom.cuh"

namespace {

/// Several loads at a time: bound by the memory's bandwidth, not by its latency.
__global__ void add(uint4* items, std::size_t n, Item amount) {
  constexpr int kAtATime = 4;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += kAtATime * threads) {
    uint4 loaded[kAtATime];
    for (int k = 0; k < kAtATime; ++k) {
      if (i + k * threads < n) loaded[k] = items[i + k * threads];
    }
    for (int k = 0; k < kAtATime; ++k) {
      const auto [x, y, z, w] = loaded[k];
      if (i + k * threads < n) items[i + k * threads] = {x + amount, y + amount, z + amount, w + amount};
    }
  }
}

void run(Run& run) {
  const int rounds = run.number(3, 8);
  const std::size_t n = std::size_t(run.size(128, 512)) << 18;  // items, of so many MiB
  int blocks = 0;                                               // one a multiprocessor of each kernel: two have room
  check(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
  Item* items[2];
  cudaStream_t stream[2];
  for (int i = 0; i < 2; ++i) {
    items[i] = device_items(n);
    stream[i] = new_stream();
  }
  const auto pass = [&](int i, Item amount, cudaStream_t at) {
    add<<<blocks, 1024, 0, at>>>(reinterpret_cast<uint4*>(items[i]), n / 4, amount);
  };

  run.time([&] {
    for (int i = 0; i < 2; ++i) pass(0, 1, stream[0]);  // alone: how long it takes then
    wait_for(stream[0], stream[1]);
    if (!run.slow) {
      for (int i = 0; i < 2; ++i) pass(i, rounds, stream[0]);
      return;
    }
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 2; ++i) pass(i, 1, stream[i]);
    }
  });

  run.verify(items[0], n, run.runs() * (rounds + 2));
  run.verify(items[1], n, run.runs() * rounds);
}

const Registered kSymptom{"shared_bandwidth",
                          {.symptom = "kernels of two streams overlap, and take as long as one after the other",
                           .cause = "kernels that slow each other down",
                           .cure = "fewer bytes: one pass that does the work of several; more streams gain nothing",
                           .run = run}};

}  // namespace
