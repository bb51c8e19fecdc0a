// scanlab simulate --sweep: many configurations on the engine model, a line of figures each.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/options.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/simulator/sweep.hpp"

namespace scanlab::cli {

namespace {

/// None: kernels take what they take.
std::vector<std::optional<double>> ratios_of(const po::variables_map& values) {
  std::vector<std::optional<double>> ratios;
  for (const std::string& word : option_words(values, "ratios")) {
    char* end = nullptr;
    const double ratio = std::strtod(word.c_str(), &end);
    if (end != word.c_str() + word.size() || !(ratio > 0 && std::isfinite(ratio))) {
      throw CommandError(kBadInput, fmt::format("--ratios '{}': give numbers above 0, as in --ratios 0.1,1,10", word));
    }
    ratios.emplace_back(ratio);
  }
  if (!ratios.empty() && values.count("kernel-us") != 0) {
    throw CommandError(kBadInput, "--ratios and --kernel-us both set the time of kernels: leave out one");
  }
  if (ratios.empty()) ratios.emplace_back();
  return ratios;
}

}  // namespace

int simulate_sweep(const std::vector<streams::ScheduledJob>& jobs, const simulator::DeviceProfile& profile,
                   const simulator::KnownTimes& known, const po::variables_map& values, Context& context) {
  refuse_options(values, {"gap"}, "a sweep prints no gaps");
  const auto ratios = ratios_of(values);
  std::optional<WholeFile> file = output_file(values);
  const InterruptGuard guard;
  Progress progress(context.err);
  std::vector<simulator::SweptJob> all;
  for (const streams::ScheduledJob& chosen : jobs) {
    for (const std::optional<double> ratio : ratios) {
      if (interrupted()) break;
      all.push_back(simulator::sweep(chosen, ratio, profile, known));
      progress.show(fmt::format("{} of {} configurations", all.size(), jobs.size() * ratios.size()));
    }
  }
  progress.clear();

  const std::string of_all = interrupted() ? fmt::format(" of {}", jobs.size() * ratios.size()) : "";
  fmt::print(context.out, "{}{} configurations simulated on {}: {}\n", all.size(), of_all, profile.name, profile.title);
  print(fastest(all), context.out);
  if (file) {
    measure::Facts document{{"schema", "scanlab-simulation-sweep/1"},
                            {"context", simulation_facts(profile, context)},
                            {"configurations", measure::Facts::array()}};
    for (const simulator::SweptJob& one : all) document["configurations"].push_back(to_json(one));
    file->write(document.dump() + "\n");
    fmt::print(context.out, "all of them in {}\n", values["out"].as<std::string>());
  }
  if (!interrupted()) return kOk;
  fmt::print(context.err, "scanlab: interrupted; the configurations before are kept\n");
  return kInterrupted;
}

}  // namespace scanlab::cli
