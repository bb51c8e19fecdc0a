// Launches whose blocks know each other: all resident at once, or in clusters.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// An attribute of the device, or 0 if there is none.
inline int device_attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return value;
}

inline int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// 90 for 9.0.
inline int compute_capability() {
  return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) + device_attribute(cudaDevAttrComputeCapabilityMinor);
}

struct LaunchShape {
  int blocks = 1;
  int threads = 1;               ///< a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory a block
  bool cooperative = false;      ///< start when all blocks can be resident, so that they may wait for each other
  int cluster = 1;               ///< blocks a cluster
};

/// Lets a kernel, which has no static shared memory, have what `shape` asks for beyond what every kernel gets. Not to
/// be called while a stream is captured; once is enough. The leave is the kernel's, not the launch's: it is the most
/// there is, so that plans of different shapes do not take it back from each other.
template <class... Parameters>
void allow(void (*kernel)(Parameters...), const LaunchShape& shape) {
  constexpr std::size_t kGivenToAll = 48 * 1024;
  if (shape.shared_bytes > kGivenToAll) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
          "asking for shared memory");
  }
  if (shape.cluster > 8) {  // larger ones are not portable
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "asking for large clusters");
  }
}

/// Enqueues; throws CudaError if the launch is refused.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = static_cast<unsigned>(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (shape.cooperative) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  if (shape.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a kernel");
}

}  // namespace scanlab::cuda
