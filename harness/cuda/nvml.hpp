// Facts that only the management library knows: the driver's version, and the clocks the device runs at now. It comes
// with the driver and is loaded when first asked; where it is missing, the answers are empty.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "harness/host/clock.hpp"

namespace scanlab::cuda {

struct Clocks {
  unsigned sm_mhz = 0;
  unsigned memory_mhz = 0;
  unsigned celsius = 0;  ///< the temperature of the GPU's die
};

/// The management library's view of one device.
class Nvml {
 public:
  /// `pci_bus_id` as cudaDeviceGetPCIBusId writes it: the library numbers devices in another order than CUDA does.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<std::string> driver_version() const;
  /// The clocks at which the device runs now; an idle device reports idle clocks, so ask while it works.
  std::optional<Clocks> clocks() const;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
};

/// The multiprocessors' clock beside timings: below the device's highest, it was throttled, or clocked down.
class ClockReader {
 public:
  explicit ClockReader(const std::string& pci_bus_id) : nvml_(pci_bus_id) {}

  /// In MHz; ask while the device works or has just ended. 0 if it is not known, or was asked for a moment ago: asking
  /// takes as long as a short repetition.
  double sm_mhz();

 private:
  Nvml nvml_;
  Clock::time_point next_reading_{};
};

}  // namespace scanlab::cuda
