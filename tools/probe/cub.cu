// Compiles and links only with a toolkit that is whole: compiler, runtime, CUB, and a host compiler it accepts.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cub/block/block_scan.cuh>
#include <cub/version.cuh>

__global__ void scan(int* data) {
  __shared__ typename cub::BlockScan<int, 32>::TempStorage storage;
  cub::BlockScan<int, 32>(storage).InclusiveSum(data[threadIdx.x], data[threadIdx.x]);
}

int main() {
  scan<<<1, 32>>>(nullptr);
  return cudaDeviceSynchronize();
}
