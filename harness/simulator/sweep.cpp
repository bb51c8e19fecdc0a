#include "harness/simulator/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "harness/schedule/facts.hpp"

namespace scanlab::simulator {

SweptJob sweep(const streams::ScheduledJob& chosen, std::optional<double> ratio, const DeviceProfile& device,
               const KnownTimes& known) {
  const streams::Recording recording = record(*chosen.schedule, chosen.job);
  KnownTimes varied = known;
  if (ratio) {
    const Parts alone = parts(recording, costs(recording, device, known));
    const double longer = std::max(alone.copy_in, alone.copy_out);
    if (!(longer > 0)) throw std::invalid_argument("--ratios are over the longer copy, and no copy takes time");
    varied.kernel = *ratio * longer;
  }
  const Costs costs = simulator::costs(recording, device, varied);
  const streams::Timeline timeline = simulate(recording, device, costs).timeline;
  SweptJob one{.chosen = &chosen,
               .asked_ratio = ratio,
               .ratio = parts(recording, costs).ratio(),
               .makespan = timeline.makespan(),
               .bounds = bounds(recording, device, costs),
               .buffers = recording.buffers};
  for (std::size_t i = 0; i < streams::kEngines.size(); ++i) {
    const double busy = streams::busy_seconds(timeline, streams::kEngines[i]);
    one.utilisation[i] = one.makespan > 0 ? busy / one.makespan : 0;
  }
  return one;
}

std::vector<SweptJob> fastest(const std::vector<SweptJob>& all) {
  std::vector<SweptJob> found;
  std::map<std::tuple<const streams::Workload*, std::int64_t, int, int, double>, std::size_t> places;
  for (const SweptJob& one : all) {
    if (one.chosen->schedule->about.control) continue;
    const streams::Job& job = one.chosen->job;
    const auto problem = std::tuple(job.workload, job.items, job.work, job.blocks, one.asked_ratio.value_or(0));
    const auto [at, is_new] = places.try_emplace(problem, found.size());
    if (is_new) found.push_back(one);
    if (one.makespan < found[at->second].makespan) found[at->second] = one;
  }
  return found;
}

nlohmann::ordered_json to_json(const SweptJob& one) {
  nlohmann::ordered_json json = streams::facts_of(*one.chosen);
  json["buffers"] = one.buffers;
  json["control"] = one.chosen->schedule->about.control;
  json["ratio"] = one.ratio;
  json["makespan_us"] = 1e6 * one.makespan;
  json["serial_us"] = 1e6 * one.bounds.serial;
  json["bound_us"] = 1e6 * one.bounds.pipeline;
  json["van_werkhoven_us"] = 1e6 * one.bounds.van_werkhoven;
  for (std::size_t i = 0; i < streams::kEngines.size(); ++i) {
    json["utilisation"][name(streams::kEngines[i])] = one.utilisation[i];
  }
  return json;
}

void print(const std::vector<SweptJob>& fastest, std::ostream& out) {
  constexpr std::size_t kMax = 20;
  for (std::size_t i = 0; i < std::min(kMax, fastest.size()); ++i) {
    const SweptJob& one = fastest[i];
    if (!(one.makespan > 0 && one.bounds.pipeline > 0)) {
      fmt::print(out, "{}: nothing takes time\n", describe(*one.chosen));
      continue;
    }
    fmt::print(out, "compute to copy {:.3g}: fastest {}: {:.3f} ms, {:.2f} of its bound, {:.2f} of serial\n",
               one.asked_ratio.value_or(one.ratio), describe(*one.chosen), 1e3 * one.makespan,
               one.makespan / one.bounds.pipeline, one.makespan / one.bounds.serial);
  }
  if (fastest.size() > kMax) fmt::print(out, "and {} more problems\n", fastest.size() - kMax);
}

}  // namespace scanlab::simulator
