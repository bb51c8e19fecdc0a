// CUDA streams and events that own themselves.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/cuda/error.hpp"
#include "harness/cuda/owned.hpp"

namespace scanlab::cuda {

/// A non-blocking stream by default: it does not synchronise with the legacy default stream, in which events recorded
/// beside it would time the wrong thing.
class Stream {
 public:
  Stream() : Stream(cudaStreamNonBlocking) {}
  explicit Stream(unsigned flags) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, flags), "creating a stream");
    stream_.reset(stream);
  }

  cudaStream_t get() const { return stream_.get(); }
  /// Waits for all that was enqueued; throws the CudaError of whatever failed on the device.
  void synchronize() const { check(cudaStreamSynchronize(get()), "waiting for the device"); }

 private:
  Owned<cudaStream_t, cudaStreamDestroy> stream_;
};

/// A timing event by default.
class Event {
 public:
  Event() : Event(cudaEventDefault) {}
  explicit Event(unsigned flags) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, flags), "creating an event");
    event_.reset(event);
  }

  cudaEvent_t get() const { return event_.get(); }
  /// On a stream that is captured: as a node of the graph, which records the event anew at each replay.
  void record(cudaStream_t stream) const {
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
    const bool captured = status == cudaStreamCaptureStatusActive;
    check(cudaEventRecordWithFlags(get(), stream, captured ? cudaEventRecordExternal : cudaEventRecordDefault),
          "recording an event");
  }
  void synchronize() const { check(cudaEventSynchronize(get()), "waiting for an event"); }

 private:
  Owned<cudaEvent_t, cudaEventDestroy> event_;
};

/// Seconds on the device between two events that have both completed.
inline double seconds_between(const Event& start, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading the time between two events");
  return milliseconds * 1e-3;
}

}  // namespace scanlab::cuda
