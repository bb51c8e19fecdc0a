// Workloads that compute every item by itself share this: data that can be checked fast, and one kernel.
//
// Data    An item is one of 4096 values, which one a scrambled function of its number. So what the host must compute
//         is a table, however much work an item takes and however many items there are; and a chunk that lands where
//         another belongs shows nearly everywhere.
// Kernel  A grid-stride loop over vectors of 16 bytes: each is read once and written once, so that little work an item
//         runs at the speed of device memory.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "harness/core/portable.hpp"
#include "harness/schedule/workload.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"
#endif

namespace scanlab::streams {

/// A function that computes an item from the same item of each input: `work` times over, alike on host and device.
template <class F>
concept EachItem = requires(typename F::Item item, std::uint32_t value, int work) {
  { F::kInputs } -> std::convertible_to<int>;
  { F::input(0, value, work) } -> std::same_as<typename F::Item>;      // what input 0 holds for a value
  { F::expected(value, work) } -> std::same_as<typename F::Item>;      // what comes of it
  { F::compute(item, item, work) } -> std::same_as<typename F::Item>;  // the kernel's step; one input: given twice
};

inline constexpr std::uint32_t kValues = 4096;

/// Which value item i has. The finaliser of MurmurHash3: neighbours get unrelated values.
constexpr std::uint32_t value_of(std::uint64_t seed, std::int64_t i) {
  std::uint64_t bits = static_cast<std::uint64_t>(i) + 0x9E3779B97F4A7C15u * (seed + 1);
  bits = (bits ^ (bits >> 33)) * 0xFF51AFD7ED558CCDu;
  bits ^= bits >> 33;
  return static_cast<std::uint32_t>(bits) % kValues;
}

template <EachItem F>
WorkloadData data_of_each_item(std::uint64_t seed, int work) {
  using Item = typename F::Item;
  using Table = std::array<Item, kValues>;
  struct Tables {
    std::array<Table, F::kInputs> inputs;
    Table expected;
  };
  auto tables = std::make_shared<Tables>();
  for (std::uint32_t value = 0; value < kValues; ++value) {
    for (int array = 0; array < F::kInputs; ++array) tables->inputs[array][value] = F::input(array, value, work);
    tables->expected[value] = F::expected(value, work);
  }
  const auto look_up = [seed](const Table& table, std::int64_t first, std::int64_t items, void* to) {
    for (std::int64_t i = 0; i < items; ++i) static_cast<Item*>(to)[i] = table[value_of(seed, first + i)];
  };
  return {.input = [tables, look_up](int array, std::int64_t first, std::int64_t items,
                                     void* to) { look_up(tables->inputs[array], first, items, to); },
          .expected = [tables, look_up](std::int64_t first, std::int64_t items,
                                        void* to) { look_up(tables->expected, first, items, to); }};
}

#if defined(__CUDACC__)

/// a, b, out: `items` items in global memory, aligned to 16 bytes; a and b may be the same. Any grid, of 1 dimension.
/// Cost: F::compute an item; every array is read or written once.
template <EachItem F>
__global__ void each_item_kernel(const typename F::Item* __restrict__ a, const typename F::Item* __restrict__ b,
                                 typename F::Item* __restrict__ out, std::int64_t items, int work) {
  using Item = typename F::Item;
  constexpr int kItems = 16 / sizeof(Item);
  struct alignas(16) Vector {
    Item item[kItems];
  };
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t vectors = items / kItems;
  for (std::int64_t i = thread; i < vectors; i += threads) {
    const Vector x = reinterpret_cast<const Vector*>(a)[i];
    const Vector y = F::kInputs == 1 ? x : reinterpret_cast<const Vector*>(b)[i];
    Vector z;
#pragma unroll
    for (int k = 0; k < kItems; ++k) z.item[k] = F::compute(x.item[k], y.item[k], work);
    reinterpret_cast<Vector*>(out)[i] = z;
  }
  const std::int64_t last = vectors * kItems + thread;  // the items that fill no vector
  if (last < items) out[last] = F::compute(a[last], b[last], work);
}

/// `blocks` of a kernel; 0: as many as the items ask for, and no more than the device holds at once.
template <EachItem F>
BoundKernel bind_each_item(std::int64_t items, int blocks, int work) {
  using Item = typename F::Item;
  constexpr int kThreads = 256;
  constexpr int kBlocksPerMultiprocessor = 8;  // 2048 threads: all that one holds
  if (blocks == 0) {
    const std::int64_t wanted = ceil_div(items, static_cast<std::int64_t>(kThreads * 16 / sizeof(Item)));
    blocks = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, kBlocksPerMultiprocessor * cuda::multiprocessors()));
  }
  return {.launch = [=](const ChunkMemory& chunk, StreamHandle stream) {
    each_item_kernel<F><<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Item*>(chunk.inputs[0]), static_cast<const Item*>(chunk.inputs[F::kInputs - 1]),
        static_cast<Item*>(chunk.output), items, work);
    cuda::check(cudaGetLastError(), "launching a workload's kernel");
  }};
}

#endif

/// The workload of F: in a build without CUDA with no kernel.
template <EachItem F>
Workload each_item(const WorkloadDescription& about) {
#if defined(__CUDACC__)
  return {.about = about, .data = data_of_each_item<F>, .bind = bind_each_item<F>};
#else
  return {.about = about, .data = data_of_each_item<F>};
#endif
}

/// A float in [1, 2) for a value: all of them different.
constexpr float between_one_and_two(std::uint32_t value) {
  return 1.0f + static_cast<float>(value % kValues) / static_cast<float>(kValues);
}

}  // namespace scanlab::streams
