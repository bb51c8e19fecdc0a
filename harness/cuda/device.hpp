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
  std::string why_not;  ///< why there is no device, in the driver's words
};

DeviceProbe probe_device();

/// What the CUDA half was built with.
struct ToolkitFacts {
  std::string toolkit;  ///< of the headers and the runtime, "13.0"
  std::string cccl;     ///< "3.0.1"
  std::string nvcc;     ///< "13.0.88"
};

ToolkitFacts toolkit_facts();

}  // namespace scanlab::cuda
