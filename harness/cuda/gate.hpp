// A gate in a stream: what is enqueued behind it waits until the host opens it.
#pragma once

#include <cuda_runtime_api.h>

namespace scanlab::cuda {

/// One kernel of one thread that looks at a word of pinned memory. It gives up after two seconds, so that a host that
/// waits for the stream, whose queue is full, is not waited for in turn.
class Gate {
 public:
  /// Throws CudaError.
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Enqueues the kernel.
  void close(cudaStream_t stream);
  void open();
  /// Whether the last one did not wait for open(). Final once the stream is behind it.
  bool gave_up() const;

 private:
  struct Words;
  Words* words_ = nullptr;
};

}  // namespace scanlab::cuda
