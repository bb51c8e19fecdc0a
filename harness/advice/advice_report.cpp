#include "harness/advice/advice_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/core/median.hpp"

namespace scanlab::simulator {

namespace {

/// With three digits behind the point, in the unit that leaves one before it.
std::string time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3f} µs", 1e6 * seconds);
  return seconds < 1 ? fmt::format("{:.3f} ms", 1e3 * seconds) : fmt::format("{:.3f} s", seconds);
}

void print(const ScoredProblem& verdict, std::ostream& out) {
  fmt::print(out, "{:>6.1f}%  {:>7.3f} ms  {:>7.3f} ms  {}, {} items, work {}: {}; fastest of {}: {}\n",
             100 * verdict.slower(verdict.scored), 1e3 * verdict.scored.seconds(), 1e3 * verdict.fastest.seconds(),
             verdict.job.workload->about.id, verdict.job.items, verdict.job.work, describe(verdict.scored.choice),
             verdict.choices, describe(verdict.fastest.choice));
  if (!verdict.stated_was_measured) {
    const bool ties = verdict.scored.choice.ties_with(verdict.stated);
    fmt::print(out, "{:35}advice is {}, which was not measured: this {}\n", "", describe(verdict.stated),
               ties ? "ties with it"
                    : fmt::format("is the best that was, predicted {:.1f}% slower",
                                  100 * (verdict.scored.choice.seconds / verdict.stated.seconds - 1)));
  }
  if (verdict.ties.size() > 1) {
    fmt::print(out, "{:35}{} that were measured tie by the prediction: {:.1f}% to {:.1f}% slower\n", "",
               verdict.ties.size(), 100 * std::ranges::min(verdict.ties), 100 * std::ranges::max(verdict.ties));
  }
  fmt::print(out, "{:35}error of the predictions: {:.1f}% in the median, {:.1f}% at worst\n", "",
             100 * median(verdict.errors), 100 * std::ranges::max(verdict.errors));
}

}  // namespace

void print(const Advice& advice, const DeviceProfile& device, int show, std::ostream& out) {
  const ScheduleChoice& best = advice.best();
  fmt::print(out, "copies {}, kernel {}; all at once, one after another: {}; no choice can take less than {}\n",
             time(advice.parts.copy_in + advice.parts.copy_out), time(advice.parts.kernel), time(advice.serial.seconds),
             time(advice.bound));
  if (advice.worth_it()) {
    fmt::print(out, "{}: {}, {:.2f} times as fast as serial\n", describe(best), time(best.seconds), advice.gain());
  } else {
    fmt::print(out, "streams are not worth it, leave it in one piece: {}, and {} at best; {}\n",
               time(advice.whole.seconds), time(best.seconds), limit_of(advice, device));
  }
  const std::size_t shown = std::min(advice.choices.size(), static_cast<std::size_t>(std::max(0, show)));
  if (shown > 0) fmt::print(out, "the fastest of {} choices, as simulated:\n", advice.choices.size());
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::print(out, "  {:>12}  {}\n", time(advice.choices[i].seconds), describe(advice.choices[i]));
  }
}

void print(const AdviceScore& score, std::ostream& out) {
  fmt::print(out, "{:>7}  {:>10}  {:>10}  {}\n", "slower", "advised", "fastest", "than the fastest measured");
  for (const ScoredProblem& problem : score.problems) print(problem, out);
  const std::vector<double> lost = score.slower();
  const std::vector<double> errors = score.errors();
  fmt::print(out, "{} problems: what is advised took {:.1f}% longer than the fastest in the median, {:.1f}% at worst\n",
             lost.size(), 100 * median(lost), 100 * std::ranges::max(lost));
  fmt::print(out, "{} configurations: error of the prediction {:.1f}% in the median, {:.1f}% at worst\n", errors.size(),
             100 * median(errors), 100 * std::ranges::max(errors));
}

}  // namespace scanlab::simulator
