#include "harness/cuda/timing.hpp"

namespace scanlab::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAMultiprocessor = 8;
constexpr std::size_t kTimesTheCache = 3;  // replacement is not strictly least recently used

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaDeviceGetAttribute(&value, which, device), "asking for a device attribute");
  return value;
}

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

}  // namespace

CacheEviction::CacheEviction()
    : buffer_(kTimesTheCache * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize))),
      sum_(sizeof(unsigned)),
      blocks_(kBlocksAMultiprocessor * attribute(cudaDevAttrMultiProcessorCount)) {
  check(cudaMemset(buffer_.data(), 0, buffer_.bytes()), "clearing the eviction buffer");
  check(cudaDeviceSynchronize(), "clearing the eviction buffer");
}

void CacheEviction::enqueue(cudaStream_t stream) const {
  read_all<<<blocks_, kThreads, 0, stream>>>(buffer_.as<const uint4>(), buffer_.bytes() / sizeof(uint4),
                                             sum_.as<unsigned>());
  check(cudaGetLastError(), "launching the cache eviction");
}

StreamTimer::StreamTimer() : intervals_(1) {}

double StreamTimer::warm(const Work& work, std::int64_t runs, const std::function<void()>& meanwhile) {
  const auto& [start, end] = intervals_.front();
  start.record(stream_.get());
  for (std::int64_t i = 0; i < runs; ++i) work(stream_.get());
  end.record(stream_.get());
  if (meanwhile) meanwhile();
  end.synchronize();
  return seconds_between(start, end) / static_cast<double>(runs);
}

double StreamTimer::cold(const Work& work, std::int64_t runs, const std::function<void()>& meanwhile) {
  if (intervals_.size() < static_cast<std::size_t>(runs)) intervals_.resize(static_cast<std::size_t>(runs));
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto& [start, end] = intervals_[static_cast<std::size_t>(i)];
    eviction_.enqueue(stream_.get());
    start.record(stream_.get());
    work(stream_.get());
    end.record(stream_.get());
  }
  if (meanwhile) meanwhile();
  stream_.synchronize();
  double seconds = 0;
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto& [start, end] = intervals_[static_cast<std::size_t>(i)];
    seconds += seconds_between(start, end);
  }
  return seconds / static_cast<double>(runs);
}

}  // namespace scanlab::cuda
