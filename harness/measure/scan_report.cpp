#include "harness/measure/scan_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "harness/core/median.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::measure {

namespace {

std::string time_in_words(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.2f} us", nanoseconds / 1e3);
  return nanoseconds < 1e9 ? fmt::format("{:.3f} ms", nanoseconds / 1e6) : fmt::format("{:.3f} s", nanoseconds / 1e9);
}

void print_table(const std::vector<TimedCase>& cases, std::ostream& out) {
  std::size_t width = 4;
  for (const TimedCase& timed : cases) width = std::max(width, timed.name.size());
  fmt::print(out, "{:<{}}  {:>11}  {:>8}  {:>6}  {}\n", "case", width, "median", "GB/s", "rounds", "verified");
  for (const TimedCase& timed : cases) {
    if (timed.nanoseconds.empty()) continue;
    const double time = median(timed.nanoseconds);
    const bool moves = timed.about().kind != Kind::empty_launch;
    const double rate = static_cast<double>(timed.problem().ideal_bytes()) / time;
    const std::optional<Choice>& choice = timed.bound.plan.choice;
    fmt::print(out, "{:<{}}  {:>11}  {:>8}  {:>6}  {}{}\n", timed.name, width, time_in_words(time),
               moves ? fmt::format("{:.4g}", rate) : "", timed.nanoseconds.size(), verified_in_words(timed),
               choice ? "  ran " + choice->label() : "");
  }
}

/// A hand-written kernel that needs local memory is one whose registers did not suffice: worth knowing before its time
/// is believed.
void warn_of_local_memory(const std::vector<TimedCase>& cases, std::ostream& err) {
  std::map<std::string, std::size_t> most;
  for (const TimedCase& timed : cases) {
    if (timed.scan.variant->origin != Origin::variant || timed.kernels.local_bytes == 0) continue;
    std::size_t& bytes =
        most[fmt::format("{} of {} {}", timed.about().id, name(timed.problem().type), name(timed.problem().op))];
    bytes = std::max(bytes, timed.kernels.local_bytes);
  }
  for (const auto& [scan, bytes] : most) {
    fmt::print(err,
               "scanlab: warning: {} uses {} bytes of local memory a thread: spilled registers, or an array that is "
               "indexed at run time\n",
               scan, bytes);
  }
}

void print_times(const ScanTimes& times, std::ostream& out) {
  const double all = std::max(times.verify + times.calibrate + times.time, 1e-9);
  fmt::print(out, "wall time {}: verify {:.0f}%, calibrate {:.0f}%, time {:.0f}%\n", in_words(all),
             100 * times.verify / all, 100 * times.calibrate / all, 100 * times.time / all);
}

}  // namespace

void print(const ScanSession& session, std::ostream& out, std::ostream& err) {
  print_table(session.cases(), out);
  print_untimed(timings(session.cases()), out);
  warn_of_local_memory(session.cases(), err);
  print_times(session.times(), out);
}

}  // namespace scanlab::measure
