#include "harness/results/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "harness/host/status.hpp"
#include "scanlab_commit.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/device.hpp"
#include "harness/cuda/nvml.hpp"
#endif

namespace scanlab::measure {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __VERSION__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

Facts build_facts() {
  Facts facts{{"git_commit", kGitCommit}, {"git_dirty", kGitDirty ? "true" : "false"}, {"compiler", compiler()}};
#ifdef NDEBUG
  facts["assertions"] = "off";
#else
  facts["assertions"] = "on";
#endif
#ifdef SCANLAB_WITH_CUDA
  const cuda::ToolkitFacts toolkit = cuda::toolkit_facts();
  facts["cuda"] = "yes";
  facts["toolkit"] = toolkit.toolkit;
  facts["cccl"] = toolkit.cccl;
  facts["nvcc"] = toolkit.nvcc;
  facts["architectures"] = toolkit.architectures;
  if (*SCANLAB_CCCL_VERSION != '\0') facts["cccl_newest"] = SCANLAB_CCCL_VERSION;
#else
  facts["cuda"] = "no";
#endif
#ifdef SCANLAB_WITH_TBB
  facts["tbb"] = "yes";
#else
  facts["tbb"] = "no";
#endif
  return facts;
}

Facts host_facts() {
  utsname system{};
  uname(&system);
  return {{"cpu", processor()},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

#ifdef SCANLAB_WITH_CUDA

std::optional<Facts> device_facts(std::string& refusal) {
  const cuda::DeviceProbe probe = cuda::probe_device();
  if (!probe.facts) {
    refusal = probe.refusal;
    return std::nullopt;
  }
  const cuda::DeviceFacts& device = *probe.facts;
  const cuda::Nvml nvml(device.pci_bus_id);
  Facts facts{{"device", device.name},
              {"compute_capability", device.compute_capability},
              {"driver", nvml.driver_version().value_or("CUDA " + device.cuda_driver)},
              {"cuda_driver", device.cuda_driver},
              {"multiprocessors", std::to_string(device.multiprocessors)},
              {"memory_bytes", std::to_string(device.memory_bytes)},
              {"memory_bus_bits", std::to_string(device.memory_bus_bits)},
              {"l2_bytes", std::to_string(device.l2_bytes)},
              {"sm_clock_mhz_max", std::to_string(device.sm_clock_mhz_max)},
              {"memory_clock_mhz_max", std::to_string(device.memory_clock_mhz_max)},
              {"ecc", device.ecc ? "on" : "off"},
              {"copy_engines", std::to_string(device.copy_engines)}};
  if (const auto clocks = nvml.clocks()) {
    facts["clocks_before"] =
        fmt::format("sm {} MHz, memory {} MHz, {} C", clocks->sm_mhz, clocks->memory_mhz, clocks->celsius);
  }
  return facts;
}

#else

std::optional<Facts> device_facts(std::string& refusal) {
  refusal = "this build has no CUDA";
  return std::nullopt;
}

#endif

Facts run_facts(const std::vector<std::string>& argv) {
  Facts facts = build_facts();
  facts["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  facts["argv"] = fmt::format("{}", fmt::join(argv, " "));
  return facts;
}

std::vector<std::pair<std::string, std::string>> provenance_columns() {
  std::string refusal;
  const Facts device = device_facts(refusal).value_or(Facts{});
  const Facts run = run_facts({});
  std::vector<std::pair<std::string, std::string>> columns{{"device", device.value("device", "")}};
  for (const char* name : {"date", "git_commit", "git_dirty"}) columns.emplace_back(name, run[name]);
  return columns;
}

Facts measured_on_host(const std::vector<std::string>& argv) {
  Facts facts = host_facts();
  facts.update(run_facts(argv));
  return facts;
}

Facts measured_on(const std::string& command, const std::vector<std::string>& argv) {
  std::string refusal;
  const std::optional<Facts> device = device_facts(refusal);
  if (!device) {
    throw CommandError(kNoDevice, fmt::format("{} needs a CUDA device, and there is none: {}", command, refusal));
  }
  Facts facts = *device;
  facts.update(measured_on_host(argv));
  return facts;
}

void add_measured(Facts& facts, const Facts& measured) {
  for (const auto& [from, to] : {std::pair{"device", "device"},
                                 {"driver", "driver"},
                                 {"date", "date"},
                                 {"git_commit", "measured_commit"},
                                 {"git_dirty", "measured_dirty"}}) {
    if (measured.contains(from)) facts[to] = measured[from];
  }
}

}  // namespace scanlab::measure
