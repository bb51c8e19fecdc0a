// A CUDA event that owns itself.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Unless told otherwise a timing event.
class Event {
 public:
  Event() : Event(cudaEventDefault) {}
  explicit Event(unsigned flags) { check(cudaEventCreateWithFlags(&event_, flags), "creating an event"); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  cudaEvent_t get() const { return event_; }
  /// On a stream that is captured: as a node of the graph, which records the event anew at each replay.
  void record(cudaStream_t stream) const {
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
    const bool captured = status == cudaStreamCaptureStatusActive;
    check(cudaEventRecordWithFlags(event_, stream, captured ? cudaEventRecordExternal : cudaEventRecordDefault),
          "recording an event");
  }
  void synchronize() const { check(cudaEventSynchronize(event_), "waiting for an event"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Seconds on the device between two events that have both completed.
inline double seconds_between(const Event& start, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading the time between two events");
  return milliseconds * 1e-3;
}

}  // namespace scanlab::cuda
