#include "harness/cli/explain_cuda.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <map>
#include <optional>

#include "harness/host/whole_file.hpp"
#include "harness/measure/provenance.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/stream.hpp"
#endif

namespace scanlab::cli {

namespace {

#ifdef SCANLAB_WITH_CUDA
/// Of zeros: where time goes does not depend on values. The first run finds the clocks low and the code cold.
std::vector<RoleCycles> watch(const BoundScan& scan, const Problem& problem) {
  const std::size_t bytes = problem.ideal_bytes() / 2;
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

std::string tile(const Case& chosen) {
  for (const Parameter& parameter : chosen.variant->about.parameters) {
    if (parameter.name == "tile") return setting(chosen.variant->about, chosen.problem.settings, "tile");
  }
  return "";
}

void print(const Case& chosen, const std::vector<RoleCycles>& roles, std::ostream& out) {
  fmt::print(out, "{}\n", case_name(chosen.variant->about, chosen.problem));
  for (const RoleCycles& role : roles) {
    fmt::print(out, "  {:<12}", role.role);
    double rest = role.total;  // work, and the waits for a ticket and for the kernel before, which are not told from it
    for (const auto& [what, cycles] : role.waiting) {
      fmt::print(out, "waits for {} {:>5.1f} %   ", what, 100 * cycles / role.total);
      rest -= cycles;
    }
    fmt::print(out, "rest {:>5.1f} %\n", 100 * rest / role.total);
  }
}

}  // namespace

int explain_on_cuda(const std::vector<Case>& cases, const std::string& csv, Context& context) {
  std::string why_not;
  const std::optional<measure::Facts> device = measure::device_facts(why_not);
  if (!device) throw CommandError(kNoDevice, fmt::format("explain --device cuda needs a GPU: {}", why_not));
  std::optional<WholeFile> file;
  if (!csv.empty()) file.emplace(csv, true);
  std::string rows;
  for (const Case& chosen : cases) {
    const BoundScan scan = chosen.variant->bind(chosen.problem);
    if (!scan.cuda_watch || chosen.problem.items == 0) {
      fmt::print(context.err, "skipped: {}: {}\n", case_name(chosen.variant->about, chosen.problem),
                 scan.plan.possible() ? "it has no form that watches its warps" : scan.plan.refusal);
      continue;
    }
    const std::vector<RoleCycles> roles = watch(scan, chosen.problem);
    print(chosen, roles, context.out);
    if (rows.empty()) {
      rows = "variant,tile,items,type,role,cycles_total";
      for (const auto& [what, cycles] : roles.front().waiting) rows += ",cycles_waiting_" + what;
      rows += "\n";
    }
    for (const RoleCycles& role : roles) {
      rows += fmt::format("{},{},{},{},{},{}", chosen.variant->about.id, tile(chosen), chosen.problem.items,
                          name(chosen.problem.type), role.role, role.total);
      for (const auto& [what, cycles] : role.waiting) rows += fmt::format(",{}", cycles);
      rows += "\n";
    }
  }
  if (rows.empty()) {
    throw CommandError(kBadInput,
                       "none of the chosen cases can be explained on a GPU; look_ahead can, for i32 and f32 sums");
  }
  if (file) file->write(rows);
  return kOk;
}

}  // namespace scanlab::cli
