#include "harness/simt/role_cycles.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/stream.hpp"
#endif

namespace scanlab::simt {

#ifdef SCANLAB_WITH_CUDA
// The items are zeros: where time goes does not depend on values. The first run finds the clocks low and the code cold.
std::vector<RoleCycles> watch(const BoundScan& scan, const Problem& problem) {
  const std::size_t bytes = problem.array_bytes();
  const cuda::DeviceBuffer in(bytes);
  const cuda::DeviceBuffer out(bytes);
  const cuda::DeviceBuffer workspace(scan.plan.workspace_bytes);
  const cuda::Stream stream;
  cuda::check(cudaMemsetAsync(in.data(), 0, bytes, stream.get()), "clearing the input");
  if (scan.prepare_cuda) scan.prepare_cuda(workspace.data(), stream.get());
  const Buffers buffers{in.data(), out.data(), workspace.data()};
  for (int run = 0; run < 3; ++run) scan.cuda_watch(buffers, stream.get());
  return scan.cuda_watch(buffers, stream.get());
}
#else
std::vector<RoleCycles> watch(const BoundScan&, const Problem&) { return {}; }
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

RunColumns run_columns(const Case& chosen) {
  return {{"variant", chosen.variant->about.id},
          {"tile", setting(chosen.variant->about, chosen.problem.settings, "tile")},
          {"items", std::to_string(chosen.problem.items)},
          {"type", std::string(name(chosen.problem.type))}};
}

std::string csv_head(const RunColumns& columns, const std::vector<RoleCycles>& roles) {
  std::string head;
  for (const auto& [column, value] : columns) head += column + ",";
  head += "role,cycles_total";
  for (const auto& [what, cycles] : roles.front().waiting) head += ",cycles_waiting_" + what;
  return head + "\n";
}

std::string csv_rows(const RunColumns& columns, const std::vector<RoleCycles>& roles) {
  std::string rows;
  for (const RoleCycles& role : roles) {
    for (const auto& [column, value] : columns) rows += value + ",";
    rows += fmt::format("{},{}", role.role, role.total);
    for (const auto& [what, cycles] : role.waiting) rows += fmt::format(",{}", cycles);
    rows += '\n';
  }
  return rows;
}

}  // namespace scanlab::simt
