// scanlab simulate --compare: measured traces held against their simulation.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <optional>
#include <sstream>

#include "harness/advice/comparison_report.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

namespace {

constexpr char kComparisonSchema[] = "scanlab-comparison/1";

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
