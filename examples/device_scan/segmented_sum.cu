// Sums of each segment of an array on the device, by scanlab::DeviceScan and an operator on pairs.
#include <algorithm>
#include <cstdio>
#include <scanlab/device_scan.cuh>
#include <vector>

struct Pair {
  int value;
  int head;  // 1: a segment begins here
};

struct SegmentedSum {
  __host__ __device__ Pair operator()(const Pair& left, const Pair& right) const {
    return {right.head ? right.value : left.value + right.value, left.head | right.head};
  }
};

int main() {
  constexpr int n = 1 << 20;
  std::vector<Pair> pairs(n);
  for (int i = 0; i < n; ++i) pairs[i] = {i % 7, i % 1000 == 0};
  std::vector<Pair> inclusive(n);
  std::vector<Pair> exclusive(n);
  Pair* in = nullptr;
  Pair* out = nullptr;
  void* storage = nullptr;
  std::size_t inclusive_bytes = 0;
  std::size_t exclusive_bytes = 0;
  const auto scan_inclusive = [&] {
    return scanlab::DeviceScan::InclusiveScan(storage, inclusive_bytes, in, out, SegmentedSum{}, n);
  };
  const auto scan_exclusive = [&] {
    return scanlab::DeviceScan::ExclusiveScan(storage, exclusive_bytes, in, out, SegmentedSum{}, Pair{0, 0}, n);
  };
  cudaError_t error = scan_inclusive();  // without storage: its size
  if (error == cudaSuccess) error = scan_exclusive();
  if (error == cudaSuccess) error = cudaMalloc(&storage, std::max(inclusive_bytes, exclusive_bytes));
  if (error == cudaSuccess) error = cudaMalloc(&in, n * sizeof(Pair));
  if (error == cudaSuccess) error = cudaMalloc(&out, n * sizeof(Pair));
  if (error == cudaSuccess) error = cudaMemcpy(in, pairs.data(), n * sizeof(Pair), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = scan_inclusive();
  if (error == cudaSuccess) error = cudaMemcpy(inclusive.data(), out, n * sizeof(Pair), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) error = scan_exclusive();
  if (error == cudaSuccess) error = cudaMemcpy(exclusive.data(), out, n * sizeof(Pair), cudaMemcpyDeviceToHost);
  cudaFree(storage);
  cudaFree(out);
  cudaFree(in);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  int wrong = 0;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (pairs[i].head) sum = 0;
    wrong += (pairs[i].head ? 0 : exclusive[i].value) != sum;
    sum += pairs[i].value;
    wrong += inclusive[i].value != sum;
  }
  std::printf("%d of %d results wrong\n", wrong, 2 * n);
  return wrong == 0 ? 0 : 1;
}
