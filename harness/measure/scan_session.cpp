#include "harness/measure/scan_session.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/one_benchmark.hpp"

namespace scanlab::measure {

namespace {

constexpr std::int64_t kMostRunsAGraph = 200;  // the graph holds all of a repetition's runs

/// Adds the wall time of its life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += seconds(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& sum_;
  Clock::time_point start_ = Clock::now();
};

void describe(Run& run, const TimedCase& timed, int round, int rounds) {
  run.repetition_index = round;
  run.repetitions = rounds;
  run.report_label = timed.bound.plan.choice;
  run.counters["items"] = static_cast<double>(timed.problem().items);
  run.counters["bytes"] = static_cast<double>(timed.problem().ideal_bytes());
  run.counters["round"] = round;
  run.counters["workspace_bytes"] = static_cast<double>(timed.bound.plan.workspace_bytes);
  run.counters["verified"] = timed.state == TimedCase::State::timed && timed.verified ? 1 : 0;
  run.counters["prepare_ns"] = timed.prepare_seconds * 1e9;
  const cuda::KernelResources& kernels = timed.kernels;
  if (kernels.launches > 0) run.counters["launches"] = kernels.launches;
  if (kernels.registers == 0) return;  // no kernel, or none that is known
  run.counters["threads"] = kernels.threads;
  run.counters["registers"] = kernels.registers;
  run.counters["shared_bytes"] = static_cast<double>(kernels.shared_bytes);
  run.counters["local_bytes"] = static_cast<double>(kernels.local_bytes);
}

void settle(TimedCase& timed, const verify::Outcome& outcome) {
  timed.verified = outcome.passed();
  if (timed.verified) return;
  timed.state =
      outcome.status == verify::Outcome::Status::failed ? TimedCase::State::failed : TimedCase::State::skipped;
  timed.reason = outcome.message;
  timed.out_of_memory = outcome.out_of_memory;
}

void skip_for_memory(TimedCase& timed, const std::string& reason) {
  timed.state = TimedCase::State::skipped;
  timed.reason = reason;
  timed.out_of_memory = true;
}

/// Calls `f`; what it throws becomes the state of the case, so that the sweep goes on. A lost device ends it.
template <class F>
void contain(TimedCase& timed, F&& f) {
  try {
    f();
  } catch (const verify::DeviceLost&) {
    throw;
  } catch (const CommandError&) {
    throw;
  } catch (const LacksMemory& lack) {
    skip_for_memory(timed, lack.what());
  } catch (const std::bad_alloc&) {
    skip_for_memory(
        timed, fmt::format("out of host memory: input and output alone are {} bytes", timed.problem().ideal_bytes()));
  } catch (const std::exception& error) {
    timed.state = TimedCase::State::failed;
    timed.reason = error.what();
  }
}

bool same_scan(const TimedCase& a, const TimedCase& b) {
  return a.scan.variant == b.scan.variant && a.problem() == b.problem();
}

}  // namespace

BenchSession::BenchSession(std::vector<TimedCase> cases, const Backends& machines, const BenchOptions& options,
                           ResultsFile* file, std::ostream& err)
    : cases_(std::move(cases)), machines_(machines), options_(options), file_(file), err_(err), progress_(err) {}

void BenchSession::run() {
  verify_cases();
  calibrate_cases();
  time_rounds();
  progress_.clear();
}

// ------------------------------------------------------------------------------------------------ verify

void BenchSession::verify_cases() {
  const Stopwatch watch(times_.verify);
  for (std::size_t i = 0; i < cases_.size() && !interrupted(); ++i) {
    TimedCase& timed = cases_[i];
    progress_.show(fmt::format("verify {}/{} {}", i + 1, cases_.size(), timed.name));
    if (i > 0 && same_scan(cases_[i - 1], timed)) {  // the same in another column
      const TimedCase& before = cases_[i - 1];
      timed.state = before.state;
      timed.reason = before.reason;
      timed.out_of_memory = before.out_of_memory;
      timed.verified = before.verified;
      timed.kernels = before.kernels;
      timed.prepare_seconds = before.prepare_seconds;
    } else {
      contain(timed, [&] { verify(timed); });
      complain(timed);
    }
    if (timed.state != TimedCase::State::timed) record_untimed(timed);
  }
}

void BenchSession::verify(TimedCase& timed) {
  if (!timed.bound.plan.possible()) {
    timed.state = TimedCase::State::skipped;
    timed.reason = timed.bound.plan.refusal;
    return;
  }
  settle(timed, machines_.of(timed).verify(timed));
  if (timed.state == TimedCase::State::timed) machines_.of(timed).inspect(timed);
}

void BenchSession::complain(const TimedCase& timed) {
  if (timed.state != TimedCase::State::failed) return;
  progress_.clear();
  fmt::print(err_, "scanlab: {} failed: {}\n", timed.name, timed.reason);
}

/// An entry without a time, with the reason.
void BenchSession::record_untimed(TimedCase& timed) {
  if (file_ == nullptr) return;
  const bool failed = timed.state == TimedCase::State::failed;
  const std::string reason = failed ? "verification failed: " + timed.reason : timed.reason;
  Run run = run_benchmark(timed.name, 1, [&](benchmark::State& state) { state.SkipWithError(reason.c_str()); });
  describe(run, timed, 0, options_.rounds);
  file_->append(run);
}

// --------------------------------------------------------------------------------------------- calibrate

void BenchSession::calibrate_cases() {
  const Stopwatch watch(times_.calibrate);
  for (std::size_t i = 0; i < cases_.size() && !interrupted(); ++i) {
    TimedCase& timed = cases_[i];
    if (timed.state != TimedCase::State::timed) continue;
    progress_.show(fmt::format("calibrate {}/{} {}", i + 1, cases_.size(), timed.name));
    contain(timed, [&] { calibrate(timed); });
    complain(timed);
    if (timed.state != TimedCase::State::timed) record_untimed(timed);
  }
}

