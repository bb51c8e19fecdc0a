// A CUDA graph, captured from a stream, that owns itself.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// The work that `enqueue` puts on a stream, captured instead of run.
class Graph {
 public:
  /// Throws what `enqueue` throws, and CudaError for what cannot be captured; the stream then captures no longer.
  template <class Enqueue>
  Graph(cudaStream_t stream, Enqueue&& enqueue) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    std::exception_ptr failure;
    try {
      enqueue();
    } catch (...) {
      failure = std::current_exception();
    }
    const cudaError_t error = cudaStreamEndCapture(stream, &graph_);
    if (failure) {
      if (graph_ != nullptr) cudaGraphDestroy(graph_);
      std::rethrow_exception(failure);
    }
    check(error, "capturing in a graph");
  }
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

/// A graph made ready: it can be replayed any number of times. The first replay also uploads it.
class ReadyGraph {
 public:
  explicit ReadyGraph(const Graph& graph) {
    check(cudaGraphInstantiate(&ready_, graph.get(), 0), "instantiating a graph");
  }
  ~ReadyGraph() { cudaGraphExecDestroy(ready_); }
  ReadyGraph(const ReadyGraph&) = delete;
  ReadyGraph& operator=(const ReadyGraph&) = delete;

  /// Brings it to the device now, and not with the first replay. Only enqueues.
  void upload(cudaStream_t stream) const { check(cudaGraphUpload(ready_, stream), "uploading a graph"); }
  void replay(cudaStream_t stream) const { check(cudaGraphLaunch(ready_, stream), "replaying a graph"); }

 private:
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace scanlab::cuda
