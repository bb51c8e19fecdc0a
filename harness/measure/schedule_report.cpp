#include "harness/measure/schedule_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <string>

#include "harness/core/median.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::measure {

namespace {

std::string verdict(const TimedSchedule& timed) {
  const std::size_t repetitions = timed.nanoseconds.size();
  if (timed.control()) {
    return timed.wrong > 0 ? fmt::format("control, caught in {} of {}: {}", timed.wrong, repetitions, timed.reason)
                           : "control, NOT CAUGHT: right every time";
  }
  return timed.state == Timing::State::failed ? "FAILED: " + timed.reason : "verified";
}

/// Prints why a case was not timed; nothing where Ctrl-C came first.
void print_reason(const Timing& timing, std::size_t width, std::ostream& out) {
  if (timing.reason.empty()) return;
  const bool failed = timing.state == Timing::State::failed;
  fmt::print(out, "{:<{}}  {}: {}\n", timing.name, width, failed ? "FAILED" : "skipped", timing.reason);
}

}  // namespace

void print(const std::vector<std::unique_ptr<Part>>& parts, std::ostream& out) {
  for (const std::unique_ptr<Part>& each : parts) {
    const Part& part = *each;
    if (part.nanoseconds.empty()) {
      print_reason(part, 0, out);
      continue;
    }
    const double time = median(part.nanoseconds);
    fmt::print(out, "{}  {:.3f} ms{}\n", part.name, time / 1e6,
               part.bytes > 0 ? fmt::format(", {:.1f} GB/s", part.bytes / time) : "");
  }
  fmt::print(out, "\n");
}

void print(const std::vector<TimedSchedule>& schedules, std::ostream& out) {
  std::size_t width = 4;
  for (const TimedSchedule& timed : schedules) width = std::max(width, timed.name.size());
  fmt::print(out, "{:<{}}  {:>11}  {:>11}  {:>8}  {:>6}  {}\n", "case", width, "by host, ms", "events, ms", "GB/s",
             "rounds", "output");
  for (const TimedSchedule& timed : schedules) {
    if (timed.nanoseconds.empty()) {
      print_reason(timed, width, out);
      continue;
    }
    const double time = median(timed.nanoseconds);
    const std::string by_events =
        timed.device_nanoseconds.empty() ? "-" : fmt::format("{:.3f}", median(timed.device_nanoseconds) / 1e6);
    fmt::print(out, "{:<{}}  {:>11.3f}  {:>11}  {:>8.1f}  {:>6}  {}\n", timed.name, width, time / 1e6, by_events,
               timed.bytes() / time, timed.nanoseconds.size(), verdict(timed));
  }
}

int status_of(const std::vector<TimedSchedule>& schedules, const std::vector<std::unique_ptr<Part>>& parts) {
  Timings parts_of;
  for (const std::unique_ptr<Part>& part : parts) parts_of.push_back(part.get());
  int status = status_of(parts_of);
  for (const TimedSchedule& timed : schedules) {
    const bool passed_unnoticed = timed.control() && !timed.nanoseconds.empty() && timed.wrong == 0 &&
                                  timed.recording.buffers > 0;  // without items there is nothing to be wrong
    if (timed.state == Timing::State::failed || passed_unnoticed) status = worse(status, kFailed);
    if (timed.out_of_memory) status = worse(status, kOutOfMemory);
  }
  return status;
}

}  // namespace scanlab::measure