void BenchSession::calibrate(TimedCase& timed) {
  constexpr double kShort = 1e-3;
  ScanBackend& machine = machines_.of(timed);
  double seconds = machine.time(timed, 1).seconds;
  if (seconds < kShort) seconds = machine.time(timed, 10).seconds;
  timed.runs = options_.runs.value_or(runs_a_repetition(timed, seconds));
  if (timed.launch == Launch::graph) timed.runs = std::min(timed.runs, kMostRunsAGraph);
  timed.seconds_a_repetition = std::max(static_cast<double>(timed.runs) * seconds, 1e-3);
}

/// Enough runs for the clock and the mean, no more than the cap allows over all rounds, at least one.
std::int64_t BenchSession::runs_a_repetition(const TimedCase& timed, double seconds_a_run) const {
  struct Goal {
    double seconds;
    double fewest;
    double most;
  };
  // On the device a launch costs microseconds and an event half of one, so that short runs are timed in hundreds; on
  // the host the scheduler disturbs for milliseconds. A cold run carries its eviction with it, and events of its own.
  constexpr double kShortRun = 20e-6;
  constexpr double kEviction = 100e-6;
  const double run = std::max(seconds_a_run, 1e-7);
  const double aim = options_.device_seconds;
  const Goal warm{aim, run < kShortRun ? 100.0 : 3.0, 500};
  const Goal cold{aim, 3, std::max(aim / kEviction, 3.0)};
  const Goal host{50e-3, 2, 100};
  const Goal& goal = timed.on_host() ? host : timed.cache == Cache::cold ? cold : warm;
  double runs = options_.seconds ? std::ceil(*options_.seconds / run)
                                 : std::clamp(std::ceil(goal.seconds / run), goal.fewest, goal.most);
  runs = std::min(runs, std::floor(options_.cap_seconds / options_.rounds / run));
  return static_cast<std::int64_t>(std::clamp(runs, 1.0, 1e9));
}

// -------------------------------------------------------------------------------------------------- time

void BenchSession::time_rounds() {
  const Stopwatch watch(times_.time);
  for (int round = 0; round < options_.rounds; ++round) {
    const double all = seconds_a_round();
    double spent = 0;
    for (TimedCase& timed : cases_) {
      if (interrupted()) return;
      if (timed.state != TimedCase::State::timed || timed.finished) continue;
      const double left = all * (options_.rounds - round) - spent;
      progress_.show(fmt::format("round {}/{}, {} left: {}", round + 1, options_.rounds, in_words(std::max(left, 0.0)),
                                 timed.name));
      repeat(timed, round);
      spent += timed.seconds_a_repetition;
    }
  }
}

/// One repetition of one case, as one run of a Google Benchmark; on disk when this returns.
void BenchSession::repeat(TimedCase& timed, int round) {
  const Stopwatch watch(timed.spent_seconds);
  Repetition repetition;
  std::exception_ptr lost;
  Run run = run_benchmark(timed.name, timed.runs, [&](benchmark::State& state) {
    try {
      contain(timed, [&] {
        while (state.KeepRunningBatch(timed.runs)) {
          repetition = machines_.of(timed).time(timed, timed.runs);
          state.SetIterationTime(repetition.seconds * static_cast<double>(timed.runs));
        }
      });
      if (timed.state == TimedCase::State::timed) {
        timed.nanoseconds.push_back(repetition.seconds * 1e9);
        if (is_last(timed, round, watch.seconds())) verify_last_run(timed);
      }
    } catch (...) {
      lost = std::current_exception();
      timed.state = TimedCase::State::failed;
      timed.reason = "the device was lost";
    }
    if (timed.state != TimedCase::State::timed) state.SkipWithError(timed.reason.c_str());
  });
  describe(run, timed, round, options_.rounds);
  run.counters["settled"] = is_settled(timed) ? 1 : 0;
  if (repetition.sm_clock_mhz > 0) run.counters["sm_clock_mhz"] = repetition.sm_clock_mhz;
  if (file_ != nullptr) file_->append(run);
  if (lost) std::rethrow_exception(lost);
  complain(timed);
  timed.seconds_a_repetition = watch.seconds();
}

/// Stale state of a variant shows only here: earlier checks saw its first run.
void BenchSession::verify_last_run(TimedCase& timed) {
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    timed.finished = true;
    contain(timed, [&] {
      const verify::Outcome outcome = machines_.of(timed).verify_last_run(timed);
      timed.verified = outcome.passed();
      if (outcome.status == verify::Outcome::Status::failed) {
        timed.state = TimedCase::State::failed;
        timed.reason = "after its last timed run: " + outcome.message;
      }
    });
  }
  times_.verify += seconds;
  times_.time -= seconds;
}

/// Whether no further repetition is worth it, or fits under the case's cap, or there are no further rounds.
bool BenchSession::is_last(const TimedCase& timed, int round, double seconds) const {
  return is_settled(timed) || round + 1 == options_.rounds || timed.spent_seconds + 2 * seconds > options_.cap_seconds;
}

bool BenchSession::is_settled(const TimedCase& timed) const {
  return median_uncertainty(timed.nanoseconds) <= options_.width;
}

double BenchSession::seconds_a_round() const {
  double seconds = 0;
  for (const TimedCase& timed : cases_) {
    if (timed.state == TimedCase::State::timed && !timed.finished) seconds += timed.seconds_a_repetition;
  }
  return seconds;
}

}  // namespace scanlab::measure
