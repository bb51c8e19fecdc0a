// A CUDA stream that owns itself.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Unless told otherwise a non-blocking stream: it does not synchronise with the legacy default stream, in which events
/// recorded beside it would time the wrong thing.
class Stream {
 public:
  Stream() : Stream(cudaStreamNonBlocking) {}
  explicit Stream(unsigned flags) { check(cudaStreamCreateWithFlags(&stream_, flags), "creating a stream"); }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  cudaStream_t get() const { return stream_; }
  /// Waits for all that was enqueued; throws the CudaError of whatever failed on the device.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for the device"); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace scanlab::cuda
