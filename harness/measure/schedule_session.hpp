// One run of `scanlab streams run`: schedules and their parts in rounds, on a device that a test can stand in for.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "harness/host/progress.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/one_benchmark.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/replay/cuda_rates.hpp"
#include "harness/schedule/recording.hpp"
#include "harness/schedule/schedule.hpp"

namespace scanlab::measure {

/// One repetition of a schedule: a replay between events, then one by the host's clock whose output is compared. Apart,
/// since recording events takes time of the host.
struct ScheduleRepetition {
  double host_seconds = 0;    ///< from before the first call until the host has seen that the device is done
  double device_seconds = 0;  ///< from an event before the first operation to the last event behind them; 0: no work
  double sm_clock_mhz = 0;    ///< just after; 0: not known
  std::string wrong{};        ///< in words; empty: the output is right
};

/// Whatever it throws other than std::bad_alloc of `fill` and LacksMemory of `repeat` is a fault of the case.
class ScheduleBackend {
 public:
  virtual ~ScheduleBackend() = default;
  /// Makes and fills the host arrays of the job, in place of those before. Returns the bytes of each.
  virtual std::size_t fill(const streams::Job& job, std::uint64_t seed) = 0;
  /// As streams::copy_seconds, of those arrays.
  virtual double copy_seconds(streams::Direction direction, std::size_t bytes, bool both_ways) = 0;
  virtual double kernel_seconds(const streams::Job& job) = 0;
  virtual ScheduleRepetition repeat(const streams::Recording& recording) = 0;
  /// Of a device that has just ended its work; 0: not known.
  virtual double sm_clock_mhz() { return 0; }
};

#ifdef SCANLAB_WITH_CUDA
/// Needs a device.
std::unique_ptr<ScheduleBackend> make_cuda_schedule_backend();
#endif

struct RunOptions {
  int rounds = 10;      ///< at most
  double width = 0.01;  ///< no more for a case whose median is known to this part of itself, with 95 %
  double cap = std::numeric_limits<double>::infinity();  ///< seconds of wall time a case may take over all rounds
  std::uint64_t seed = 1;
};

/// A schedule and its job, timed.
struct TimedSchedule {
  enum class State { timed, skipped, failed };

  streams::ScheduledJob chosen;
  std::string name;
  streams::Recording recording;

  State state = State::timed;
  std::string reason{};  ///< of the latest that was wrong, or why it is not timed
  bool out_of_memory = false;
  int wrong = 0;                             ///< repetitions
  std::vector<double> nanoseconds{};         ///< by the host's clock
  std::vector<double> device_nanoseconds{};  ///< between events
  double wall = 0;                           ///< seconds that its repetitions took in all, made ready and verified

  bool control() const { return chosen.schedule->about.control; }
  /// Both ways over the bus.
  double bytes() const {
    const streams::WorkloadDescription& about = chosen.job.workload->about;
    return static_cast<double>(chosen.job.items) * static_cast<double>(about.item_bytes() * (about.inputs + 1u));
  }
};

/// A copy or a kernel by itself, as an entry of its own.
struct Part {
  std::string name;
  double bytes = 0;  ///< that a copy moves; 0 of kernels
  std::function<double()> seconds;
  std::vector<double> nanoseconds{};
};

/// Times in rounds: one repetition of each part and of each schedule a round.
class StreamsSession {
 public:
  /// `file` may be null: then nothing is kept.
  StreamsSession(std::vector<TimedSchedule>& schedules, ScheduleBackend& machine, const RunOptions& options,
                 ResultsFile* file, std::ostream& err)
      : schedules_(schedules), machine_(machine), options_(options), file_(file), err_(err), progress_(err) {}

  /// All schedules whose host arrays are the same together, since those take memory and time to fill. Ends early,
  /// everything finished kept, once Ctrl-C is pressed.
  void run();

  const std::vector<Part>& parts() const { return parts_; }

 private:
  void run_group(const std::vector<TimedSchedule*>& group);
  void add_part(Part part);
  void add_copies(std::size_t array_bytes, const streams::Job& job);
  void add_kernel(const streams::Job& job);
  void measure(Part& part, int round);
  void repeat(TimedSchedule& timed, int round);
  bool is_settled(const TimedSchedule& timed) const;
  void record_untimed(const TimedSchedule& timed);
  void keep(Run& run, int round);

  std::vector<TimedSchedule>& schedules_;
  ScheduleBackend& machine_;
  RunOptions options_;
  ResultsFile* file_;
  std::ostream& err_;
  Progress progress_;
  std::vector<Part> parts_;
};

}  // namespace scanlab::measure
