#include "harness/cuda/neighbours.hpp"

#include <algorithm>
#include <cstdint>

#include "harness/core/ceil.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;
constexpr std::uint32_t kUnlikely = 0x9E3779B9;

template <class F>
__device__ void for_each_vector(std::size_t vectors, F f) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += stride) f(i);
}

/// zero: 0, which the compiler does not know.
__global__ void write_again(uint4* data, std::size_t vectors, std::uint32_t zero) {
  for_each_vector(vectors, [&](std::size_t i) {
    uint4 vector = data[i];
    vector.x ^= zero;
    data[i] = vector;
  });
}

__global__ void read_once(const uint4* data, std::size_t vectors, std::uint32_t* sum) {
  std::uint32_t mine = 0;
  for_each_vector(vectors, [&](std::size_t i) {
    const uint4 vector = data[i];
    mine ^= vector.x ^ vector.y ^ vector.z ^ vector.w;
  });
  if (mine == kUnlikely) *sum = mine;  // hardly ever: it keeps the loads alive
}

LaunchShape shape(std::size_t vectors, const char* what) {
  const int most = kBlocksPerMultiprocessor * std::max(multiprocessors(), 1);
  const auto blocks = std::clamp<std::int64_t>(ceil_div(static_cast<std::int64_t>(vectors), kThreads), 1, most);
  return {.blocks = static_cast<int>(blocks), .threads = kThreads, .what = what};
}

}  // namespace

void Neighbours::produce(void* data, std::size_t bytes, cudaStream_t stream) const {
  const std::size_t vectors = bytes / sizeof(uint4);  // the rest, less than a vector, is not worth a thread
  launch(write_again, shape(vectors, "launching the producer"), stream, static_cast<uint4*>(data), vectors,
         std::uint32_t{0});
}

void Neighbours::consume(const void* data, std::size_t bytes, cudaStream_t stream) const {
  const std::size_t vectors = bytes / sizeof(uint4);
  launch(read_once, shape(vectors, "launching the consumer"), stream, static_cast<const uint4*>(data), vectors,
         sum_.as<std::uint32_t>());
}

}  // namespace scanlab::cuda
