#include "harness/simulator/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
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
  SweptJob swept{.chosen = &chosen,
                 .asked_ratio = ratio,
                 .ratio = parts(recording, costs).ratio(),
                 .makespan = timeline.makespan(),
                 .bounds = bounds(recording, device, costs),
                 .buffers = recording.buffers};
  for (std::size_t i = 0; i < streams::kEngines.size(); ++i) {
    const double busy = streams::busy_seconds(timeline, streams::kEngines[i]);
    swept.utilisation[i] = swept.makespan > 0 ? busy / swept.makespan : 0;
  }
  return swept;
}

std::vector<SweptJob> fastest(const std::vector<SweptJob>& all) {
  std::vector<SweptJob> problems;
  const auto problem_of = [](const SweptJob& swept) {
    const streams::Job& job = swept.chosen->job;
    return std::tuple(job.workload, job.items, job.work, job.blocks, swept.asked_ratio);
  };
  for (const SweptJob& each : all) {
    if (each.chosen->schedule->about.control) continue;
    const auto best = std::ranges::find(problems, problem_of(each), problem_of);
    if (best == problems.end()) {
      problems.push_back(each);
    } else if (each.makespan < best->makespan) {
      *best = each;
    }
  }
  return problems;
}

nlohmann::ordered_json to_json(const SweptJob& swept) {
  nlohmann::ordered_json json = streams::facts_of(*swept.chosen);
  json["buffers"] = swept.buffers;
  json["control"] = swept.chosen->schedule->about.control;
  json["ratio"] = swept.ratio;
  json["makespan_us"] = 1e6 * swept.makespan;
  json["serial_us"] = 1e6 * swept.bounds.serial;
  json["bound_us"] = 1e6 * swept.bounds.pipeline;
  json["van_werkhoven_us"] = 1e6 * swept.bounds.van_werkhoven;
  for (std::size_t i = 0; i < streams::kEngines.size(); ++i) {
    json["utilisation"][name(streams::kEngines[i])] = swept.utilisation[i];
  }
  return json;
}

void print(const std::vector<SweptJob>& fastest, std::ostream& out) {
  constexpr std::size_t kMax = 20;
  for (std::size_t i = 0; i < std::min(kMax, fastest.size()); ++i) {
    const SweptJob& swept = fastest[i];
    if (!(swept.makespan > 0 && swept.bounds.pipeline > 0)) {
      fmt::print(out, "{}: nothing takes time\n", describe(*swept.chosen));
      continue;
    }
    fmt::print(out, "compute to copy {:.3g}: fastest {}: {:.3f} ms, {:.2f} of its bound, {:.2f} of serial\n",
               swept.asked_ratio.value_or(swept.ratio), describe(*swept.chosen), 1e3 * swept.makespan,
               swept.makespan / swept.bounds.pipeline, swept.makespan / swept.bounds.serial);
  }
  if (fastest.size() > kMax) fmt::print(out, "and {} more problems\n", fastest.size() - kMax);
}

}  // namespace scanlab::simulator
