#include "harness/measure/scan_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "harness/host/interrupt.hpp"
#include "harness/measure/record.hpp"

namespace scanlab::measure {

namespace {

constexpr std::int64_t kMaxRunsPerGraph = 200;      // the graph holds all of a sample's runs
constexpr std::int64_t kMaxLaunchesPerBatch = 900;  // a stream takes about a thousand before it makes the host wait

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

std::vector<TimedCase> timed_cases(const std::vector<ScanInColumns>& scans, bool once) {
  std::vector<TimedCase> all;
  std::set<std::string> names;
  for (const ScanInColumns& each : scans) {
    for (const auto& [cache, launch] : each.columns()) {
      TimedCase timed(each.scan, cache, launch);
      timed.name = case_name(timed.about(), timed.problem());
      if (!once) timed.name += fmt::format("/cache:{}", name(cache));
      if (!once && !timed.on_host()) timed.name += fmt::format("/launch:{}", name(launch));
      if (names.insert(timed.name).second) all.push_back(std::move(timed));
    }
  }
  std::ranges::stable_sort(all, {}, [](const TimedCase& timed) {
    const Problem& problem = timed.problem();
    return std::tuple(problem.type, problem.op, problem.mode, problem.items, problem.rows, problem.inner,
                      problem.segments);
  });
  return all;
}

void ScanSession::run() {
  for (auto first = cases_.begin(); first != cases_.end() && !interrupted();) {
    const auto is_other = [&](const TimedCase& each) { return bare(each.problem()) != bare(first->problem()); };
    const auto last = std::find_if(first, cases_.end(), is_other);
    std::vector<EngineCase> group;
    for (auto timed = first; timed != last && !interrupted(); ++timed) {
      engine_.progress().show(fmt::format("verify {}/{} {}", timed - cases_.begin() + 1, cases_.size(), timed->name));
      if (timed != first && same_scan(*std::prev(timed), *timed)) {  // the same in another column
        timed->take_verification(*std::prev(timed));
      } else {
        engine_.contain(*timed, [&] { verify(*timed); });
      }
      if (timed->state == Timing::State::timed) engine_.contain(*timed, [&] { calibrate(*timed); });
      const std::optional<Choice>& choice = timed->bound.plan.choice;
      const bool moves = timed->about().kind != Kind::empty_launch;
      group.push_back(
          {.timing = &*timed,
           .runs = timed->runs,
           .bytes = moves ? static_cast<double>(timed->problem().ideal_bytes()) : 0,
           .label = choice ? "ran " + choice->label() : "",
           .sample = [=, this](std::int64_t runs) { return backends_.backend_for(*timed).time(*timed, runs); },
           .close = [=, this] { verify_last_run(*timed); },
           .describe = [=](Facts& entry) { describe(*timed, entry); }});
    }
    if (!interrupted()) engine_.run(group);
    first = last;
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

/// Stale state of a variant shows only here: earlier checks saw its first runs.
void ScanSession::verify_last_run(TimedCase& timed) {
  const verify::Outcome outcome = backends_.backend_for(timed).verify_last_run(timed);
  timed.verified = outcome.passed();
  if (outcome.status == verify::Outcome::Status::failed) {
    throw std::runtime_error("after its last timed run: " + outcome.message);
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
  if (seconds > 1 && !options_.fixed_repetitions) timed.repetitions = std::min(timed.repetitions, kFewRepetitions);
}

/// Enough runs for the clock and the mean, but no more than a second holds, and one at least.
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
  if (options_.seconds) return static_cast<std::int64_t>(std::clamp(std::ceil(*options_.seconds / run), 1.0, 1e9));
  const double aim = options_.device_seconds;
  const Goal warm{aim, run < kShortRun ? 100.0 : 3.0, 500};
  const Goal cold{aim, 3, std::max(aim / kFlush, 3.0)};
  const Goal host{50e-3, 2, 100};
  const Goal& goal = timed.on_host() ? host : timed.cache == Cache::cold ? cold : warm;
  const double runs = std::min(std::clamp(std::ceil(goal.seconds / run), goal.min, goal.max), std::floor(1 / run));
  return static_cast<std::int64_t>(std::max(runs, 1.0));
}

}  // namespace scanlab::measure
