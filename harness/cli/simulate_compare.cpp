// scanlab simulate --compare: measured traces held against their simulation.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <optional>
#include <sstream>

#include "harness/cli/simulate.hpp"
#include "harness/core/median.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/simulator/comparison.hpp"

namespace scanlab::cli {

namespace {

constexpr char kComparisonSchema[] = "scanlab-comparison/1";

void print(const simulator::ComparedTrace& one, std::ostream& out) {
  fmt::print(out, "{:>9.3f} {:>9.3f} {:>+6.1f}%  {:>4.0f}%  hardware queues {}, {}\n", 1e3 * one.measured_seconds,
             1e3 * one.predicted.seconds, 100 * one.error(), 100 * one.predicted.overlaps.share(), one.connections,
             describe(one.chosen));
}

void print_operations(const simulator::ComparedTrace& one, std::ostream& out) {
  fmt::print(out, "\nmicroseconds, predicted less measured\n{:>10}{:>10}{:>10}\n", "start", "end", "duration");
  for (const simulator::OperationError& error : one.comparison.operations) {
    fmt::print(out, "{:>10.1f}{:>10.1f}{:>10.1f}  {}\n", 1e6 * error.start, 1e6 * error.end, 1e6 * error.duration,
               describe(one.recording.operations[error.operation]));
  }
}

void print(const simulator::ComparisonSummary& summary, std::ostream& out) {
  const auto print_line = [&](const std::string& of, const simulator::PredictionErrors& errors) {
    fmt::print(out,
               "{}: error of the makespan {:.1f}% in the median, {:.1f}% at worst; of {} pairs of operations that "
               "overlap in either, {:.1f}% in both\n",
               of, 100 * median(errors.makespans), 100 * errors.worst(), errors.overlaps.either,
               100 * errors.overlaps.share());
  };
  print_line(fmt::format("{} traces", summary.predicted.makespans.size()), summary.predicted);
  if (const std::size_t traces = summary.repeatable.makespans.size(); traces > 0) {
    print_line(fmt::format("{} whose repetitions lie within {:.0f}%", traces, 100 * simulator::kRepeatable),
               summary.repeatable);
  }
  print_line("without their hardware queues", summary.unaided);
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

}  // namespace

int simulate_compare(const po::variables_map& values, const simulator::DeviceProfile& profile, Context& context) {
  const auto& files = values["compare"].as<std::vector<std::string>>();
  std::optional<WholeFile> file = output_file(values);
  measure::Facts facts = measure::build_facts();
  facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  facts["simulated_on"] = profile.name;

  std::ostringstream out;  // printed behind the file: whoever reads the first lines alone still has it whole
  fmt::print(out, "simulated on {}: {}\n{:>9} {:>9} {:>7}  {:>5}\n{:>9} {:>9} {:>7}  {:>5}\n", profile.name,
             profile.title, "measured", "predicted", "error", "pairs", "ms", "ms", "", "kept");
  simulator::ComparisonSummary summary;
  measure::Facts traces = measure::Facts::array();
  std::unique_ptr<simulator::ComparedTrace> one;
  for (const std::string& each : files) {
    one = simulator::compare_trace(each, profile);
    print(*one, out);
    summary.add(*one);
    traces.push_back(to_json(*one));
    measure::add_measured(facts, one->about);
  }
  if (files.size() == 1) {
    print_operations(*one, out);
    facts.update(traces.front());
    if (file) file->write(both_timelines(*one, facts).dump() + "\n");
  } else {
    print(summary, out);
    measure::Facts document{{"schema", kComparisonSchema}, {"context", facts}};
    document.update(to_json(summary));
    document["traces"] = std::move(traces);
    if (file) file->write(document.dump(1) + "\n");
  }
  context.out << out.str();
  return kOk;
}

}  // namespace scanlab::cli
