#include "harness/implicit_sync/test_bed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "harness/cuda/error.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/spin.cuh"
#include "harness/host/clock.hpp"

namespace scanlab::implicit_sync {

namespace {

using cuda::check;

constexpr int kPlaces = 64;  ///< kernels between two calls of clear

/// The first block's stamps speak for the grid: all blocks are resident at once and spin as long. A template, so that
/// one can be given a cache configuration that the other has not.
template <Carveout kCarveout>
__global__ void spin_kernel(volatile cuda::Stamps* stamps, unsigned long long nanoseconds) {
  const bool leader = blockIdx.x == 0 && threadIdx.x == 0;
  if (leader) {
    stamps->start = cuda::global_nanoseconds();
    __threadfence_system();
  }
  const cuda::Stamps spun = cuda::spin_for(nanoseconds);
  if (leader) {
    stamps->end = spun.end;
    __threadfence_system();
  }
}

unsigned long long nanoseconds(double seconds) { return static_cast<unsigned long long>(seconds * 1e9); }

/// Requests the permission to use much shared memory once, so that no launch is preceded by it.
template <Carveout kCarveout>
void configure(int carveout, std::size_t most_shared_bytes) {
  check(cudaFuncSetAttribute(spin_kernel<kCarveout>, cudaFuncAttributePreferredSharedMemoryCarveout, carveout),
        "choosing between L1 and shared memory");
  check(cudaFuncSetAttribute(spin_kernel<kCarveout>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(most_shared_bytes)),
        "asking for shared memory");
}

cuda::Stream stream(bool non_blocking) {
  return cuda::Stream(non_blocking ? cudaStreamNonBlocking : cudaStreamDefault);
}

}  // namespace

void Spin::wait_until_started() const {
  const auto limit = Clock::now() + std::chrono::seconds(5);
  while (stamps_->start == 0) {
    if (Clock::now() > limit) throw std::runtime_error("the device did not start a kernel within 5 s: is it in use?");
  }
}

unsigned long long Spin::start() const { return stamps_->start; }
unsigned long long Spin::end() const { return stamps_->end; }

TestBed::TestBed(bool non_blocking_streams)
    : streams_{stream(non_blocking_streams), stream(non_blocking_streams), stream(non_blocking_streams)},
      stamps_memory_(cuda::pinned_memory(kPlaces * sizeof(cuda::Stamps))),
      stamps_(reinterpret_cast<cuda::Stamps*>(stamps_memory_.get())) {
  std::memset(pinned(), 1, kLarge);
  std::memset(pageable(), 1, kLarge);

  multiprocessors_ = cuda::multiprocessors();
  most_shared_bytes_ = static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  configure<Carveout::least_shared>(cudaSharedmemCarveoutMaxL1, most_shared_bytes_);
  configure<Carveout::most_shared>(cudaSharedmemCarveoutMaxShared, most_shared_bytes_);
  clear();
  // A kernel's first launch loads it, which may synchronise: none of that in a trial.
  for (const cudaStream_t stream : {a(), b(), c(), cudaStream_t{}, cudaStreamPerThread}) spin(stream, kShort);
  spin_with(Carveout::least_shared, 1, 0, a(), kShort);
  spin_with(Carveout::most_shared, 1, 0, b(), kShort);
  for (const cuda::Event* each : {&event, &other_event}) each->record(a());
  clear();
}

TestBed::~TestBed() { cudaDeviceSynchronize(); }

Spin TestBed::spin_with(Carveout carveout, int blocks, std::size_t shared_bytes, cudaStream_t stream, double seconds) {
  if (used_ == kPlaces) throw std::logic_error("more kernels in a trial than there are places for stamps");
  volatile cuda::Stamps* const stamps = stamps_ + used_++;
  const auto launch = [&](auto kernel) { kernel<<<blocks, 32, shared_bytes, stream>>>(stamps, nanoseconds(seconds)); };
  if (carveout == Carveout::unchanged) {
    launch(spin_kernel<Carveout::unchanged>);
  } else if (carveout == Carveout::least_shared) {
    launch(spin_kernel<Carveout::least_shared>);
  } else {
    launch(spin_kernel<Carveout::most_shared>);
  }
  check(cudaGetLastError(), "launching a kernel that spins");
  return Spin(stamps);
}

void TestBed::finish() const { check(cudaDeviceSynchronize(), "waiting for the device"); }

void TestBed::clear() {
  finish();
  std::fill_n(stamps_, kPlaces, cuda::Stamps{});
  used_ = 0;
}

double host_seconds(const std::function<void()>& action) {
  const Clock::time_point start = Clock::now();
  action();
  return seconds_since(start);
}

}  // namespace scanlab::implicit_sync
