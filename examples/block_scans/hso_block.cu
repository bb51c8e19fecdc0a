// hso_block.cu: each block scans 1,024 items, exclusively, by the tree of Harris, Sengupta and Owens.
// Compile it by `nvcc -std=c++17 hso_block.cu`.
//
// Idea     A balanced tree, in place in shared memory. Up-sweep: each inner node becomes the sum of its children, and
//          the root becomes 0. Down-sweep: a node gives its prefix to its left child, and its prefix plus the left
//          child's sum to its right child.
// Work     2(n - 1) additions and n - 1 swaps per block, with n = 1,024: work-efficient.
// Span     2 log2 n steps, each behind one barrier.
// Banks    The nodes of a level are a power of two apart: 2-way conflicts at the leaves, 32-way at worst.
// Traffic  2n items per block.
// Source   Harris, Sengupta and Owens, GPU Gems 3, ch. 39, 2007; after Blelloch.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kItems = 1024;  // per block
constexpr int kBlocks = 1 << 14;

__global__ void hso_block(const int* in, int* out) {
  __shared__ int tree[kItems];
  const int t = threadIdx.x;
  in += blockIdx.x * kItems;
  out += blockIdx.x * kItems;
  tree[t] = in[t];
  tree[t + kItems / 2] = in[t + kItems / 2];
  for (int stride = 1; stride < kItems; stride *= 2) {  // up-sweep
    const int right = 2 * stride * (t + 1) - 1;
    __syncthreads();  // both children are complete
    if (right < kItems) tree[right] += tree[right - stride];
  }
  if (t == 0) tree[kItems - 1] = 0;
  for (int stride = kItems / 2; stride > 0; stride /= 2) {  // down-sweep
    const int right = 2 * stride * (t + 1) - 1;
    __syncthreads();  // the node's prefix is complete
    if (right < kItems) {
      const int left_sum = tree[right - stride];
      tree[right - stride] = tree[right];
      tree[right] += left_sum;
    }
  }
  __syncthreads();  // every leaf has its prefix
  out[t] = tree[t];
  out[t + kItems / 2] = tree[t + kItems / 2];
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
    hso_block<<<kBlocks, kItems / 2>>>(in, out);
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
    wrong += results[i] != sum;
    sum += items[i];
  }
  std::printf("hso_block: %d of %d results wrong, %.1f us, %.0f GB/s; a copy %.1f us, %.0f GB/s\n", wrong, n,
              1e3 * scan, 2e-6 * bytes / scan, 1e3 * copy, 2e-6 * bytes / copy);
  return wrong == 0 ? 0 : 1;
}
