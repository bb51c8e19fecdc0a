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

namespace scanlab::measure {

/// What the device's cache holds when a timed run starts.
enum class Cache {
  cold,  ///< nothing of the run's data: evicted before every run
  warm,  ///< what the run before it left, of the same case
};

inline constexpr std::array kCacheNames{std::pair{Cache::cold, std::string_view("cold")},
                                        std::pair{Cache::warm, std::string_view("warm")}};

constexpr std::string_view name(Cache cache) { return kCacheNames[cache == Cache::cold ? 0 : 1].second; }

/// How timed runs reach the device.
enum class Launch {
  stream,  ///< each enqueued by the host
  graph,   ///< all captured in a CUDA graph, which is replayed
};

inline constexpr std::array kLaunchNames{std::pair{Launch::stream, std::string_view("stream")},
                                         std::pair{Launch::graph, std::string_view("graph")}};

constexpr std::string_view name(Launch launch) { return kLaunchNames[launch == Launch::stream ? 0 : 1].second; }

struct TimedCase {
  enum class State {
    timed,    ///< to be timed in every round
    skipped,  ///< not timed: `reason` says why
    failed,   ///< not timed, or no longer: its output was wrong as `reason` says
  };

  Case scan;
  Cache cache = Cache::warm;
  Launch launch = Launch::stream;
  BoundScan bound{};
  std::string name{};  ///< as in results: case_name(…)/cache:…/launch:…

  State state = State::timed;
  std::string reason{};
  bool out_of_memory = false;

  cuda::KernelResources kernels{};    ///< of one run; all 0 where they are not known, or there are none
  double prepare_seconds = 0;         ///< to prepare its workspace; 0: there is nothing to prepare
  std::int64_t runs = 1;              ///< runs a repetition, from the calibration
  double seconds_a_repetition = 0;    ///< of wall time, the latest
  double spent_seconds = 0;           ///< of wall time in all repetitions so far
  bool finished = false;              ///< its interval is narrow enough, or its cap spent: later rounds leave it out
  bool verified = false;              ///< its latest check passed: before timing, and of its last timed run
  std::vector<double> nanoseconds{};  ///< a run, one entry a repetition

  const Description& about() const { return scan.variant->about; }
  const Problem& problem() const { return scan.problem; }
  /// Device code is timed by events, host code by wall clock.
  bool on_host() const { return scan.variant->machines.host && !scan.variant->machines.cuda; }
};

/// The part of a problem that its input and its oracle depend on: the variant's own settings do not matter to them.
inline Problem bare(Problem problem) {
  problem.settings.clear();
  return problem;
}

}  // namespace scanlab::measure
