// Thousands of tiny copies from pieces of host memory to pieces of device memory.
#include <algorithm>
#include <cstring>

#include "symptom.cuh"

namespace {

__global__ void scatter(Item* to, const Item* packed, std::size_t n) {
  to += std::size_t{2} * blockIdx.x * n;
  packed += blockIdx.x * n;
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = packed[i];
}

void run(Run& run) {
  const std::size_t pieces = run.size(1000, 4000);
  const std::size_t n = 4 * run.number(4, 64);             // items of a piece: 64 bytes to 1 KiB
  [[maybe_unused]] const bool packs = run.choice(2) == 1;  // the cure: a packed copy and a kernel, or a batch of copies
  const std::size_t bytes = n * sizeof(Item);
  Item* const from = pinned_items(2 * pieces * n);  // every second piece
  Item* const to = device_items(2 * pieces * n);
  Item* const host_pack = pinned_items(pieces * n);
  Item* const device_pack = device_items(pieces * n);
  const cudaStream_t stream = new_stream();
  std::vector<void*> destinations;
  std::vector<const void*> sources;
  for (std::size_t i = 0; i < pieces; ++i) {
    std::fill_n(from + 2 * i * n, n, Item{5});
    destinations.push_back(to + 2 * i * n);
    sources.push_back(from + 2 * i * n);
  }

  run.time([&] {
    if (run.slow) {
      for (std::size_t i = 0; i < pieces; ++i)
        check(cudaMemcpyAsync(destinations[i], sources[i], bytes, cudaMemcpyHostToDevice, stream));
      return;
    }
#if CUDART_VERSION >= 13000
    if (!packs) {
      const std::vector<std::size_t> sizes(pieces, bytes);
      std::size_t first = 0;  // the copy from which on they have these attributes
      cudaMemcpyAttributes attributes{};
      attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
      return check(cudaMemcpyBatchAsync(destinations.data(), sources.data(), sizes.data(), pieces, &attributes, &first,
                                        1, stream));
    }
#endif
    for (std::size_t i = 0; i < pieces; ++i) std::memcpy(host_pack + i * n, sources[i], bytes);
    check(cudaMemcpyAsync(device_pack, host_pack, pieces * bytes, cudaMemcpyHostToDevice, stream));
    scatter<<<static_cast<unsigned>(pieces), 64, 0, stream>>>(to, device_pack, n);
  });

  for (std::size_t i = 0; i < pieces; ++i) run.verify(to + 2 * i * n, n, 5);
}

const Registered kSymptom{"tiny_copies",
                          {.symptom = "thousands of copies take far longer than their bytes",
                           .cause = "many small copies",
                           .cure = "`cudaMemcpyBatchAsync`, or one packed copy and a kernel",
                           .run = run}};

}  // namespace
