// Two streams, each with a memory-bound and a compute-bound kernel: like kernels at once, or unlike ones.
#include "symptom.cuh"

namespace {

/// Four loads of each thread are on their way at once: one kernel alone takes all of the memory's bandwidth.
__global__ void __launch_bounds__(1024, 2) add_one(uint4* out, const uint4* in, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += 4 * threads) {
    uint4 items[4];
    for (int k = 0; k < 4; ++k) items[k] = in[i + k * threads < n ? i + k * threads : i];
    for (int k = 0; k < 4; ++k) {
      const auto [x, y, z, w] = items[k];
      if (i + k * threads < n) out[i + k * threads] = {x + 1, y + 1, z + 1, w + 1};
    }
  }
}

void run(Run& run) {
  const std::size_t megabytes = run.size(128, 512);
  const int rounds = run.number(3, 8);
  const int steps = static_cast<int>(megabytes) * run.number(90, 160);  // about as long as the memory-bound kernel
  const std::size_t n = megabytes << 18;
  int blocks = 0;  // one a multiprocessor of each kernel, so that two of any kind have room
  check(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
  const std::size_t threads = std::size_t{512} * blocks;
  Item* in[2];
  Item* out[2];
  Item* items[2];
  cudaStream_t stream[2];
  for (int i = 0; i < 2; ++i) {
    in[i] = device_items(n);
    out[i] = device_items(n);
    items[i] = device_items(threads);
    stream[i] = new_stream();
  }
  const auto memory_bound = [&](int i) {
    add_one<<<blocks, 1024, 0, stream[i]>>>(reinterpret_cast<uint4*>(out[i]), reinterpret_cast<uint4*>(in[i]), n / 4);
  };
  const auto compute_bound = [&](int i) { advance<<<blocks, 512, 0, stream[i]>>>(items[i], threads, steps); };

  run.time([&] {
    memory_bound(0);  // alone: how long it takes then
    wait_for(stream[0], stream[1]);
    for (int round = 0; round < rounds; ++round) {
      memory_bound(0);
      run.slow ? memory_bound(1) : compute_bound(1);
      compute_bound(0);
      run.slow ? compute_bound(1) : memory_bound(1);
    }
  });

  for (int i = 0; i < 2; ++i) {
    run.verify(out[i], n, 1);
    run.verify(items[i], threads, advanced(0, run.runs() * rounds * steps));
  }
}

const Registered kSymptom{"shared_bandwidth",
                          {.symptom = "two kernels overlap, and take as long as one after the other",
                           .cause = "kernels that share the memory's bandwidth",
                           .cure = "a compute-bound kernel beside a memory-bound one; more streams gain nothing",
                           .run = run}};

}  // namespace
