#include "harness/measure/scan_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/host/clock.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/record.hpp"

namespace scanlab::measure {

namespace {

constexpr std::int64_t kMaxRunsPerGraph = 200;      // the graph holds all of a sample's runs
constexpr std::int64_t kMaxLaunchesPerBatch = 900;  // a stream takes about a thousand before it makes the host wait

/// Adds the wall time of its life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  Clock::time_point start_ = Clock::now();
};

bool same_scan(const TimedCase& a, const TimedCase& b) {
  return a.scan.variant == b.scan.variant && a.problem() == b.problem();
}

}  // namespace

Backends make_backends(const std::vector<TimedCase>& cases, OracleStore& oracles) {
  Backends backends;
  if (std::ranges::any_of(cases, &TimedCase::on_host)) backends.host = make_host_scan_backend(oracles);
#ifdef SCANLAB_WITH_CUDA
  if (!std::ranges::all_of(cases, &TimedCase::on_host)) backends.cuda = make_cuda_scan_backend(oracles);
#endif
  return backends;
}

void ScanSession::run() {
  verify_cases();
  calibrate_cases();
  time_cases();
  loop_.progress().clear();
}

LoopCase ScanSession::in_loop(TimedCase& timed) {
  return {.timing = &timed,
          .sample = [this, &timed] { return backends_.backend_for(timed).time(timed, timed.runs); },
          .close = [this, &timed] { verify_last_run(timed); },
          .describe = [&timed](Facts& entry) { describe(timed, entry); }};
}

// ------------------------------------------------------------------------------------------------ verify

void ScanSession::verify_cases() {
  const Stopwatch watch(times_.verify);
  for (std::size_t i = 0; i < cases_.size() && !interrupted(); ++i) {
    TimedCase& timed = cases_[i];
    loop_.progress().show(fmt::format("verify {}/{} {}", i + 1, cases_.size(), timed.name));
    if (i > 0 && same_scan(cases_[i - 1], timed)) {  // the same in another column
      const TimedCase& before = cases_[i - 1];
      timed.state = before.state;
      timed.reason = before.reason;
      timed.out_of_memory = before.out_of_memory;
      timed.verified = before.verified;
      timed.kernels = before.kernels;
      timed.prepare_seconds = before.prepare_seconds;
    } else {
      loop_.contain(timed, [&] { verify(timed); });
    }
    if (timed.state != Timing::State::timed) loop_.record_untimed(in_loop(timed));
  }
}

void ScanSession::verify(TimedCase& timed) {
  if (!timed.bound.plan.possible()) return timed.skip(timed.bound.plan.refusal);
  ScanBackend& backend = backends_.backend_for(timed);
  const verify::Outcome outcome = backend.verify(timed);
  timed.verified = outcome.passed();
  timed.out_of_memory = outcome.out_of_memory;
  if (outcome.status == verify::Outcome::Status::failed)
    throw std::runtime_error("verification failed: " + outcome.message);
  if (!timed.verified) return timed.skip(outcome.message);
  backend.inspect(timed);
}

/// Stale state of a variant shows only here: earlier checks saw its first run.
void ScanSession::verify_last_run(TimedCase& timed) {
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    const verify::Outcome outcome = backends_.backend_for(timed).verify_last_run(timed);
    timed.verified = outcome.passed();
    if (outcome.status == verify::Outcome::Status::failed) {
      throw std::runtime_error("after its last timed run: " + outcome.message);
    }
  }
  times_.verify += seconds;
  times_.time -= seconds;
}

// --------------------------------------------------------------------------------------------- calibrate

void ScanSession::calibrate_cases() {
  const Stopwatch watch(times_.calibrate);
  for (std::size_t i = 0; i < cases_.size() && !interrupted(); ++i) {
    TimedCase& timed = cases_[i];
    if (timed.state != Timing::State::timed) continue;
    loop_.progress().show(fmt::format("calibrate {}/{} {}", i + 1, cases_.size(), timed.name));
    loop_.contain(timed, [&] { calibrate(timed); });
    if (timed.state != Timing::State::timed) loop_.record_untimed(in_loop(timed));
  }
}

void ScanSession::calibrate(TimedCase& timed) {
  constexpr double kShort = 1e-3;
  ScanBackend& backend = backends_.backend_for(timed);
  double seconds = backend.time(timed, 1).seconds;
  if (seconds < kShort) seconds = backend.time(timed, 10).seconds;
  timed.runs = options_.runs.value_or(runs_per_sample(timed, seconds));
  if (timed.launch == Launch::graph) timed.runs = std::min(timed.runs, kMaxRunsPerGraph);
  if (timed.launch == Launch::batch) {
    timed.runs = std::clamp(timed.runs, std::int64_t{1}, kMaxLaunchesPerBatch / std::max(timed.kernels.launches, 1));
  }
  timed.sample_seconds = std::max(static_cast<double>(timed.runs) * seconds, 1e-3);
}

/// Enough runs for the clock and the mean, no more than the cap allows over all rounds, at least one.
std::int64_t ScanSession::runs_per_sample(const TimedCase& timed, double seconds_per_run) const {
  struct Goal {
    double seconds;
    double min;
    double max;
  };
  // On the device a launch costs microseconds and an event half of one, so that short runs are timed in hundreds; on
  // the host the scheduler disturbs for milliseconds. A cold run carries its L2 flush with it, and events of its own.
  constexpr double kShortRun = 20e-6;
  constexpr double kFlush = 100e-6;
  const double run = std::max(seconds_per_run, 1e-7);
  const double aim = options_.device_seconds;
  const Goal warm{aim, run < kShortRun ? 100.0 : 3.0, 500};
  const Goal cold{aim, 3, std::max(aim / kFlush, 3.0)};
  const Goal host{50e-3, 2, 100};
  const Goal& goal = timed.on_host() ? host : timed.cache == Cache::cold ? cold : warm;
  double runs = options_.seconds ? std::ceil(*options_.seconds / run)
                                 : std::clamp(std::ceil(goal.seconds / run), goal.min, goal.max);
  runs = std::min(runs, std::floor(options_.loop.cap_seconds / options_.loop.rounds / run));
  return static_cast<std::int64_t>(std::clamp(runs, 1.0, 1e9));
}

// -------------------------------------------------------------------------------------------------- time

void ScanSession::time_cases() {
  const Stopwatch watch(times_.time);
  std::vector<LoopCase> all;
  for (TimedCase& timed : cases_) {
    if (timed.state == Timing::State::timed) all.push_back(in_loop(timed));
  }
  loop_.run(all);
}

}  // namespace scanlab::measure
