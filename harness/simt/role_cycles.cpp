#include "harness/simt/role_cycles.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ranges>

#include "harness/core/median.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/timing.hpp"
#include "harness/cuda/watch.cuh"
#endif

namespace scanlab::simt {

#ifdef SCANLAB_WITH_CUDA
namespace {

/// The arrays and the stream of an instrumented run. The items are zeros: where time goes does not depend on values.
class Bed {
 public:
  Bed(const BoundScan& scan, const Problem& problem)
      : in_(problem.array_bytes()), out_(problem.array_bytes()), workspace_(scan.plan.workspace_bytes) {
    cuda::check(cudaMemsetAsync(in_.data(), 0, in_.bytes(), stream_.get()), "clearing the input");
    if (scan.prepare_cuda) scan.prepare_cuda(workspace_.data(), stream_.get());
  }
  Buffers buffers() const { return {in_.data(), out_.data(), workspace_.data()}; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  cuda::DeviceBuffer in_;
  cuda::DeviceBuffer out_;
  cuda::DeviceBuffer workspace_;
  cuda::Stream stream_;
};

constexpr int kUnwatchedRuns = 3;  // find the clocks low and the code cold

}  // namespace

std::vector<RoleCycles> watch(const BoundScan& scan, const Problem& problem) {
  const Bed bed(scan, problem);
  for (int run = 0; run < kUnwatchedRuns; ++run) scan.cuda_watch(bed.buffers(), bed.stream());
  return scan.cuda_watch(bed.buffers(), bed.stream());
}

TileTimes timeline(const BoundScan& scan, const Problem& problem) {
  constexpr int kRuns = 9;
  const Bed bed(scan, problem);
  const cuda::L2Flush l2_flush;
  const cuda::DeviceBuffer ns(cuda::kMaxWatchedTiles * cuda::kPoints * sizeof(std::uint64_t));
  std::vector<std::vector<double>> seen[cuda::kPoints];  // by tile in the order of their times, by run
  for (int run = -kUnwatchedRuns; run < kRuns; ++run) {
    l2_flush.enqueue(bed.stream());
    const int tiles = scan.cuda_timeline(bed.buffers(), ns.as<std::uint64_t>(), bed.stream());
    std::vector<std::uint64_t> times(static_cast<std::size_t>(tiles) * cuda::kPoints);
    const std::size_t bytes = times.size() * sizeof(std::uint64_t);
    cuda::check(cudaMemcpyAsync(times.data(), ns.data(), bytes, cudaMemcpyDeviceToHost, bed.stream()), "reading times");
    cuda::check(cudaStreamSynchronize(bed.stream()), "watching a run");
    if (tiles == 0) return {};
    if (run < 0) continue;
    const std::uint64_t begin = *std::ranges::min_element(times);
    for (std::size_t point = 0; point < cuda::kPoints; ++point) {
      std::vector<double> came;
      for (std::size_t i = point; i < times.size(); i += cuda::kPoints)
        came.push_back(static_cast<double>(times[i] - begin));
      std::ranges::sort(came);
      seen[point].resize(came.size());
      for (std::size_t i = 0; i < came.size(); ++i) seen[point][i].push_back(came[i]);
    }
  }
  TileTimes points;
  for (std::size_t point = 0; point < cuda::kPoints; ++point) {
    auto& [name, tiles] = points.emplace_back(cuda::kPointNames[point], std::vector<double>{});
    for (const std::vector<double>& runs : seen[point]) tiles.push_back(median(runs));
  }
  return points;
}
#else
std::vector<RoleCycles> watch(const BoundScan&, const Problem&) { return {}; }
TileTimes timeline(const BoundScan&, const Problem&) { return {}; }
#endif

void print(const std::string& title, const std::vector<RoleCycles>& roles, std::ostream& out) {
  fmt::print(out, "{}\n", title);
  for (const RoleCycles& role : roles) {
    fmt::print(out, "  {:<12}", role.role);
    double rest = role.total;  // work, and the waits for a ticket and for the kernel before, which are counted with it
    for (const auto& [what, cycles] : role.waiting) {
      fmt::print(out, "waits for {} {:>5.1f} %   ", what, 100 * cycles / role.total);
      rest -= cycles;
    }
    fmt::print(out, "rest {:>5.1f} %\n", 100 * rest / role.total);
  }
}

void print(const std::string& title, const TileTimes& points, std::ostream& out) {
  const std::size_t tiles = points.front().second.size();
  fmt::print(out, "{}, {} tiles, in us\n", title, tiles);
  for (const auto& [point, ns] : points) {
    fmt::print(out, "  {:<7} first {:>7.2f}   half {:>7.2f}   all {:>7.2f}\n", point, ns.front() / 1e3,
               ns[tiles / 2] / 1e3, ns.back() / 1e3);
  }
}

RunColumns run_columns(const Case& chosen) {
  const auto& [variant, problem] = chosen;
  std::string settings;
  for (const auto& [key, value] : problem.settings) settings += (settings.empty() ? "" : " ") + key + "=" + value;
  return {{"variant", variant->about.id},
          {"settings", settings},
          {"items", std::to_string(problem.items)},
          {"type", std::string(name(problem.type))}};
}

namespace {

/// The beginning of the head of a table, and of its rows.
std::string names(const RunColumns& columns) { return fmt::format("{},", fmt::join(columns | std::views::keys, ",")); }
std::string values(const RunColumns& columns) {
  return fmt::format("{},", fmt::join(columns | std::views::values, ","));
}

}  // namespace

std::string csv_head(const RunColumns& columns, const std::vector<RoleCycles>& roles) {
  std::string head = names(columns) + "role,cycles_total";
  for (const auto& [what, cycles] : roles.front().waiting) head += ",cycles_waiting_" + what;
  return head + "\n";
}

std::string csv_rows(const RunColumns& columns, const std::vector<RoleCycles>& roles) {
  std::string rows;
  for (const RoleCycles& role : roles) {
    rows += values(columns) + fmt::format("{},{}", role.role, role.total);
    for (const auto& [what, cycles] : role.waiting) rows += fmt::format(",{}", cycles);
    rows += '\n';
  }
  return rows;
}

std::string csv_head(const RunColumns& columns, const TileTimes& points) {
  std::string head = names(columns) + "tile";
  for (const auto& [point, ns] : points) head += "," + point + "_ns";
  return head + "\n";
}

std::string csv_rows(const RunColumns& columns, const TileTimes& points) {
  std::string rows;
  for (std::size_t tile = 0; tile < points.front().second.size(); ++tile) {
    rows += values(columns) + std::to_string(tile);
    for (const auto& [point, ns] : points) rows += fmt::format(",{}", ns[tile]);
    rows += '\n';
  }
  return rows;
}

}  // namespace scanlab::simt
