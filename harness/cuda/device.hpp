// Facts about the device and the toolkit, for `info` and for the provenance of results. No CUDA types here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace scanlab::cuda {

/// The device that CUDA calls 0 (CUDA_VISIBLE_DEVICES chooses which that is).
struct DeviceFacts {
  std::string name;
  std::string compute_capability;  ///< "9.0"
  std::string pci_bus_id;
  std::string cuda_driver;  ///< the CUDA version that the driver supports, "13.0"
  int multiprocessors = 0;
  int resident_blocks = 0;   ///< a multiprocessor, at most
  int resident_threads = 0;  ///< likewise
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int sm_clock_mhz_max = 0;
  int memory_clock_mhz_max = 0;
  int memory_bus_bits = 0;
  bool ecc = false;
  int copy_engines = 0;
};

struct DeviceProbe {
  std::optional<DeviceFacts> facts;
  std::string why_not;  ///< why there is no device
};

/// CUDA's 13000 is version 13.0.
inline std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// What CUDA said instead of naming a device.
enum class NoDevice { none, driver_too_old, other };

/// Why there is no device, for people. `driver` is the CUDA version that the driver supports, 0 without a driver;
/// `runtime` that of this program; `words` are CUDA's. Without a driver CUDA calls it too old, which says nothing of
/// the machine.
inline std::string why_no_device(NoDevice said, int driver, int runtime, const std::string& words) {
  if (driver == 0) return "this machine has no NVIDIA GPU, or no driver for it";
  if (said == NoDevice::none)
    return "the NVIDIA driver gives this program no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  if (said == NoDevice::other) return words;
  return "the NVIDIA driver supports CUDA " + cuda_version(driver) + ", and this program was built with " +
         cuda_version(runtime) + "; install a newer driver";
}

DeviceProbe probe_device();

/// What the CUDA half was built with.
struct ToolkitFacts {
  std::string toolkit;  ///< of the headers and the runtime, "13.0"
  std::string cccl;     ///< "3.0.1"
  std::string nvcc;     ///< "13.0.88"
};

ToolkitFacts toolkit_facts();

}  // namespace scanlab::cuda
