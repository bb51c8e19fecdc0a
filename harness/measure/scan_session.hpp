// Scans, timed: verified, calibrated, then in the measurement loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "harness/measure/loop.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/measure/timed_case.hpp"

namespace scanlab::measure {

struct ScanOptions {
  LoopOptions loop{};
  double device_seconds = 5e-3;        ///< of timed work that a sample aims at on the device
  std::optional<double> seconds{};     ///< of timed work per sample, instead of our own choice
  std::optional<std::int64_t> runs{};  ///< per sample, instead of a calibration
};

/// Wall seconds by what they went to.
struct ScanTimes {
  double verify = 0;
  double calibrate = 0;
  double time = 0;
};

/// The backends that a list of cases is timed on.
struct Backends {
  std::unique_ptr<ScanBackend> host;
  std::unique_ptr<ScanBackend> cuda;
  ScanBackend& backend_for(const TimedCase& timed) const { return timed.on_host() ? *host : *cuda; }
};

/// The backends that the cases need: the device's only if a case is not on the host. Throws LacksMemory.
Backends make_backends(const std::vector<TimedCase>& cases, OracleStore& oracles);

class ScanSession {
 public:
  /// `file` may be null: then nothing is kept. `cases` must be sorted problem by problem.
  ScanSession(std::vector<TimedCase> cases, const Backends& backends, const ScanOptions& options, ResultsFile* file,
              std::ostream& err)
      : cases_(std::move(cases)), backends_(backends), options_(options), loop_(options.loop, file, err) {}

  /// Does it all. Ends early, everything finished kept, once Ctrl-C is pressed. Throws verify::DeviceLost.
  void run();

  const std::vector<TimedCase>& cases() const { return cases_; }
  const ScanTimes& times() const { return times_; }

 private:
  void verify_cases();
  void calibrate_cases();
  void time_cases();

  LoopCase in_loop(TimedCase& timed);
  void verify(TimedCase& timed);
  void verify_last_run(TimedCase& timed);
  void calibrate(TimedCase& timed);
  std::int64_t runs_per_sample(const TimedCase& timed, double seconds_per_run) const;

  std::vector<TimedCase> cases_;
  const Backends& backends_;
  ScanOptions options_;
  Loop loop_;
  ScanTimes times_;
};

}  // namespace scanlab::measure
