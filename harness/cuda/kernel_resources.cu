#include "harness/cuda/kernel_resources.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "harness/cuda/graph.hpp"

namespace scanlab::cuda {

KernelResources kernel_resources(const Graph& run) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(run.get(), nullptr, &count), "counting a graph's nodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) check(cudaGraphGetNodes(run.get(), nodes.data(), &count), "reading a graph's nodes");
  KernelResources most;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type), "reading a graph node");
    if (type != cudaGraphNodeTypeKernel) continue;
    ++most.launches;
    cudaKernelNodeParams launch{};
    cudaFuncAttributes kernel{};
    if (cudaGraphKernelNodeGetParams(node, &launch) != cudaSuccess ||
        cudaFuncGetAttributes(&kernel, launch.func) != cudaSuccess) {
      cudaGetLastError();  // a kernel of another copy of the runtime: it counts, and the rest stays unknown
      continue;
    }
    most.threads = std::max(most.threads, static_cast<int>(launch.blockDim.x * launch.blockDim.y * launch.blockDim.z));
    most.registers = std::max(most.registers, kernel.numRegs);
    most.shared_bytes = std::max(most.shared_bytes, kernel.sharedSizeBytes + launch.sharedMemBytes);
    most.local_bytes = std::max(most.local_bytes, kernel.localSizeBytes);
  }
  return most;
}

}  // namespace scanlab::cuda
