#include "harness/measure/timing_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"

namespace scanlab::measure {

std::string verified_in_words(const Timing& timing) {
  if (timing.state == Timing::State::failed) return "FAILED";
  return timing.verified ? "yes" : "before only";
}

void print_untimed(const Timings& all, std::ostream& out) {
  std::map<std::string, std::pair<int, const Timing*>> reasons;
  for (const Timing* const timing : all) {
    if (timing->state == Timing::State::timed) continue;
    auto& [count, first] = reasons[timing->reason];
    if (count++ == 0) first = timing;
  }
  for (const auto& [reason, entry] : reasons) {
    const auto& [count, first] = entry;
    fmt::print(out, "{} {} case{}: {} ({}{})\n", first->state == Timing::State::failed ? "FAILED" : "skipped", count,
               count == 1 ? "" : "s", reason, count == 1 ? "" : "first ", first->name);
  }
}

int status_of(const Timings& all) {
  if (interrupted()) return kInterrupted;
  const auto failed = [](const Timing* timing) { return timing->state == Timing::State::failed; };
  if (std::ranges::any_of(all, failed)) return kFailed;
  return std::ranges::any_of(all, &Timing::out_of_memory) ? kOutOfMemory : kOk;
}

int status_or_nothing_ran(const Timings& all, std::ostream& err) {
  const int status = status_of(all);
  const auto skipped = [](const Timing* timing) { return timing->state == Timing::State::skipped; };
  if (status != kOk || !std::ranges::all_of(all, skipped)) return status;
  fmt::print(err, "scanlab: nothing was timed: {}\n", kAllSkipped);
  return kBadInput;
}

}  // namespace scanlab::measure
