// Scratch memory from a pool that has room for one stream's: the driver makes each stream wait for another's free.
#include "symptom.cuh"

namespace {

__global__ void advance_by(Item* scratch, Item* items, std::size_t n, int steps) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    scratch[i] = items[i];
    items[i] = advanced(scratch[i], steps);
  }
}

cudaMemPool_t new_pool(std::size_t bytes) {
  cudaMemPoolProps about{};
  about.allocType = cudaMemAllocationTypePinned;
  about.location.type = cudaMemLocationTypeDevice;
  about.maxSize = bytes;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &about));
  std::uint64_t keeps_all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps_all));
  return pool;
}

void run(Run& run) {
  const int streams = run.number(2, 5);
  const int rounds = run.size(3, 8);
  const int steps = run.number(1, 200);
  const std::size_t n = std::size_t(run.number(1, 2)) << 23;  // 32 or 64 MiB: pools grow by 32
  const std::size_t bytes = n * sizeof(Item);
  std::vector<cudaStream_t> stream(streams);
  std::vector<cudaMemPool_t> pool(streams, new_pool(bytes));
  std::vector<Item*> items(streams);
  for (int i = 0; i < streams; ++i) {
    stream[i] = new_stream();
    items[i] = device_items(n);
    if (!run.slow && i > 0) pool[i] = new_pool(bytes);
  }

  run.time([&] {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < streams; ++i) {
        void* scratch = nullptr;
        check(cudaMallocFromPoolAsync(&scratch, bytes, pool[i], stream[i]));
        advance_by<<<64, 256, 0, stream[i]>>>(static_cast<Item*>(scratch), items[i], n, steps);
        check(cudaFreeAsync(scratch, stream[i]));
      }
    }
  });

  for (const Item* each : items) run.verify(each, n, advanced(0, run.runs() * rounds * steps));
}

const Registered kSymptom{"tied_pool",
                          {.symptom = "streams that share no data wait for each other",
                           .cause = "memory reused across streams",
                           .cure = "a pool for each stream, or a larger one without internal dependencies",
                           .run = run}};

}  // namespace
