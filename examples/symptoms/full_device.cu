// A send of few blocks, as a communication library issues it, behind a kernel that fills the device.
#include "symptom.cuh"

namespace {

__global__ void send(uint4* host, const uint4* items, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) host[i] = items[i];
}

void run(Run& run) {
  const int rounds = run.number(3, 8);
  const int waves = run.number(8, 24);
  const int steps = run.number(1500, 3000);
  const int blocks = run.number(8, 16);                         // of a send
  const std::size_t sent = std::size_t(run.size(8, 24)) << 18;  // items, of 8 MiB or more
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const std::size_t n = std::size_t{2048} * multiprocessors * waves;
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  const cudaStream_t computing = new_stream();
  const cudaStream_t sending = new_stream(cudaStreamNonBlocking, run.slow ? 0 : greatest);
  Item* const items = device_items(n);
  Item* const results = device_items(sent);
  Item* const host = pinned_items(sent);

  run.time([&] {
    for (int round = 0; round < rounds; ++round) {  // the next needs both
      advance<<<static_cast<unsigned>(n / 256), 256, 0, computing>>>(items, n, steps);
      advance<<<8, 256, 0, sending>>>(results, 2048, 10000);  // so that the send is ready when the device is full
      send<<<blocks, 512, 0, sending>>>(reinterpret_cast<uint4*>(host), reinterpret_cast<uint4*>(results), sent / 4);
      wait_for(computing, sending);
      wait_for(sending, computing);
    }
  });

  run.verify(items, n, advanced(0, run.runs() * rounds * steps));
  run.verify(host, 2048, advanced(0, run.runs() * rounds * 10000));
  run.verify(host + 2048, sent - 2048, 0);
}

const Registered kSymptom{"full_device",
                          {.symptom = "a kernel of few blocks waits for a long one of another stream",
                           .cause = "a kernel that fills the device",
                           .cure = "a stream of higher priority, or blocks left free",
                           .run = run}};

}  // namespace
