#include "harness/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace scanlab::cuda {

namespace {

// From nvml.h, which not every toolkit installs; the library keeps these numbers and signatures stable.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuTemperature = 0;

template <class... Parameters, class... Arguments>
bool call(void* library, const char* name, Arguments... arguments) {
  if (library == nullptr) return false;
  auto* const function = reinterpret_cast<int (*)(Parameters...)>(dlsym(library, name));
  return function != nullptr && function(arguments...) == kSuccess;
}

}  // namespace

Nvml::Nvml(const std::string& pci_bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (!call<>(library_, "nvmlInit_v2") ||
      !call<const char*, void**>(library_, "nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device_)) {
    device_ = nullptr;
  }
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  call<>(library_, "nvmlShutdown");
  dlclose(library_);
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 81> text{};
  if (!call<char*, unsigned>(library_, "nvmlSystemGetDriverVersion", text.data(), text.size() - 1)) return std::nullopt;
  return std::string(text.data());
}

std::optional<Clocks> Nvml::clocks() const {
  if (device_ == nullptr) return std::nullopt;
  Clocks clocks;
  if (!call<void*, int, unsigned*>(library_, "nvmlDeviceGetClockInfo", device_, kSmClock, &clocks.sm_mhz) ||
      !call<void*, int, unsigned*>(library_, "nvmlDeviceGetClockInfo", device_, kMemoryClock, &clocks.memory_mhz)) {
    return std::nullopt;
  }
  call<void*, int, unsigned*>(library_, "nvmlDeviceGetTemperature", device_, kGpuTemperature, &clocks.celsius);
  return clocks;
}

double ClockReader::sm_mhz() {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const Clock::time_point now = Clock::now();
  if (now < next_reading_) return 0;
  next_reading_ = now + kPause;
  const auto clocks = nvml_.clocks();
  return clocks ? clocks->sm_mhz : 0;
}

}  // namespace scanlab::cuda
