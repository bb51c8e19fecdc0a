// first.cu: the device doubles a million numbers.
#include <cstdio>
#include <cstdlib>
#include <vector>

// Runs on the device, once per thread.
__global__ void twice(float* items, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) items[i] = 2 * items[i];
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  constexpr int n = 1 << 20, bytes = n * sizeof(float), threads = 256;
  std::vector<float> host(n, 3);
  float* device = nullptr;
  check(cudaMalloc(&device, bytes));
  check(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
  twice<<<(n + threads - 1) / threads, threads>>>(device, n);  // as many blocks as the items need
  check(cudaGetLastError());                                   // whether the launch was accepted
  check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(device));
  for (const float item : host) {
    if (item != 6) return std::printf("wrong: %g\n", item), 1;
  }
  std::printf("all %d items are 6\n", n);
}
