// A CUDA graph, captured from a stream, that owns itself.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>

#include "harness/cuda/error.hpp"
#include "harness/cuda/owned.hpp"

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
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    graph_.reset(graph);
    if (failure) std::rethrow_exception(failure);
    check(error, "capturing in a graph");
  }

  cudaGraph_t get() const { return graph_.get(); }

 private:
  Owned<cudaGraph_t, cudaGraphDestroy> graph_;
};

/// A graph made ready: it can be replayed any number of times. The first replay also uploads it.
class ReadyGraph {
 public:
  explicit ReadyGraph(const Graph& graph) {
    cudaGraphExec_t ready = nullptr;
    check(cudaGraphInstantiate(&ready, graph.get(), 0), "instantiating a graph");
    ready_.reset(ready);
  }

  /// Brings it to the device now, and not with the first replay. Only enqueues.
  void upload(cudaStream_t stream) const { check(cudaGraphUpload(ready_.get(), stream), "uploading a graph"); }
  void replay(cudaStream_t stream) const { check(cudaGraphLaunch(ready_.get(), stream), "replaying a graph"); }

 private:
  Owned<cudaGraphExec_t, cudaGraphExecDestroy> ready_;
};

}  // namespace scanlab::cuda
