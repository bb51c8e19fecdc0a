#include "harness/cuda/timing.hpp"

#include <new>
#include <stdexcept>

#include "harness/cuda/graph.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/spin.cuh"

namespace scanlab::cuda {

namespace {

constexpr int kUntimedRuns = 3;
constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;
constexpr std::size_t kTimesTheCache = 3;  // replacement is not strictly least recently used

/// Reads `vectors` 16-byte vectors of zeros.
__global__ void read_all(const uint4* data, std::size_t vectors, unsigned* sum) {
  unsigned mine = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += stride) {
    const uint4 vector = data[i];
    mine += vector.x + vector.y + vector.z + vector.w;
  }
  if (mine != 0) *sum = mine;  // never: it keeps the loads alive
}

__global__ void do_nothing() {}

constexpr unsigned long long kPatience = 2'000'000'000;  // nanoseconds

__global__ void wait_until(const volatile int* is_open, volatile int* gave_up) {
  const unsigned long long start = global_nanoseconds();
  while (*is_open == 0) {
    if (global_nanoseconds() - start < kPatience) continue;
    *gave_up = 1;
    return;
  }
}

}  // namespace

Gate::Gate() {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(Words), cudaHostAllocMapped), "allocating a gate");
  words_.reset(new (memory) Words{1, 0});
  wait_until<<<1, 1>>>(&words_->is_open, &words_->gave_up);  // loads the kernel, which takes long
  check(cudaDeviceSynchronize(), "loading the kernel of a gate");
}

void Gate::close(cudaStream_t stream) {
  words_->is_open = 0;
  words_->gave_up = 0;
  wait_until<<<1, 1, 0, stream>>>(&words_->is_open, &words_->gave_up);
  check(cudaGetLastError(), "launching a gate");
}

L2Flush::L2Flush()
    : buffer_(kTimesTheCache * static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize))),
      sum_(sizeof(unsigned)),
      blocks_(kBlocksPerMultiprocessor * multiprocessors()) {
  check(cudaMemset(buffer_.data(), 0, buffer_.bytes()), "clearing the buffer of the L2 flush");
  enqueue(nullptr);  // loads the kernel, which a stream that is captured may not do
  do_nothing<<<1, 1>>>();
  check(cudaDeviceSynchronize(), "clearing the buffer of the L2 flush");
}

void L2Flush::enqueue(cudaStream_t stream) const {
  read_all<<<blocks_, kThreads, 0, stream>>>(buffer_.as<const uint4>(), buffer_.bytes() / sizeof(uint4),
                                             sum_.as<unsigned>());
  check(cudaGetLastError(), "launching the L2 flush");
}

double StreamTimer::warm(const Work& work, std::int64_t runs) {
  for (int i = 0; i < kUntimedRuns; ++i) work.run(stream_.get());
  return between_events(work, runs, [&] {
    for (std::int64_t i = 0; i < runs; ++i) work.run(stream_.get());
  });
}

double StreamTimer::warm_batch(const Work& work, std::int64_t runs) {
  for (int i = 0; i < kUntimedRuns; ++i) work.run(stream_.get());
  if (work.between) work.between(stream_.get());
  synchronize();
  const auto& [start, end] = intervals_.front();
  gate_.close(stream_.get());
  start.record(stream_.get());
  for (std::int64_t i = 0; i < runs; ++i) work.run(stream_.get());
  end.record(stream_.get());
  gate_.open();
  if (work.meanwhile) work.meanwhile();
  end.synchronize();
  if (gate_.gave_up()) throw std::runtime_error("the host took too long to enqueue a batch: its time would be wrong");
  return seconds_between(start, end) / static_cast<double>(runs);
}

double StreamTimer::warm_graph(const Work& work, std::int64_t runs) {
  const ReadyGraph chain(Graph(stream_.get(), [&] {
    for (std::int64_t i = 0; i < runs; ++i) work.run(stream_.get());
  }));
  chain.replay(stream_.get());  // untimed, and what the launch of the next hides behind
  return between_events(work, runs, [&] { chain.replay(stream_.get()); });
}

double StreamTimer::cold(const Work& work, std::int64_t runs) {
  make_intervals(runs);
  for (int i = 0; i < kUntimedRuns; ++i) work.run(stream_.get());
  if (work.between) work.between(stream_.get());
  for (std::int64_t i = 0; i < runs; ++i) {
    // Every second launch of a stream takes longer, by 0.45 µs on an H200. Without this launch, the runs of a sample
    // would all be first or all be second ones, as an even or odd number of launches came before.
    if (i % 2 == 1) do_nothing<<<1, 1, 0, stream_.get()>>>();
    enqueue_cold(work, i);
  }
  return mean_of_intervals(work, runs);
}

double StreamTimer::cold_graph(const Work& work, std::int64_t runs) {
  make_intervals(runs);
  const ReadyGraph chain(Graph(stream_.get(), [&] {
    for (std::int64_t i = 0; i < runs; ++i) enqueue_cold(work, i);
  }));
  chain.replay(stream_.get());
  if (work.between) work.between(stream_.get());
  chain.replay(stream_.get());  // its events replace those of the replay before
  return mean_of_intervals(work, runs);
}

/// Mean seconds of one of the `runs` runs that `enqueue` enqueues.
double StreamTimer::between_events(const Work& work, std::int64_t runs, const std::function<void()>& enqueue) const {
  const auto& [start, end] = intervals_.front();
  if (work.between) work.between(stream_.get());
  start.record(stream_.get());
  enqueue();
  end.record(stream_.get());
  if (work.meanwhile) work.meanwhile();
  end.synchronize();
  return seconds_between(start, end) / static_cast<double>(runs);
}

void StreamTimer::make_intervals(std::int64_t runs) {
  if (intervals_.size() < static_cast<std::size_t>(runs)) intervals_.resize(static_cast<std::size_t>(runs));
}

/// Run `i`: an L2 flush, then the run between its two events.
void StreamTimer::enqueue_cold(const Work& work, std::int64_t i) const {
  const auto& [start, end] = intervals_[static_cast<std::size_t>(i)];
  l2_flush_.enqueue(stream_.get());
  start.record(stream_.get());
  work.run(stream_.get());
  end.record(stream_.get());
}

double StreamTimer::mean_of_intervals(const Work& work, std::int64_t runs) const {
  if (work.meanwhile) work.meanwhile();
  stream_.synchronize();
  double seconds = 0;
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto& [start, end] = intervals_[static_cast<std::size_t>(i)];
    seconds += seconds_between(start, end);
  }
  return seconds / static_cast<double>(runs);
}

}  // namespace scanlab::cuda
