// Sums of 2^20 numbers on the device, by scanlab::DeviceScan.
#include <cstdio>
#include <scanlab/device_scan.cuh>
#include <vector>

int main() {
  constexpr int n = 1 << 20;
  std::vector<int> numbers(n, 3);
  int* data = nullptr;
  void* storage = nullptr;
  std::size_t storage_bytes = 0;

  cudaError_t error = scanlab::DeviceScan::InclusiveSum(nullptr, storage_bytes, data, n);
  if (error == cudaSuccess) error = cudaMalloc(&data, n * sizeof(int));
  if (error == cudaSuccess) error = cudaMalloc(&storage, storage_bytes);
  if (error == cudaSuccess) error = cudaMemcpy(data, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = scanlab::DeviceScan::InclusiveSum(storage, storage_bytes, data, n);
  if (error == cudaSuccess) error = cudaMemcpy(numbers.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(storage);
  cudaFree(data);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("the sum of all: %d, expected %d\n", numbers.back(), 3 * n);
  return numbers.back() == 3 * n ? 0 : 1;
}
