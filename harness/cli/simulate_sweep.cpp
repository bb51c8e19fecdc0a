// scanlab simulate --sweep: many configurations on the engine model, a line of figures each.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "harness/cli/selection.hpp"
#include "harness/cli/simulate.hpp"
#include "harness/cli/streams_timeline.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/simulator/bounds.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

namespace {

/// None: kernels take what they take.
std::vector<std::optional<double>> ratios_of(const po::variables_map& values) {
  std::vector<std::optional<double>> ratios;
  for (const std::string& word : option_words(values, "ratios")) {
    char* end = nullptr;
    const double ratio = std::strtod(word.c_str(), &end);
    if (end != word.c_str() + word.size() || !(ratio > 0 && std::isfinite(ratio))) {
      throw CommandError(kBadInput, fmt::format("--ratios takes numbers above 0, not '{}'", word));
    }
    ratios.emplace_back(ratio);
  }
  if (!ratios.empty() && values.count("kernel-us") != 0) {
    throw CommandError(kBadInput, "--ratios and --kernel-us both say how long kernels take: leave out one");
  }
  if (ratios.empty()) ratios.emplace_back();
  return ratios;
}

struct Configuration {
  const streams::ScheduledJob* chosen = nullptr;
  double ratio = 0;
  double makespan = 0;  ///< seconds
  simulator::Bounds bounds;
};

/// The fastest of each problem whose result is right, in the order in which problems came.
class Fastest {
 public:
  void look_at(const Configuration& one) {
    if (one.chosen->schedule->about.control) return;
    const streams::Job& job = one.chosen->job;
    // Of one asked-for ratio the last digits differ as chunks are cut.
    const auto problem = std::tuple(job.workload, job.items, std::llround(1e6 * std::log(std::max(1e-9, one.ratio))));
    const auto [at, is_new] = places_.try_emplace(problem, fastest_.size());
    if (is_new) fastest_.push_back(one);
    if (one.makespan < fastest_[at->second].makespan) fastest_[at->second] = one;
  }

  void print(std::ostream& out) const {
    constexpr std::size_t kMost = 20;
    for (std::size_t i = 0; i < std::min(kMost, fastest_.size()); ++i) {
      const auto& [chosen, ratio, makespan, bounds] = fastest_[i];
      fmt::print(out, "compute to copy {:.3g}: fastest {}: {:.3f} ms, {:.2f} of its bound, {:.2f} of serial\n", ratio,
                 describe(*chosen), 1e3 * makespan, makespan / bounds.pipeline, makespan / bounds.serial);
    }
    if (fastest_.size() > kMost) fmt::print(out, "and {} more problems\n", fastest_.size() - kMost);
  }

 private:
  std::map<std::tuple<const streams::Workload*, std::int64_t, long long>, std::size_t> places_;
  std::vector<Configuration> fastest_;
};

/// Of the makespan, an engine at work; kernels that overlap count once.
Json utilisation(const streams::Timeline& timeline, double makespan) {
  Json shares;
  for (const streams::Engine engine : streams::kEngines) {
    const double busy = streams::busy_seconds(timeline, engine);
    shares[name(engine)] = makespan > 0 ? busy / makespan : 0;
  }
  return shares;
}

}  // namespace

int simulate_sweep(const std::vector<streams::ScheduledJob>& jobs, const simulator::DeviceProfile& profile,
                   const simulator::Problem& problem, const po::variables_map& values, Context& context) {
  const auto ratios = ratios_of(values);
  std::optional<WholeFile> file;
  if (values.count("out") != 0) file.emplace(values["out"].as<std::string>(), values.count("force") != 0);

  const std::size_t count = jobs.size() * ratios.size();
  const InterruptGuard guard;
  Progress progress(context.err);
  Json configurations = Json::array();
  Fastest fastest;
  for (const streams::ScheduledJob& chosen : jobs) {
    const streams::Recording recording = record(*chosen.schedule, chosen.job);
    const simulator::Parts alone = parts(recording, costs(recording, profile, problem));
    for (const std::optional<double> ratio : ratios) {
      if (interrupted()) break;
      simulator::Problem varied = problem;
      if (ratio) varied.kernel = *ratio * std::max(alone.copy_in, alone.copy_out);
      const simulator::Costs each = costs(recording, profile, varied);
      const simulator::Parts parts = simulator::parts(recording, each);
      const simulator::Bounds bounds = simulator::bounds(recording, profile, each);
      const streams::Timeline timeline = simulator::simulate(recording, profile, each).timeline;
      const double makespan = timeline.makespan();
      fastest.look_at({&chosen, ratio.value_or(parts.ratio()), makespan, bounds});
      Json one = facts_of(chosen);
      one["buffers"] = recording.buffers;
      one["control"] = chosen.schedule->about.control;
      one["ratio"] = parts.ratio();
      one["makespan_us"] = 1e6 * makespan;
      one["serial_us"] = 1e6 * bounds.serial;
      one["bound_us"] = 1e6 * bounds.pipeline;
      one["van_werkhoven_us"] = 1e6 * bounds.van_werkhoven;
      one["utilisation"] = utilisation(timeline, makespan);
      configurations.push_back(std::move(one));
      progress.show(fmt::format("{} of {} configurations", configurations.size(), count));
    }
  }
  progress.clear();

  fmt::print(context.out, "{} configurations simulated on {}: {}\n", configurations.size(), profile.name,
             profile.title);
  fastest.print(context.out);
  if (file) {
    const Json all = {{"schema", "scanlab-simulation-sweep/1"},
                      {"context", simulation_facts(profile, context)},
                      {"configurations", std::move(configurations)}};
    file->write(all.dump() + "\n");
    fmt::print(context.out, "all of them in {}\n", values["out"].as<std::string>());
  }
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace scanlab::cli
