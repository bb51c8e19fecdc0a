#include "harness/features/feature.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/median.hpp"

namespace scanlab::features {

#ifdef SCANLAB_WITH_CUDA
Feature allocation(), batched_copies(), conditional_node(), dependent_launch(), sync_domain(), urgent_kernels(),
    urgent_makespan();

std::vector<Feature> features() {
  return {allocation(),     batched_copies(),  dependent_launch(), conditional_node(),
          urgent_kernels(), urgent_makespan(), sync_domain()};
}
#else
std::vector<Feature> features() { return {}; }
#endif

Measured measure(const Feature& feature, int repetitions, const simulator::DeviceProfile* profile) {
  if (std::string lacks = feature.lacks(); !lacks.empty()) return {feature.about, std::move(lacks), {}};
  Bench bench(feature.about.id, repetitions, profile);
  feature.measure(bench);
  return {feature.about, {}, bench.cases()};
}

nlohmann::ordered_json to_json(const std::vector<Measured>& all) {
  auto features = nlohmann::ordered_json::array();
  auto cases = nlohmann::ordered_json::array();
  for (const Measured& measured : all) {
    const FeatureDescription& about = measured.about;
    features.push_back({{"feature", about.id},
                        {"title", about.title},
                        {"times", about.times},
                        {"parameter", about.parameter},
                        {"source", about.source},
                        {"model", about.model},
                        {"lacks", measured.lacks}});
    for (const Case& each : measured.cases) {
      nlohmann::ordered_json one{{"feature", each.feature}, {"way", each.way}, {"at", each.at}};
      one["predicted_seconds"] = nullptr;
      if (each.predicted_seconds) one["predicted_seconds"] = *each.predicted_seconds;
      one["seconds"] = each.seconds;
      cases.push_back(std::move(one));
    }
  }
  return {{"features", features}, {"cases", cases}};
}

void print(const Measured& measured, std::ostream& out) {
  const FeatureDescription& about = measured.about;
  fmt::print(out, "\n{}: {}\n", about.id, about.title);
  if (!measured.lacks.empty()) return fmt::print(out, "  skipped: {}\n", measured.lacks);
  fmt::print(out, "  {}, in ms, and by the engine model ({})\n", about.times, about.model);
  std::vector<std::string> ways;
  std::vector<double> places;
  for (const Case& each : measured.cases) {
    if (std::ranges::find(ways, each.way) == ways.end()) ways.push_back(each.way);
    if (std::ranges::find(places, each.at) == places.end()) places.push_back(each.at);
  }
  std::size_t widest = 12;
  for (const std::string& way : ways) widest = std::max(widest, way.size());
  fmt::print(out, "  {:<{}}", about.parameter, widest);
  for (const double at : places) fmt::print(out, "{:>16.6g}", at);
  fmt::print(out, "\n");
  for (const std::string& way : ways) {
    fmt::print(out, "  {:<{}}", way, std::max(widest, about.parameter.size()));
    for (const double at : places) {
      const auto each =
          std::ranges::find_if(measured.cases, [&](const Case& one) { return one.way == way && one.at == at; });
      std::string cell;
      if (each != measured.cases.end()) {
        cell = fmt::format("{:.3f}", 1e3 * median(each->seconds));
        cell += each->predicted_seconds ? fmt::format(" {:7.3f}", 1e3 * *each->predicted_seconds) : "       —";
      }
      fmt::print(out, "{:>16}", cell);
    }
    fmt::print(out, "\n");
  }
}

}  // namespace scanlab::features
