#include "harness/measure/schedule_session.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>
#include <tuple>

#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/record.hpp"
#include "harness/schedule/chunks.hpp"

namespace scanlab::measure {

namespace {

/// streams/schedule:ID/workload:W/items:N/chunks:C/streams:S/memory:M/work:W/blocks:B, and /buffers:B for a schedule
/// that has fewer than chunks.
std::string name_of(const streams::ScheduledJob& chosen, const streams::Recording& recording) {
  const streams::Job& job = chosen.job;
  const bool reuses = recording.buffers < std::min<std::int64_t>(job.chunks, job.items);
  return fmt::format("streams/schedule:{}/workload:{}/items:{}/chunks:{}/streams:{}/memory:{}/work:{}/blocks:{}{}",
                     chosen.schedule->about.id, job.workload->about.id, job.items, job.chunks, job.streams,
                     name(job.memory), job.work, job.blocks,
                     reuses ? fmt::format("/buffers:{}", recording.buffers) : "");
}

}  // namespace

std::vector<TimedSchedule> timed_schedules(const std::vector<streams::ScheduledJob>& jobs) {
  std::vector<TimedSchedule> all;
  std::set<std::string> names;
  for (const streams::ScheduledJob& chosen : jobs) {
    TimedSchedule timed;
    timed.chosen = chosen;
    timed.recording = record(*chosen.schedule, chosen.job);
    timed.name = name_of(chosen, timed.recording);
    if (names.insert(timed.name).second) all.push_back(std::move(timed));
  }
  return all;
}

void ScheduleSession::run() {
  const auto same_arrays = [](const TimedSchedule& a, const TimedSchedule& b) {
    const auto key = [](const streams::Job& job) { return std::tuple(job.workload, job.items, job.memory, job.work); };
    return key(a.chosen.job) == key(b.chosen.job);
  };
  std::set<const TimedSchedule*> done;
  for (const TimedSchedule& first : schedules_) {
    if (done.contains(&first) || interrupted()) continue;
    std::vector<TimedSchedule*> group;
    for (TimedSchedule& each : schedules_) {
      if (same_arrays(first, each) && done.insert(&each).second) group.push_back(&each);
    }
    run_group(group);
  }
}

void ScheduleSession::run_group(const std::vector<TimedSchedule*>& group) {
  const streams::Job& job = group.front()->chosen.job;
  engine_.progress().show(fmt::format("filling {} items of {}", job.items, job.workload->about.id));
  std::vector<EngineCase> cases;
  try {
    add_copies(backend_.fill(job, seed_), job, cases);
    for (const TimedSchedule* timed : group) add_kernel(timed->chosen.job, cases);
  } catch (const std::bad_alloc&) {
    for (TimedSchedule* timed : group) {
      timed->skip(fmt::format("out of host memory for arrays of {} items", job.items));
      timed->out_of_memory = true;
    }
  }
  for (TimedSchedule* timed : group) {
    cases.push_back({.timing = timed,
                     .bytes = static_cast<double>(timed->bytes()),
                     .sample = [this, timed](std::int64_t) { return sample(*timed); },
                     .describe = [timed](Facts& entry) { describe(*timed, entry); }});
  }
  engine_.run(cases);
}

/// Each once: groups share parts.
void ScheduleSession::add_part(Part part, std::vector<EngineCase>& cases) {
  if (std::ranges::any_of(parts_, [&](const auto& other) { return other->name == part.name; })) return;
  Part& kept = *parts_.emplace_back(std::make_unique<Part>(std::move(part)));
  kept.repetitions = schedules_.front().repetitions;
  cases.push_back({.timing = &kept,
                   .bytes = kept.bytes,
                   .sample =
                       [this, &kept](std::int64_t) {
                         const double seconds = kept.seconds();
                         return Sample{.seconds = seconds, .sm_clock_mhz = backend_.sm_clock_mhz()};
                       },
                   .describe = [&kept](Facts& entry) { entry.update(kept.fields); }});
}

/// Copies at most 1 GiB, which tells the rate as well as more.
void ScheduleSession::add_copies(std::size_t array_bytes, const streams::Job& job, std::vector<EngineCase>& cases) {
  using streams::Direction;
  const std::size_t bytes = std::min<std::size_t>(array_bytes, std::size_t{1} << 30);
  if (bytes == 0) return;
  for (const bool both_ways : {false, true}) {
    if (both_ways && job.memory != streams::HostMemory::pinned) continue;
    for (const Direction direction : {Direction::in, Direction::out}) {
      Part part;
      const char* const way = direction == Direction::in ? "h2d" : "d2h";
      part.name =
          fmt::format("streams/copy:{}{}/bytes:{}/memory:{}", both_ways ? "duplex_" : "", way, bytes, name(job.memory));
      part.bytes = static_cast<double>(bytes);
      part.fields = {{"kind", "copy"},
                     {"direction", way},
                     {"both_ways", both_ways},
                     {"memory", name(job.memory)},
                     {"bytes", bytes}};
      part.seconds = [this, direction, bytes, both_ways] { return backend_.copy_seconds(direction, bytes, both_ways); };
      add_part(std::move(part), cases);
    }
  }
}

void ScheduleSession::add_kernel(const streams::Job& job, std::vector<EngineCase>& cases) {
  if (job.items == 0) return;
  const std::int64_t items = streams::longest_chunk(job.items, job.chunks);
  Part part;
  part.name =
      fmt::format("streams/kernel:{}/items:{}/work:{}/blocks:{}", job.workload->about.id, items, job.work, job.blocks);
  part.fields = {{"kind", "kernel"},
                 {"workload", job.workload->about.id},
                 {"items", items},
                 {"work", job.work},
                 {"blocks", job.blocks}};
  part.seconds = [this, job] { return backend_.kernel_seconds(job); };
  add_part(std::move(part), cases);
}

int ScheduleSession::report(std::ostream& out) const {
  Timings all = timings(schedules_);
  for (const std::unique_ptr<Part>& part : parts_) all.push_back(part.get());
  print_untimed(all, out);
  int status = status_of(all);
  for (const TimedSchedule& timed : schedules_) {
    if (!timed.control() || timed.nanoseconds.empty()) continue;
    if (timed.wrong > 0) {
      fmt::print(out, "{}: control, caught in {} of {}: {}\n", timed.name, timed.wrong, timed.nanoseconds.size(),
                 timed.reason);
    } else if (timed.recording.buffers > 0) {  // without items there is nothing to be wrong
      fmt::print(out, "{}: control, NOT CAUGHT: right every time\n", timed.name);
      status = worse(status, kFailed);
    }
  }
  return status;
}

/// Verified, each of them. A control is wrong on purpose, and timed all the same.
Sample ScheduleSession::sample(TimedSchedule& timed) {
  const ScheduleSample taken = backend_.sample(timed.recording);
  timed.verified = taken.wrong.empty();
  if (!timed.verified) {
    ++timed.wrong;
    if (!timed.control()) throw std::runtime_error("verification failed: " + taken.wrong);
    timed.reason = taken.wrong;
  }
  Sample sample{.seconds = taken.host_seconds, .sm_clock_mhz = taken.sm_clock_mhz};
  if (taken.device_seconds > 0) {
    sample.fields["device_time_ms"] = taken.device_seconds * 1e3;
  }
  return sample;
}

}  // namespace scanlab::measure
