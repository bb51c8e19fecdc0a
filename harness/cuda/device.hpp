// Facts about the device and the toolkit, for `info` and for the provenance of results. No CUDA types here.
#pragma once

#include <algorithm>
#include <charconv>
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
  std::string refusal;  ///< why there is no device
};

/// CUDA's 13000 is version 13.0.
inline std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// CUDA's reason for naming no device.
enum class NoDevice { none, driver_too_old, other };

/// Why there is no device, for people. `driver` is the CUDA version that the driver supports, 0 without a driver;
/// `runtime` that of this program; `words` are CUDA's. Without a driver CUDA calls it too old, which says nothing of
/// the machine.
inline std::string why_no_device(NoDevice reason, int driver, int runtime, const std::string& words) {
  if (driver == 0) return "this machine has no NVIDIA GPU, or no driver for it";
  if (reason == NoDevice::none)
    return "the NVIDIA driver gives this program no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  if (reason == NoDevice::other) return words;
  return "the NVIDIA driver supports CUDA " + cuda_version(driver) + ", and this program was built with " +
         cuda_version(runtime) + "; install a newer driver";
}

/// Why a program compiled for these architectures, as CMAKE_CUDA_ARCHITECTURES has them with commas, cannot run on a
/// device of a compute capability, and how one is built that can; empty if it can. "90" is machine code for 9.x
/// from 9.0 on, and PTX that newer devices compile; "90-real" the former, "90-virtual" the latter alone, and "90a" is
/// for 9.0 alone.
inline std::string why_no_code(const std::string& architectures, int major, int minor) {
  for (std::size_t at = 0; at < architectures.size();) {
    const std::size_t end = std::min(architectures.find(',', at), architectures.size());
    const std::string each = architectures.substr(at, end - at);
    at = end + 1;
    int number = 0;
    std::from_chars(each.data(), each.data() + each.size(), number);
    if (number == 0) return {};  // "native", "all": not known here
    const bool is_of_generation = number / 10 == major && number % 10 <= minor;
    const bool is_older = number <= 10 * major + minor;
    if (each.find_first_of("af") != std::string::npos && each.find('-') == std::string::npos) {
      if (number == 10 * major + minor) return {};
    } else if (each.ends_with("-real") ? is_of_generation : is_older) {
      return {};
    }
  }
  const std::string needed = std::to_string(major) + std::to_string(minor);
  return "this program has no code for the GPU, whose compute capability is " + std::to_string(major) + "." +
         std::to_string(minor) + ": it was compiled for " + architectures +
         ". Build one that has: cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES=" + needed +
         " && cmake --build build/cuda";
}

DeviceProbe probe_device();

/// The tools that the CUDA half was built with.
struct ToolkitFacts {
  std::string toolkit;        ///< the version of the headers and the runtime, "13.0"
  std::string cccl;           ///< "3.0.1"
  std::string nvcc;           ///< "13.0.88"
  std::string architectures;  ///< targets of the compiled code, as CMake names them: "90"
};

ToolkitFacts toolkit_facts();

}  // namespace scanlab::cuda
