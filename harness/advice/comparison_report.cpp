#include "harness/advice/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/core/median.hpp"

namespace scanlab::simulator {

void print(const ComparedTrace& one, std::ostream& out) {
  fmt::print(out, "{:>9.3f} {:>9.3f} {:>+6.1f}%  {:>4.0f}%  hardware queues {}, {}\n", 1e3 * one.measured_seconds,
             1e3 * one.predicted.seconds, 100 * one.error(), 100 * one.predicted.overlaps.share(), one.connections,
             describe(one.chosen));
}

void print_operations(const ComparedTrace& one, std::ostream& out) {
  fmt::print(out, "\nmicroseconds, predicted less measured\n{:>10}{:>10}{:>10}\n", "start", "end", "duration");
  for (const OperationError& error : one.comparison.operations) {
    fmt::print(out, "{:>10.1f}{:>10.1f}{:>10.1f}  {}\n", 1e6 * error.start, 1e6 * error.end, 1e6 * error.duration,
               describe(one.recording.operations[error.operation]));
  }
}

void print(const ComparisonSummary& summary, std::ostream& out) {
  const auto print_line = [&](const std::string& of, const PredictionErrors& errors) {
    fmt::print(out,
               "{}: error of the makespan {:.1f}% in the median, {:.1f}% at worst; of {} pairs of operations that "
               "overlap in either, {:.1f}% in both\n",
               of, 100 * median(errors.makespans), 100 * errors.worst(), errors.overlaps.either,
               100 * errors.overlaps.share());
  };
  print_line(fmt::format("{} traces", summary.predicted.makespans.size()), summary.predicted);
  if (const std::size_t traces = summary.repeatable.makespans.size(); traces > 0) {
    print_line(fmt::format("{} whose repetitions lie within {:.0f}%", traces, 100 * kRepeatable), summary.repeatable);
  }
  print_line("without their hardware queues", summary.unaided);
  fmt::print(out, "the pipeline estimate alone: error of the makespan {:.1f}% in the median, {:.1f}% at worst\n",
             100 * median(summary.of_estimates), 100 * std::ranges::max(summary.of_estimates));
  fmt::print(out,
             "hardware queues: shared as the model would in {} traces; {} have more than two for copies one way, {} of "
             "these in the order of the model's\n",
             summary.shared, summary.turned, summary.in_order);
  if (summary.repeated.either == 0) return;
  fmt::print(out,
             "pairs of the device's own repetitions: {:.1f}% between two of them, {:.1f}% of any prediction at most; "
             "where all agree, this one has {:.1f}% of {}\n",
             100 * summary.repeated.share(), 100 * summary.best.share(), 100 * summary.steady.share(),
             summary.steady.either);
}

}  // namespace scanlab::simulator
