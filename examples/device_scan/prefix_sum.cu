// Sums of 2^20 numbers on the device, by scanlab::DeviceScan.
#include <cstdio>
#include <cstdlib>
#include <scanlab/device_scan.cuh>
#include <vector>

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// out[i] = in[0] + … + in[i], for n items in device memory.
void prefix_sum(const int* in, int* out, int n, cudaStream_t stream) {
  void* storage = nullptr;
  std::size_t bytes = 0;
  check(scanlab::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n));  // the size of the temporary storage
  check(cudaMallocAsync(&storage, bytes, stream));
  check(scanlab::DeviceScan::InclusiveSum(storage, bytes, in, out, n, stream));  // enqueues the scan
  check(cudaFreeAsync(storage, stream));
}

int main() {
  constexpr int n = 1 << 20;
  std::vector<int> numbers(n, 3);
  int* data = nullptr;
  check(cudaMalloc(&data, n * sizeof(int)));
  check(cudaMemcpy(data, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  prefix_sum(data, data, n, nullptr);
  check(cudaMemcpy(numbers.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
  check(cudaFree(data));
  std::printf("the sum of all: %d, expected %d\n", numbers.back(), 3 * n);
  return numbers.back() == 3 * n ? 0 : 1;
}
