// Kernel launches, with clusters and with programmatic dependent launch (PDL), and the device queries they need.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Clears the errors of queries that may fail, on destruction, unless an error was already pending.
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

/// Returns an attribute of the current device, or 0 if there is no device.
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

/// Finds a function of the driver by name, so that no program links the driver's library; null if it is missing.
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

/// Returns the id of the thread's current context, which is unique within the process; 0 if there is no context yet.
/// A device has a primary context, and may have green contexts, which use a part of its multiprocessors.
inline unsigned long long context_number() {
  static auto* const get_current = driver_function<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  static auto* const get_number = driver_function<decltype(cuCtxGetId)>("cuCtxGetId");
  CUcontext context = nullptr;
  unsigned long long number = 0;
  if (get_current == nullptr || get_number == nullptr || get_current(&context) != CUDA_SUCCESS || context == nullptr)
    return 0;
  return get_number(context, &number) == CUDA_SUCCESS ? number : 0;
}

/// Returns the result of `query`, which each thread calls once per context. A result that converts to false is not
/// stored: the next call queries again.
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

/// Represents all kernels of the program, which are compiled for the same architectures.
template <int>
__global__ void any_kernel() {}

/// The version of the kernels' code that the current device runs.
struct DeviceCode {
  cudaError_t error = cudaSuccess;  ///< the error of the query, if it failed
  int version =
      0;  ///< 90 if compiled for compute capability 9.0, also where the driver translated it for a newer device
  explicit operator bool() const { return error == cudaSuccess; }
};

inline DeviceCode device_code() {
  return once_per_context([] {
    const ClearsErrors clears;
    cudaFuncAttributes attributes{};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, any_kernel<0>);
    return DeviceCode{.error = error, .version = attributes.ptxVersion};
  });
}

/// Whether wait_for_kernels_before() waits in the code that the current device runs. Code that is compiled for an
/// architecture before 9.0 does not wait, and so must not be launched with PDL.
inline bool pdl_kernels_wait() { return device_code().version >= 90; }

struct LaunchShape {
  int blocks = 1;
  int threads = 1;                          ///< per block
  std::size_t shared_bytes = 0;             ///< dynamic shared memory per block
  int cluster = 1;                          ///< blocks per cluster
  bool pdl = false;                         ///< use PDL: the kernel must begin with wait_for_kernels_before()
  const char* what = "launching a kernel";  ///< for error messages
};

/// Waits until all earlier kernels of the stream have ended and their writes are visible. Every thread of a kernel with
/// PDL calls this before it accesses global memory, so the work of consecutive kernels does not overlap: the blocks of
/// the later kernel may only be resident already when the earlier one ends ("Programmatic Dependent Launch", CUDA C++
/// Programming Guide; compute capability 9.0 and later). The newest CUB launches its kernels in the same way.
__device__ inline void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Allows the next kernel with PDL to start where there is room, once every block has called this or ended. One thread
/// of each block calls it. The newest CUB (3.6) calls it at the start of its small first kernel, in its scan before the
/// stores, and in its look-ahead when the load warps have ended. A call at the start made our one_wave slower: waiting
/// blocks of the next kernel then occupied the place of working blocks.
__device__ inline void trigger_dependent_launch() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Loads a kernel on the current device. The runtime loads it at its first launch otherwise, and that may wait for the
/// device: for ever, where a kernel that runs waits for another rank, whose launch waits for the same lock of the
/// driver ("Lazy Loading", CUDA C++ Programming Guide).
template <class... Parameters>
void load(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

/// Raises the limits of a kernel without static shared memory to the shared memory and cluster size of `shape`. One
/// call is enough. The limit belongs to the kernel, not to the launch.
/// It is set to the device's maximum, so that plans of different shapes do not lower it for each other.
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
/// As try_allow(); throws CudaError if the device refuses.
template <class... Parameters>
void allow(void (*kernel)(Parameters...), const LaunchShape& shape) {
  check(try_allow(kernel, shape), "asking for shared memory, or for large clusters");
}

/// Enqueues the kernel; returns the error if the launch is refused.
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
  if (shape.pdl && pdl_kernels_wait()) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}
/// Enqueues the kernel; throws CudaError if the launch is refused.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            const Arguments&... arguments) {
  check(try_launch(kernel, shape, stream, arguments...), shape.what);
}

/// Whether the current device, when idle, can run a kernel in clusters of this shape.
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
