#include "harness/cuda/gate.hpp"

#include <new>

#include "harness/cuda/error.hpp"
#include "harness/cuda/spin.cuh"

namespace scanlab::cuda {

/// In pinned memory, which both sides see.
struct Gate::Words {
  volatile int is_open;
  volatile int gave_up;
};

namespace {

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
  words_ = new (memory) Words{1, 0};
  wait_until<<<1, 1>>>(&words_->is_open, &words_->gave_up);  // loads the kernel, which takes long
  check(cudaDeviceSynchronize(), "loading the kernel of a gate");
}

Gate::~Gate() { cudaFreeHost(words_); }

void Gate::close(cudaStream_t stream) {
  words_->is_open = 0;
  words_->gave_up = 0;
  wait_until<<<1, 1, 0, stream>>>(&words_->is_open, &words_->gave_up);
  check(cudaGetLastError(), "launching a gate");
}

void Gate::open() { words_->is_open = 1; }

bool Gate::gave_up() const { return words_->gave_up != 0; }

}  // namespace scanlab::cuda
