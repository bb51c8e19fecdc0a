// Schedules, timed: they and their parts, by the engine, on a device that a test can stand in for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "harness/measure/engine.hpp"
#include "harness/replay/replayer.hpp"
#include "harness/schedule/recording.hpp"
#include "harness/schedule/schedule.hpp"

namespace scanlab::measure {

/// One sample of a schedule: a replay between events, then one by the host's clock whose output is compared. Apart,
/// since recording events takes time of the host.
struct ScheduleSample {
  double host_seconds = 0;    ///< from before the first call until the host has seen that the device is done
  double device_seconds = 0;  ///< from an event before the first operation to the last event behind them; 0: no work
  double sm_clock_mhz = 0;    ///< just after; 0: not known
  std::string wrong{};        ///< in words; empty: the output is right
};

/// Any exception other than std::bad_alloc of `fill`, and LacksMemory of what is timed, is a fault of the case.
class ScheduleBackend {
 public:
  virtual ~ScheduleBackend() = default;
  /// Makes and fills the host arrays of the job, in place of those before. Returns the bytes of each.
  virtual std::size_t fill(const streams::Job& job, std::uint64_t seed) = 0;
  /// As streams::copy_seconds, of those arrays.
  virtual double copy_seconds(streams::Direction direction, std::size_t bytes, bool both_ways) = 0;
  virtual double kernel_seconds(const streams::Job& job) = 0;
  virtual ScheduleSample sample(const streams::Recording& recording) = 0;
  /// The clock of a device that has just ended its work; 0: not known.
  virtual double sm_clock_mhz() { return 0; }
};

#ifdef SCANLAB_WITH_CUDA
/// Needs a device.
std::unique_ptr<ScheduleBackend> make_cuda_schedule_backend();
#endif

/// A schedule and its job, timed by the host's clock, and between events.
struct TimedSchedule : Timing {
  streams::ScheduledJob chosen;
  streams::Recording recording;
  int wrong = 0;  ///< samples

  bool control() const { return chosen.schedule->about.control; }
  /// Both ways over the bus.
  std::int64_t bytes() const { return chosen.job.workload->about.array_bytes(chosen.job.items); }
};

/// Each job once: parameters that a schedule does not heed give no case of their own where the name does not tell them.
std::vector<TimedSchedule> timed_schedules(const std::vector<streams::ScheduledJob>& jobs);

/// A copy or a kernel by itself, as an entry of its own.
struct Part : Timing {
  double bytes = 0;                ///< that a copy moves; 0 of kernels
  Facts fields = Facts::object();  ///< what it is, as the record has it
  std::function<double()> seconds;
};

class ScheduleSession {
 public:
  ScheduleSession(std::vector<TimedSchedule>& schedules, ScheduleBackend& backend, std::uint64_t seed, Engine& engine)
      : schedules_(schedules), backend_(backend), seed_(seed), engine_(engine) {}

  /// All schedules whose host arrays are the same together, since those take memory and time to fill. Ends early,
  /// everything finished kept, once Ctrl-C is pressed.
  void run();

  /// Prints the cases that were not timed, and how often controls were caught. Returns kFailed if a control never was,
  /// else as status_of().
  int report(std::ostream& out) const;

 private:
  void run_group(const std::vector<TimedSchedule*>& group);
  void add_part(Part part, std::vector<EngineCase>& cases);
  void add_copies(std::size_t array_bytes, const streams::Job& job, std::vector<EngineCase>& cases);
  void add_kernel(const streams::Job& job, std::vector<EngineCase>& cases);
  Sample sample(TimedSchedule& timed);

  std::vector<TimedSchedule>& schedules_;
  ScheduleBackend& backend_;
  std::uint64_t seed_;
  Engine& engine_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace scanlab::measure
