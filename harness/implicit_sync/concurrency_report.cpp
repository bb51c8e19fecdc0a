#include "harness/implicit_sync/concurrency_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "harness/core/median.hpp"
#include "harness/implicit_sync/concurrency.hpp"

namespace scanlab::streams {

void print(const nlohmann::ordered_json& cases, const std::vector<std::int64_t>& connections, std::ostream& out) {
  if (cases.empty()) return;
  fmt::print(out, "{} slots, blocks of {:.3f} ms; makespan in ms, measured (median) and by the formula\n\n",
             cases[0]["slots"].get<std::int64_t>(), 1e3 * cases[0]["block_seconds"].get<double>());
  fmt::print(out, "{:>8}{:>8}{:>8}{:>7}{:>8}", "streams", "kernels", "blocks", "waves", "tail");
  for (const std::int64_t count : connections) fmt::print(out, "{:>22}", fmt::format("{} queues", count));
  fmt::print(out, "\n");
  const auto same_grids = [](const auto& grids, const auto& other) {
    return grids["streams"] == other["streams"] && grids["kernels"] == other["kernels"] &&
           grids["blocks"] == other["blocks"];
  };
  for (const auto& first : cases) {
    if (first["connections"] != connections.front()) continue;
    const auto slots = first["slots"].get<std::int64_t>();
    const SmallGrids grids{.streams = first["streams"], .kernels = first["kernels"], .blocks = first["blocks"]};
    const std::int64_t waves = streams::waves(grids.total_blocks(), slots);
    const std::int64_t tail = grids.total_blocks() - (waves - 1) * slots;
    fmt::print(out, "{:>8}{:>8}{:>8}{:>7}{:>7.0f}%", grids.streams, grids.kernels, grids.blocks, waves,
               100.0 * static_cast<double>(tail) / static_cast<double>(slots));
    for (const std::int64_t count : connections) {
      for (const auto& each : cases) {
        if (each["connections"] != count || !same_grids(each, first)) continue;
        fmt::print(out, "{:>11.3f}{:>11.3f}", 1e3 * median(each["makespan_seconds"].get<std::vector<double>>()),
                   1e3 * each["predicted_seconds"].get<double>());
      }
    }
    fmt::print(out, "\n");
  }
}

}  // namespace scanlab::streams
