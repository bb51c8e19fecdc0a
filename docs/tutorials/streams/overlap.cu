// overlap.cu: the same in one piece, and in 16 chunks over 4 streams.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void twice(float* items, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) items[i] = 2 * items[i];
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kItems = 1 << 26, kThreads = 256, kStreams = 4;
cudaStream_t streams[kStreams];

// From the host to the device, a kernel, and back, in equal chunks; the chunks take the streams in turn.
double milliseconds(float* host, float* device, int chunks) {
  const auto start = std::chrono::steady_clock::now();
  const int items = kItems / chunks;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const cudaStream_t stream = streams[chunk % kStreams];
    float* const here = host + chunk * items;
    float* const there = device + chunk * items;
    check(cudaMemcpyAsync(there, here, items * sizeof(float), cudaMemcpyHostToDevice, stream));
    twice<<<items / kThreads, kThreads, 0, stream>>>(there, items);
    check(cudaMemcpyAsync(here, there, items * sizeof(float), cudaMemcpyDeviceToHost, stream));
  }
  check(cudaDeviceSynchronize());  // the calls above only enqueued
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

int main() {
  float *host = nullptr, *device = nullptr;
  check(cudaMallocHost(&host, kItems * sizeof(float)));  // pinned: a copy engine can read it by itself
  check(cudaMalloc(&device, kItems * sizeof(float)));
  for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream));
  for (int i = 0; i < kItems; ++i) host[i] = 1;
  milliseconds(host, device, 1);  // the first run pays for starting up
  std::printf("1 chunk: %.2f ms\n", milliseconds(host, device, 1));
  std::printf("16 chunks: %.2f ms\n", milliseconds(host, device, 16));
  for (int i = 0; i < kItems; ++i) {
    if (host[i] != 8) return std::printf("wrong: item %d is %g\n", i, host[i]), 1;
  }
  std::printf("all items are 8\n");
}
