// A case that `bench` times, and the place where cases are verified and timed: the host, or a CUDA device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "harness/core/variant.hpp"
#include "harness/cuda/kernel_resources.hpp"
#include "harness/measure/engine.hpp"
#include "harness/selection/sweeps.hpp"
#include "harness/verify/cuda_verification.hpp"
#include "harness/verify/verification.hpp"

namespace scanlab::measure {

/// A variant, a problem, a state of the cache, and a way to launch.
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

  /// Takes the result of verifying the same scan in another column.
  void take_verification(const TimedCase& other) {
    state = other.state;
    reason = other.reason;
    out_of_memory = other.out_of_memory;
    verified = other.verified;
    kernels = other.kernels;
    prepare_seconds = other.prepare_seconds;
  }

  const Description& about() const { return scan.variant->about; }
  const Problem& problem() const { return scan.problem; }
  /// Device code is timed by events, host code by the host's clock.
  bool on_host() const { return is_host_code(*scan.variant); }
};

inline constexpr InputKind kTimedInput = InputKind::random;

/// The oracle of the problem last asked for: cases come problem by problem, and the oracle of a large one takes seconds
/// and gigabytes.
class OracleStore {
 public:
  explicit OracleStore(std::uint64_t seed) : seed_(seed) {}
  const verify::Oracle& get(const Problem& problem);
  std::uint64_t seed() const { return seed_; }

 private:
  std::uint64_t seed_;
  std::optional<verify::Oracle> oracle_;
};

/// Any exception other than LacksMemory and verify::DeviceLost is a fault of the case.
class ScanBackend {
 public:
  virtual ~ScanBackend() = default;
  /// Runs once between guarded buffers and compares with the oracle.
  virtual verify::Outcome verify(const TimedCase& timed) = 0;
  /// Fills in what is known of a run beside its time: its kernels, and its workspace's preparation.
  virtual void inspect(TimedCase&) {}
  /// A few untimed runs, then `runs` timed ones. Output is poisoned before the timed ones.
  virtual Sample time(const TimedCase& timed, std::int64_t runs) = 0;
  /// Compares what the last timed run, which must have been of this case, left in the output.
  virtual verify::Outcome verify_last_run(const TimedCase& timed) = 0;
  /// One run, and nothing else, inside an NVTX range of the case's name and the profiler's capture range.
  virtual void run_once(const TimedCase& timed) = 0;
};

std::unique_ptr<ScanBackend> make_host_scan_backend(OracleStore& oracles);
#ifdef SCANLAB_WITH_CUDA
/// Needs a device. Throws LacksMemory.
std::unique_ptr<ScanBackend> make_cuda_scan_backend(OracleStore& oracles);
#endif

}  // namespace scanlab::measure
