// One run of `bench`: verify, calibrate, then time in rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "harness/host/progress.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/measure/timed_case.hpp"

namespace scanlab::measure {

struct BenchOptions {
  int rounds = 10;          ///< at most
  double width = 0.01;      ///< no more rounds for a case whose median is known to this part of itself, with 95 %
  double cap_seconds = 10;  ///< wall time a case may take over all rounds
  std::uint64_t seed = 1;
  double device_seconds = 5e-3;      ///< of timed work a repetition aims at on the device
  std::optional<double> seconds;     ///< of timed work a repetition, instead of our own choice
  std::optional<std::int64_t> runs;  ///< a repetition, instead of a calibration
};

/// Wall seconds by what they went to.
struct BenchTimes {
  double verify = 0;
  double calibrate = 0;
  double time = 0;
};

/// Machines that a list of cases needs.
struct Backends {
  std::unique_ptr<ScanBackend> host;
  std::unique_ptr<ScanBackend> cuda;
  ScanBackend& of(const TimedCase& timed) const { return timed.on_host() ? *host : *cuda; }
};

class BenchSession {
 public:
  /// `file` may be null: then nothing is kept. `cases` must be sorted problem by problem.
  BenchSession(std::vector<TimedCase> cases, const Backends& machines, const BenchOptions& options, ResultsFile* file,
               std::ostream& err);

  /// Does it all. Ends early, everything finished kept, once Ctrl-C is pressed. Throws verify::DeviceLost.
  void run();

  const std::vector<TimedCase>& cases() const { return cases_; }
  const BenchTimes& times() const { return times_; }

 private:
  void verify_cases();
  void calibrate_cases();
  void time_rounds();

  void verify(TimedCase& timed);
  void calibrate(TimedCase& timed);
  std::int64_t runs_a_repetition(const TimedCase& timed, double seconds_a_run) const;
  void record_untimed(TimedCase& timed);
  void repeat(TimedCase& timed, int round);
  void verify_last_run(TimedCase& timed);
  bool is_last(const TimedCase& timed, int round, double seconds) const;
  bool is_settled(const TimedCase& timed) const;
  double seconds_a_round() const;
  void complain(const TimedCase& timed);

  std::vector<TimedCase> cases_;
  const Backends& machines_;
  BenchOptions options_;
  ResultsFile* file_;
  std::ostream& err_;
  Progress progress_;
  BenchTimes times_;
};

}  // namespace scanlab::measure
