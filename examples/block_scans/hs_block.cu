// hs_block.cu: each block scans 1,024 items, inclusively, by the algorithm of Hillis and Steele.
// Compile it by `nvcc -std=c++17 hs_block.cu`.
//
// Idea     In step d each item adds the item 2^d to its left. With two buffers no thread overwrites an item
//          that another one still reads.
// Work     n log2 n - n + 1 additions per block, with n = 1,024: not work-efficient.
// Span     log2 n steps, each behind one barrier.
// Traffic  2n items per block.
// Source   Hillis and Steele, "Data parallel algorithms", CACM 29(12), 1986.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kItems = 1024;  // per block
constexpr int kBlocks = 1 << 14;

__global__ void hs_block(const int* in, int* out) {
  __shared__ int buffers[2][kItems];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kItems + t;
  int sum = in[i];
  int full = 0;
  buffers[full][t] = sum;
  for (int offset = 1; offset < kItems; offset *= 2) {
    __syncthreads();  // the full buffer is complete, and no thread still reads the other one
    if (t >= offset) sum += buffers[full][t - offset];
    full = 1 - full;
    buffers[full][t] = sum;
  }
  out[i] = sum;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  constexpr int n = kItems * kBlocks;
  constexpr std::size_t bytes = n * sizeof(int);
  std::vector<int> items(n), results(n);
  for (int i = 0; i < n; ++i) items[i] = i % 7 - 2;
  int *in, *out;
  check(cudaMalloc(&in, bytes));
  check(cudaMalloc(&out, bytes));
  check(cudaMemcpy(in, items.data(), bytes, cudaMemcpyHostToDevice));

  cudaEvent_t events[3];
  for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
  float copy = 1e9f, scan = 1e9f;  // milliseconds, the shortest of 20 runs
  for (int run = 0; run < 20; ++run) {
    float times[2];
    cudaEventRecord(events[0]);
    cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice);
    cudaEventRecord(events[1]);
    hs_block<<<kBlocks, kItems>>>(in, out);
    cudaEventRecord(events[2]);
    cudaEventSynchronize(events[2]);
    for (int i = 0; i < 2; ++i) cudaEventElapsedTime(&times[i], events[i], events[i + 1]);
    copy = std::min(copy, times[0]);
    scan = std::min(scan, times[1]);
  }
  check(cudaGetLastError());
  check(cudaMemcpy(results.data(), out, bytes, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0, sum = 0; i < n; ++i) {
    if (i % kItems == 0) sum = 0;
    sum += items[i];
    wrong += results[i] != sum;
  }
  std::printf("hs_block: %d of %d results wrong, %.1f us, %.0f GB/s; a copy %.1f us, %.0f GB/s\n", wrong, n, 1e3 * scan,
              2e-6 * bytes / scan, 1e3 * copy, 2e-6 * bytes / copy);
  return wrong == 0 ? 0 : 1;
}
