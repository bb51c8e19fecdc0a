#include <cuda_runtime_api.h>

#include <array>
#include <cub/version.cuh>

#include "harness/cuda/device.hpp"
#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

namespace {

constexpr int kDevice = 0;

/// Asked one by one: CUDA 13 dropped the clocks from cudaDeviceProp.
int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, kDevice), "asking for a device attribute");
  return value;
}

// fmt's compile-time format checks are more than nvcc's front end takes, so these are written out.
std::string dotted(int first, int second) { return std::to_string(first) + "." + std::to_string(second); }

std::string pci_bus_id() {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), text.size(), kDevice), "asking for the device's bus id");
  return text.data();
}

DeviceFacts facts() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, kDevice), "asking for the device's properties");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  return {
      .name = properties.name,
      .compute_capability = dotted(properties.major, properties.minor),
      .pci_bus_id = pci_bus_id(),
      .cuda_driver = cuda_version(driver),
      .multiprocessors = properties.multiProcessorCount,
      .resident_blocks = properties.maxBlocksPerMultiProcessor,
      .resident_threads = properties.maxThreadsPerMultiProcessor,
      .memory_bytes = properties.totalGlobalMem,
      .l2_bytes = static_cast<std::size_t>(properties.l2CacheSize),
      .sm_clock_mhz_max = attribute(cudaDevAttrClockRate) / 1000,
      .memory_clock_mhz_max = attribute(cudaDevAttrMemoryClockRate) / 1000,
      .memory_bus_bits = properties.memoryBusWidth,
      .ecc = properties.ECCEnabled != 0,
      .copy_engines = properties.asyncEngineCount,
  };
}

}  // namespace

DeviceProbe probe_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) {
    std::string refusal = why_no_code(SCANLAB_CUDA_ARCHITECTURES, attribute(cudaDevAttrComputeCapabilityMajor),
                                      attribute(cudaDevAttrComputeCapabilityMinor));
    if (!refusal.empty()) return {.facts = std::nullopt, .refusal = std::move(refusal)};
    return {.facts = facts(), .refusal = {}};
  }
  int driver = 0;
  cudaDriverGetVersion(&driver);  // 0 without one
  const NoDevice reason = error == cudaSuccess || error == cudaErrorNoDevice ? NoDevice::none
                          : error == cudaErrorInsufficientDriver             ? NoDevice::driver_too_old
                                                                             : NoDevice::other;
  return {.facts = std::nullopt, .refusal = why_no_device(reason, driver, CUDART_VERSION, cudaGetErrorString(error))};
}

ToolkitFacts toolkit_facts() {
  return {
      .toolkit = cuda_version(CUDART_VERSION),
      .cccl = dotted(CUB_MAJOR_VERSION, CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION),
      .nvcc = dotted(__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__) + "." + std::to_string(__CUDACC_VER_BUILD__),
      .architectures = SCANLAB_CUDA_ARCHITECTURES,
  };
}

}  // namespace scanlab::cuda
