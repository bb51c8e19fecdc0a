// Scans, verified, calibrated, and timed by the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "harness/measure/engine.hpp"
#include "harness/measure/scan_backend.hpp"

namespace scanlab::measure {

struct ScanOptions {
  double device_seconds = 5e-3;        ///< of timed work that a sample aims at on the device
  std::optional<double> seconds{};     ///< of timed work per sample, instead of our own choice
  std::optional<std::int64_t> runs{};  ///< per sample, instead of a calibration
  bool fixed_repetitions = false;      ///< also where a run takes above a second
};

/// The backends that a list of cases is timed on.
struct Backends {
  std::unique_ptr<ScanBackend> host;
  std::unique_ptr<ScanBackend> cuda;
  ScanBackend& backend_for(const TimedCase& timed) const { return timed.on_host() ? *host : *cuda; }
};

/// The backends that the cases need: the device's only if a case is not on the host. Throws LacksMemory.
Backends make_backends(const std::vector<TimedCase>& cases, OracleStore& oracles);

/// Each case once that is possible, problem by problem: an oracle serves all variants of its problem. `once`: the cases
/// are run, not timed, and there is one of all columns.
std::vector<TimedCase> timed_cases(const std::vector<ScanInColumns>& scans, bool once);

/// Scans, timed problem by problem: the cases of a problem share its input and oracle, and their samples are
/// interleaved.
class ScanSession {
 public:
  /// `cases` must be sorted problem by problem.
  ScanSession(std::vector<TimedCase> cases, const Backends& backends, const ScanOptions& options, Engine& engine)
      : cases_(std::move(cases)), backends_(backends), options_(options), engine_(engine) {}

  /// Verifies, calibrates and times every case. Ends early, everything finished kept, once Ctrl-C is pressed. Throws
  /// verify::DeviceLost.
  void run();

  const std::vector<TimedCase>& cases() const { return cases_; }

 private:
  void verify(TimedCase& timed);
  void verify_last_run(TimedCase& timed);
  void calibrate(TimedCase& timed);
  std::int64_t runs_per_sample(const TimedCase& timed, double seconds_per_run) const;

  std::vector<TimedCase> cases_;
  const Backends& backends_;
  ScanOptions options_;
  Engine& engine_;
};

}  // namespace scanlab::measure
