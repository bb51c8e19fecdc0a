// The resources that the kernels of a run take of a multiprocessor, read from a captured run. No CUDA types here.
#pragma once

#include <cstddef>

namespace scanlab::cuda {

class Graph;

/// The kernels of one run: their number, and the most that any of them takes.
struct KernelResources {
  int launches = 0;
  int threads = 0;               ///< a block
  int registers = 0;             ///< a thread
  std::size_t shared_bytes = 0;  ///< a block, static and dynamic
  std::size_t local_bytes = 0;   ///< a thread: spilled registers, and arrays that are indexed at run time
};

/// Throws CudaError.
KernelResources kernel_resources(const Graph& run);

}  // namespace scanlab::cuda
