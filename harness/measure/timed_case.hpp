// A case that `bench` times: a variant, a problem, a state of the cache, a way to launch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/cuda/kernel_resources.hpp"
#include "harness/measure/loop.hpp"

namespace scanlab::measure {

/// The content of the device's cache when a timed run starts.
enum class Cache {
  cold,  ///< nothing of the run's data: an L2 flush goes before every run
  warm,  ///< the data that the run before left, of the same case
};

inline constexpr std::array kCacheNames{std::pair{Cache::cold, std::string_view("cold")},
                                        std::pair{Cache::warm, std::string_view("warm")}};

constexpr std::string_view name(Cache cache) { return kCacheNames[cache == Cache::cold ? 0 : 1].second; }

/// How timed runs reach the device.
enum class Launch {
  stream,    ///< each enqueued by the host
  graph,     ///< all captured in a CUDA graph, which is replayed
  batch,     ///< enqueued by the host behind a kernel that waits for the last of them: the host's time does not show
  pipeline,  ///< as stream, each between a kernel that writes its input and one that reads its output, timed with them
};

inline constexpr std::array kLaunchNames{
    std::pair{Launch::stream, std::string_view("stream")}, std::pair{Launch::graph, std::string_view("graph")},
    std::pair{Launch::batch, std::string_view("batch")}, std::pair{Launch::pipeline, std::string_view("pipeline")}};

constexpr std::string_view name(Launch launch) { return kLaunchNames[static_cast<std::size_t>(launch)].second; }

struct TimedCase : Timing {
  TimedCase() = default;
  explicit TimedCase(Case chosen, Cache of_cache = Cache::warm, Launch by_launch = Launch::stream)
      : scan(std::move(chosen)), cache(of_cache), launch(by_launch) {}

  Case scan;
  Cache cache = Cache::warm;
  Launch launch = Launch::stream;
  BoundScan bound{};
  cuda::KernelResources kernels{};  ///< of one run; all 0 where they are not known, or there are none
  double prepare_seconds = 0;       ///< to prepare its workspace; 0: there is nothing to prepare
  std::int64_t runs = 1;            ///< per sample, from the calibration

  const Description& about() const { return scan.variant->about; }
  const Problem& problem() const { return scan.problem; }
  /// Device code is timed by events, host code by wall clock.
  bool on_host() const { return scan.variant->machines.host && !scan.variant->machines.cuda; }
};

}  // namespace scanlab::measure
