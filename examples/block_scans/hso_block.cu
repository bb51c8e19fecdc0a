// hso_block.cu: each block scans 1,024 items, exclusively, by the tree of Harris, Sengupta and Owens, without and with
// padding. Compile it by `nvcc -std=c++17 hso_block.cu`.
//
// Idea     A balanced tree, in place in shared memory. Up-sweep: each inner node becomes the sum of its children, and
//          the root becomes 0. Down-sweep: a node gives its prefix to its left child, and its prefix plus the left
//          child's sum to its right child.
// Work     2(n - 1) additions and n - 1 swaps per block, with n = 1,024: work-efficient.
// Span     2 log2 n steps, each behind one barrier.
// Banks    The nodes of a level are a power of two apart: 2-way conflicts at the leaves, 32-way at worst. With one free
//          word after every 32, strides of powers of two visit all banks: no conflict, for n / 32 more words.
// Traffic  2n items per block.
// Source   Harris, Sengupta and Owens, GPU Gems 3, ch. 39, 2007; after Blelloch. Padding: ch. 39.2.3, for 16 banks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kItems = 1024;  // per block
constexpr int kBlocks = 1 << 14;
constexpr int kBanks = 32;

template <bool kPadded>
__global__ void hso_block(const int* in, int* out) {
  __shared__ int tree[kItems + (kPadded ? kItems / kBanks : 0)];
  const auto at = [](int i) { return kPadded ? i + i / kBanks : i; };  // the place of item i
  const int t = threadIdx.x;
  in += blockIdx.x * kItems;
  out += blockIdx.x * kItems;
  tree[at(t)] = in[t];
  tree[at(t + kItems / 2)] = in[t + kItems / 2];
  for (int stride = 1; stride < kItems; stride *= 2) {  // up-sweep
    const int right = 2 * stride * (t + 1) - 1;
    __syncthreads();  // both children are complete
    if (right < kItems) tree[at(right)] += tree[at(right - stride)];
  }
  if (t == 0) tree[at(kItems - 1)] = 0;
  for (int stride = kItems / 2; stride > 0; stride /= 2) {  // down-sweep
    const int right = 2 * stride * (t + 1) - 1;
    __syncthreads();  // the node's prefix is complete
    if (right < kItems) {
      const int left_sum = tree[at(right - stride)];
      tree[at(right - stride)] = tree[at(right)];
      tree[at(right)] += left_sum;
    }
  }
  __syncthreads();  // every leaf has its prefix
  out[t] = tree[at(t)];
  out[t + kItems / 2] = tree[at(t + kItems / 2)];
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

  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  const auto report = [&](const char* name, auto run) {  // the shortest of 20 runs
    float least = 1e9f;
    for (int i = 0; i < 20; ++i) {
      float milliseconds = 0;
      cudaEventRecord(begin);
      run();
      cudaEventRecord(end);
      cudaEventSynchronize(end);
      cudaEventElapsedTime(&milliseconds, begin, end);
      least = std::min(least, milliseconds);
    }
    check(cudaGetLastError());
    std::printf("%s: %.1f us, %.0f GB/s\n", name, 1e3 * least, 2e-6 * bytes / least);
  };
  report("a copy", [&] { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice); });
  int wrong = 0;
  const auto scan = [&](const char* name, void (*kernel)(const int*, int*)) {
    check(cudaMemset(out, 0xff, bytes));
    report(name, [&] { kernel<<<kBlocks, kItems / 2>>>(in, out); });
    check(cudaMemcpy(results.data(), out, bytes, cudaMemcpyDeviceToHost));
    int here = 0;
    for (int i = 0, sum = 0; i < n; ++i) {
      if (i % kItems == 0) sum = 0;
      here += results[i] != sum;
      sum += items[i];
    }
    std::printf("%s: %d of %d results wrong\n", name, here, n);
    wrong += here;
  };
  scan("hso_block", hso_block<false>);
  scan("hso_block, padded", hso_block<true>);
  return wrong == 0 ? 0 : 1;
}
