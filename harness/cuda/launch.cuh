// Launches: of kernels that are there when the kernel before them ends, and of blocks in clusters.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Clears the errors of queries that may fail, at its end, unless the caller has an error of its own pending.
class ClearsErrors {
 public:
  ClearsErrors() : caller_has_one_(cudaPeekAtLastError() != cudaSuccess) {}
  ~ClearsErrors() {
    if (!caller_has_one_) cudaGetLastError();
  }
  ClearsErrors(const ClearsErrors&) = delete;
  ClearsErrors& operator=(const ClearsErrors&) = delete;

 private:
  bool caller_has_one_;
};

/// An attribute of the device, or 0 if there is none.
inline int device_attribute(cudaDeviceAttr which) {
  const ClearsErrors clears;
  int device = 0;
  int value = 0;
  const bool answered =
      cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&value, which, device) == cudaSuccess;
  return answered ? value : 0;
}

inline int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// 90 for 9.0.
inline int compute_capability() {
  return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) + device_attribute(cudaDevAttrComputeCapabilityMinor);
}

/// A function of the driver, found by name, so that no program links the driver's library; null if it lacks it.
template <class Function>
Function* driver_function(const char* name) {
  const ClearsErrors clears;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
#else
  cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
  return reinterpret_cast<Function*>(function);
}

/// The number of the thread's current context, which no other context of the process has at any time; 0 if there is
/// no context yet. A device has a primary context, and green contexts of a part of its multiprocessors.
inline unsigned long long context_number() {
  static auto* const get_current = driver_function<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  static auto* const get_number = driver_function<decltype(cuCtxGetId)>("cuCtxGetId");
  CUcontext context = nullptr;
  unsigned long long number = 0;
  if (get_current == nullptr || get_number == nullptr || get_current(&context) != CUDA_SUCCESS || context == nullptr)
    return 0;
  return get_number(context, &number) == CUDA_SUCCESS ? number : 0;
}

/// The result of `query`, which each thread calls once in each context. A result that converts to false is no answer:
/// the next call queries again.
template <class Query>
auto once_per_context(Query query) {
  struct Known {
    unsigned long long context;
    decltype(query()) answer;
  };
  thread_local std::vector<Known> all;
  if (const auto context = context_number(); context != 0) {
    for (const Known& known : all) {
      if (known.context == context) return known.answer;
    }
  }
  const auto answer = query();  // may create the context
  if (const auto context = context_number(); context != 0 && answer) all.push_back({context, answer});
  return answer;
}

/// Stands for every kernel of the program, which are all compiled for the same architectures.
template <int>
__global__ void any_kernel() {}

/// The architecture that the kernels were compiled for which the current device runs: 90 for compute capability 9.0,
/// also where the driver translated them for a newer device; 0 if there are none.
inline int code_version() {
  return once_per_context([] {
    const ClearsErrors clears;
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, any_kernel<0>) == cudaSuccess ? attributes.ptxVersion : 0;
  });
}

/// Whether wait_for_kernels_before() is more than nothing in the code that the current device runs. Code that is
/// compiled for an architecture before 9.0 does not wait, and so must not be launched early.
inline bool early_kernels_wait() { return code_version() >= 90; }

struct LaunchShape {
  int blocks = 1;
  int threads = 1;               ///< a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory a block
  int cluster = 1;               ///< blocks a cluster
  bool early = false;            ///< launch it while the kernel before ends; it begins with wait_for_kernels_before()
  const char* what = "launching a kernel";  ///< for an error's sentence
};

/// Every thread of a kernel with PDL calls this before it touches global memory: waits until all kernels before it in
/// its stream have ended and their writes are there. So runs do not overlap: a kernel's blocks come when those of the
/// one before have gone, or let it come; only that one's end is waited for on the multiprocessors ("Programmatic
/// Dependent Launch", CUDA C++ Programming Guide; compute capability 9.0 and later). The newest CUB launches its so.
__device__ inline void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// A thread of each block calls this: the blocks of a next kernel with PDL may come, where there is room, when
/// every block has called this or ended, and not only when all have gone. The newest CUB (3.6) calls it at the start of
/// its first, small kernel, in its scan before it stores, and in its look-ahead when the load warps have ended. Our
/// one_wave was slower for it at the start, since blocks that wait were then in the place of blocks that work.
__device__ inline void let_next_kernel_come() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Lets a kernel, which has no static shared memory, have what `shape` asks for beyond what every kernel gets. Once is
/// enough. The leave is the kernel's, not the launch's: it is the most
/// there is, so that plans of different shapes do not take it back from each other.
template <class... Parameters>
cudaError_t try_allow(void (*kernel)(Parameters...), const LaunchShape& shape) {
  constexpr std::size_t kGivenToAll = 48 * 1024;
  cudaError_t error = cudaSuccess;
  if (shape.shared_bytes > kGivenToAll) {
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  }
  if (error == cudaSuccess && shape.cluster > 8) {  // larger ones are not portable
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  return error;
}
/// Likewise; throws CudaError if it is refused.
template <class... Parameters>
void allow(void (*kernel)(Parameters...), const LaunchShape& shape) {
  check(try_allow(kernel, shape), "asking for shared memory, or for large clusters");
}

/// Enqueues, or says why the launch is refused.
template <class... Parameters, class... Arguments>
cudaError_t try_launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                       const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = static_cast<unsigned>(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  if (shape.early && early_kernels_wait()) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}
/// Enqueues; throws CudaError if the launch is refused.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            const Arguments&... arguments) {
  check(try_launch(kernel, shape, stream, arguments...), shape.what);
}

/// Whether the current device can run a kernel in such clusters, alone.
template <class... Parameters>
bool has_room_for_clusters(void (*kernel)(Parameters...), const LaunchShape& shape) {
  const ClearsErrors clears;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = static_cast<unsigned>(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  const bool asked = try_allow(kernel, shape) == cudaSuccess &&
                     cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess;
  return asked && clusters > 0;
}

}  // namespace scanlab::cuda
