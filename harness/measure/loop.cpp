#include "harness/measure/loop.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/host/clock.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/verify/cuda_verification.hpp"

namespace scanlab::measure {

namespace {

const char* name_of(Timing::State state) {
  return state == Timing::State::timed ? "timed" : state == Timing::State::skipped ? "skipped" : "failed";
}

double round_seconds(const std::vector<LoopCase>& cases) {
  double seconds = 0;
  for (const LoopCase& each : cases) {
    if (each.timing->state == Timing::State::timed && !each.timing->finished) seconds += each.timing->sample_seconds;
  }
  return seconds;
}

}  // namespace

bool is_converged(const Timing& timing, const LoopOptions& options) {
  return median_uncertainty(timing.nanoseconds) <= options.width;
}

bool is_last_sample(const Timing& timing, const LoopOptions& options, double seconds) {
  const auto samples = static_cast<int>(timing.nanoseconds.size());
  if (samples >= options.rounds || (options.width > 0 && is_converged(timing, options))) return true;
  return samples >= kMinSamples && timing.spent_seconds + 2 * seconds > options.cap_seconds;
}

void Loop::run(const std::vector<LoopCase>& cases) {
  for (int round = 0; round < options_.rounds; ++round) {
    const double all = round_seconds(cases);
    double spent = 0;
    for (const LoopCase& each : cases) {
      if (interrupted()) return;
      Timing& timing = *each.timing;
      if (timing.state != Timing::State::timed || timing.finished) continue;
      const double left = std::max(all * (options_.rounds - round) - spent, 0.0);
      progress_.show(fmt::format("round {}/{}, {} left: {}", round + 1, options_.rounds, in_words(left), timing.name));
      take(each, round);
      spent += timing.sample_seconds;
    }
  }
}

/// One sample of one case; on disk when this returns.
void Loop::take(const LoopCase& each, int round) {
  Timing& timing = *each.timing;
  const Clock::time_point start = Clock::now();
  Sample sample;
  std::exception_ptr lost;
  try {
    contain(timing, [&] {
      sample = each.sample();
      if (sample.seconds > 0) timing.nanoseconds.push_back(sample.seconds * 1e9);
    });
    if (sample.seconds == 0 && timing.state == Timing::State::timed && interrupted()) return;
    if (timing.state == Timing::State::timed && is_last_sample(timing, options_, seconds_since(start))) {
      timing.finished = true;
      if (each.close) contain(timing, each.close);
    }
  } catch (const verify::DeviceLost& error) {
    lost = std::current_exception();
    timing.fail(error.what());
  }
  record(each, round, sample);
  timing.sample_seconds = seconds_since(start);
  timing.spent_seconds += timing.sample_seconds;
  if (lost) std::rethrow_exception(lost);
}

void Loop::contain(Timing& timing, const std::function<void()>& work) {
  const auto lack = [&](const std::string& reason) {
    timing.skip(reason);
    timing.out_of_memory = true;
  };
  const bool had_failed = timing.state == Timing::State::failed;
  try {
    work();
  } catch (const verify::DeviceLost&) {
    throw;
  } catch (const CommandError&) {
    throw;
  } catch (const LacksMemory& error) {
    lack(error.what());
  } catch (const std::bad_alloc&) {
    lack("out of host memory");
  } catch (const std::exception& error) {
    timing.fail(error.what());
  }
  if (had_failed || timing.state != Timing::State::failed) return;
  progress_.clear();
  fmt::print(err_, "scanlab: {} failed: {}\n", timing.name, timing.reason);
}

void Loop::record_untimed(const LoopCase& each) { record(each, 0, {}); }

/// The fields of Google Benchmark, by which its tools read the file, and ours beside them. data/README.md has them all.
void Loop::record(const LoopCase& each, int round, const Sample& sample) {
  if (file_ == nullptr) return;
  const Timing& timing = *each.timing;
  const bool is_timed = sample.seconds > 0 && timing.state == Timing::State::timed;
  Facts entry{{"name", timing.name},
              {"run_name", timing.name},
              {"run_type", "iteration"},
              {"repetitions", options_.rounds},
              {"repetition_index", round},
              {"threads", 1},
              {"iterations", is_timed ? sample.runs : 0},
              {"real_time", is_timed ? sample.seconds * 1e9 : 0.0},
              {"cpu_time", 0.0},  // the device's times are no processor's
              {"time_unit", "ns"}};
  if (timing.state != Timing::State::timed) {
    entry["error_occurred"] = true;
    entry["error_message"] = timing.reason;
  }
  entry["outcome"] = name_of(timing.state);
  if (each.describe) each.describe(entry);
  entry["round"] = round;
  entry["verified"] = timing.verified && timing.state == Timing::State::timed;
  entry["converged"] = is_converged(timing, options_);
  if (sample.sm_clock_mhz > 0) entry["sm_clock_mhz"] = sample.sm_clock_mhz;
  entry.update(sample.fields);
  file_->append(entry);
}

}  // namespace scanlab::measure
