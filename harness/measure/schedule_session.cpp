#include "harness/measure/schedule_session.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <tuple>

#include "harness/core/median.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/schedule/chunks.hpp"

namespace scanlab::measure {

namespace {

std::string reason_in_words(const TimedSchedule& timed) {
  return (timed.wrong > 0 ? "verification failed: " : "") + timed.reason;
}

void skip_for_memory(TimedSchedule& timed, const std::string& reason) {
  timed.state = TimedSchedule::State::skipped;
  timed.reason = reason;
  timed.out_of_memory = true;
}

void describe(Run& run, const TimedSchedule& timed, bool verified) {
  const streams::Job& job = timed.chosen.job;
  run.counters["items"] = static_cast<double>(job.items);
  run.counters["bytes"] = timed.bytes();
  run.counters["inputs"] = job.workload->about.inputs;
  run.counters["operations"] = static_cast<double>(timed.recording.operations.size());
  run.counters["buffers"] = timed.recording.buffers;
  run.counters["verified"] = verified ? 1 : 0;
  run.counters["control"] = timed.control() ? 1 : 0;
}

}  // namespace

void StreamsSession::run() {
  const auto same_arrays = [](const TimedSchedule& a, const TimedSchedule& b) {
    const auto key = [](const streams::Job& job) { return std::tuple(job.workload, job.items, job.memory, job.work); };
    return key(a.chosen.job) == key(b.chosen.job);
  };
  std::set<const TimedSchedule*> done;
  for (const TimedSchedule& first : schedules_) {
    if (done.count(&first) != 0 || interrupted()) continue;
    std::vector<TimedSchedule*> group;
    for (TimedSchedule& each : schedules_) {
      if (same_arrays(first, each) && done.insert(&each).second) group.push_back(&each);
    }
    run_group(group);
  }
  progress_.clear();
}

void StreamsSession::run_group(const std::vector<TimedSchedule*>& group) {
  const streams::Job& job = group.front()->chosen.job;
  progress_.show(fmt::format("filling {} items of {}", job.items, job.workload->about.id));
  const std::size_t first_part = parts_.size();
  try {
    add_copies(machine_.fill(job, options_.seed), job);
  } catch (const std::bad_alloc&) {
    for (TimedSchedule* timed : group) {
      skip_for_memory(*timed, fmt::format("out of host memory for arrays of {} items", job.items));
      record_untimed(*timed);
    }
    return;
  }
  for (const TimedSchedule* timed : group) add_kernel(timed->chosen.job);
  for (int round = 0; round < options_.rounds; ++round) {
    for (std::size_t i = first_part; i < parts_.size(); ++i) {
      if (interrupted()) return;
      measure(parts_[i], round);
    }
    for (TimedSchedule* timed : group) {
      if (interrupted()) return;
      if (timed->state != TimedSchedule::State::timed || is_settled(*timed)) continue;
      if (round > 0 && timed->wall >= options_.cap) continue;
      const auto start = std::chrono::steady_clock::now();
      repeat(*timed, round);
      timed->wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  }
}

void StreamsSession::add_part(Part part) {
  const auto same_name = [&](const Part& other) { return other.name == part.name; };
  if (std::ranges::none_of(parts_, same_name)) parts_.push_back(std::move(part));
}

/// Of at most 1 GiB: as good as more to tell the rate.
void StreamsSession::add_copies(std::size_t array_bytes, const streams::Job& job) {
  using streams::Direction;
  const std::size_t bytes = std::min<std::size_t>(array_bytes, std::size_t{1} << 30);
  if (bytes == 0) return;
  for (const bool both_ways : {false, true}) {
    if (both_ways && job.memory != streams::HostMemory::pinned) continue;
    for (const Direction direction : {Direction::in, Direction::out}) {
      add_part({.name = fmt::format("streams/copy:{}{}/bytes:{}/memory:{}", both_ways ? "duplex_" : "",
                                    direction == Direction::in ? "h2d" : "d2h", bytes, name(job.memory)),
                .bytes = static_cast<double>(bytes),
                .seconds = [this, direction, bytes, both_ways] {
                  return machine_.copy_seconds(direction, bytes, both_ways);
                }});
    }
  }
}

void StreamsSession::add_kernel(const streams::Job& job) {
  if (job.items == 0) return;
  add_part({.name = fmt::format("streams/kernel:{}/items:{}/work:{}/blocks:{}", job.workload->about.id,
                                streams::longest_chunk(job.items, job.chunks), job.work, job.blocks),
            .seconds = [this, job] { return machine_.kernel_seconds(job); }});
}

void StreamsSession::measure(Part& part, int round) {
  progress_.show(fmt::format("round {}/{} {}", round + 1, options_.rounds, part.name));
  std::string reason;
  double mhz = 0;
  Run run = run_benchmark(part.name, 1, [&](benchmark::State& state) {
    try {
      for ([[maybe_unused]] auto _ : state) {
        state.SetIterationTime(part.seconds());
        mhz = machine_.sm_clock_mhz();
      }
    } catch (const std::exception& error) {
      reason = error.what();
      state.SkipWithError(error.what());
    }
  });
  if (reason.empty()) part.nanoseconds.push_back(run.real_accumulated_time * 1e9);
  if (part.bytes > 0) run.counters["bytes"] = part.bytes;
  if (mhz > 0) run.counters["sm_clock_mhz"] = mhz;
  keep(run, round);
}

/// One repetition of one schedule, verified; on disk when this returns.
void StreamsSession::repeat(TimedSchedule& timed, int round) {
  progress_.show(fmt::format("round {}/{} {}", round + 1, options_.rounds, timed.name));
  ScheduleRepetition repetition;
  bool verified = false;
  Run run = run_benchmark(timed.name, 1, [&](benchmark::State& state) {
    try {
      for ([[maybe_unused]] auto _ : state) {
        repetition = machine_.repeat(timed.recording);
        state.SetIterationTime(repetition.host_seconds);
      }
      timed.nanoseconds.push_back(repetition.host_seconds * 1e9);
      if (repetition.device_seconds > 0) timed.device_nanoseconds.push_back(repetition.device_seconds * 1e9);
      verified = repetition.wrong.empty();
      if (verified) return;
      ++timed.wrong;
      timed.reason = repetition.wrong;
      if (!timed.control()) timed.state = TimedSchedule::State::failed;
    } catch (const LacksMemory& lack) {
      skip_for_memory(timed, lack.what());
    } catch (const std::exception& error) {
      timed.state = TimedSchedule::State::failed;
      timed.reason = error.what();
    }
    if (timed.state != TimedSchedule::State::timed) state.SkipWithError(reason_in_words(timed).c_str());
  });
  describe(run, timed, verified);
  if (repetition.device_seconds > 0) run.counters["device_time_ms"] = repetition.device_seconds * 1e3;
  if (repetition.sm_clock_mhz > 0) run.counters["sm_clock_mhz"] = repetition.sm_clock_mhz;
  run.counters["settled"] = is_settled(timed) ? 1 : 0;
  keep(run, round);
  if (timed.state != TimedSchedule::State::failed) return;
  progress_.clear();
  fmt::print(err_, "scanlab: {} failed: {}\n", timed.name, timed.reason);
}

bool StreamsSession::is_settled(const TimedSchedule& timed) const {
  return median_uncertainty(timed.nanoseconds) <= options_.width;
}

void StreamsSession::record_untimed(const TimedSchedule& timed) {
  Run run = run_benchmark(timed.name, 1,
                          [&](benchmark::State& state) { state.SkipWithError(reason_in_words(timed).c_str()); });
  describe(run, timed, false);
  keep(run, 0);
}

void StreamsSession::keep(Run& run, int round) {
  run.repetition_index = round;
  run.repetitions = options_.rounds;
  run.counters["round"] = round;
  if (file_ != nullptr) file_->append(run);
}

}  // namespace scanlab::measure
