#include "harness/schedule/check_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

namespace scanlab::streams {

namespace {

constexpr std::size_t kShown = 20;  // a schedule that is wrong is so in every chunk

std::size_t faults(const CheckedSchedule& checked) {
  return checked.result.hazards.size() + checked.result.waits_for_nothing.size() + checked.undone.size();
}

/// Describes what is wrong, in a sentence. `fault` is less than faults().
std::string describe(const CheckedSchedule& checked, std::size_t fault) {
  const auto& [hazards, waits_for_nothing] = checked.result;
  if (fault < hazards.size()) return describe(checked.recording, hazards[fault]);
  fault -= hazards.size();
  if (fault >= waits_for_nothing.size()) return checked.undone[fault - waits_for_nothing.size()];
  return fmt::format("{} waits for nothing: no earlier operation records the event",
                     describe(checked.recording.operations[waits_for_nothing[fault]]));
}

}  // namespace

bool as_expected(const CheckedSchedule& checked) {
  const bool issues = checked.recording.buffers > 0;
  const bool ordered = checked.result.ordered();
  return checked.chosen.schedule->about.control ? ordered != issues : ordered && checked.undone.empty();
}

void print(const CheckedSchedule& checked, bool brief, std::ostream& out) {
  const Job& job = checked.chosen.job;
  const bool control = checked.chosen.schedule->about.control;
  const std::size_t all = faults(checked);
  const std::string verdict =
      all == 0 ? "ordered"
               : fmt::format("NOT {}: {} faults", checked.result.ordered() ? "THE WHOLE JOB" : "ORDERED", all);
  const bool caught = !checked.result.ordered();
  const char* const remark = !control               ? ""
                             : caught               ? " (a control, kept to be caught: it is)"
                             : as_expected(checked) ? " (a control, but nothing is issued)"
                                                    : " (a control, kept to be caught: it is NOT)";
  fmt::print(out, "{}, {}: {} items in {} chunks, {} streams, {}: {} operations, {}{}\n",
             checked.chosen.schedule->about.id, job.workload->about.id, job.items, job.chunks, job.streams,
             name(job.memory), checked.recording.operations.size(), verdict, remark);
  const bool one_is_enough = brief && control;
  const std::size_t shown = std::min(all, one_is_enough ? 1 : kShown);
  for (std::size_t i = 0; i < shown; ++i) fmt::print(out, "  {}\n", describe(checked, i));
  if (shown < all && !one_is_enough) fmt::print(out, "  and {} more: --json has them all\n", all - shown);
}

}  // namespace scanlab::streams
