#include "harness/simt/printed_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "harness/host/host_array.hpp"
#include "harness/host/status.hpp"
#include "harness/simt/explanation.hpp"

namespace scanlab::simt {

namespace {

/// More than a scan passes that doubles its stride and halves it again: a loop that passes more is stuck, and the table
/// of its steps is short.
std::int64_t most_barriers(std::int64_t items) { return 2 * std::bit_width(static_cast<std::uint64_t>(items)) + 4; }

std::optional<PrintedRun::WrongItem> first_wrong(std::span<const float> out, std::span<const float> in) {
  float right = 0;
  for (std::size_t i = 0; i < out.size(); right += in[i++]) {
    if (out[i] == right) continue;
    const std::optional<float> value = std::isnan(out[i]) ? std::nullopt : std::optional(out[i]);
    return PrintedRun::WrongItem{static_cast<std::int64_t>(i), value, right};
  }
  return {};
}

}  // namespace

bool PrintedRun::matches_description() const {
  if (!kernel->about.fault) return report.faults.empty() && !first_wrong;
  return std::ranges::any_of(report.faults, [&](const Fault& fault) { return fault.kind == kernel->about.fault; });
}

PrintedRun run_printed(const PrintedKernel& kernel, std::int64_t items) {
  if (const std::string reason = kernel.refusal(items); !reason.empty()) throw CommandError(kBadInput, reason);
  const auto count = static_cast<std::size_t>(items);
  const HostArray in_pages = pageable_memory(count * sizeof(float));  // whole pages, or sector counts would be off
  const HostArray out_pages = pageable_memory(count * sizeof(float));
  const std::span in(reinterpret_cast<float*>(in_pages.get()), count);
  const std::span out(reinterpret_cast<float*>(out_pages.get()), count);
  std::iota(in.begin(), in.end(), 1.0F);
  std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
  Emulator emulator({.order = BlockOrder::interleaved, .max_barriers = most_barriers(items)});
  try {
    kernel.run(emulator, Span<float>(out.data(), items, "g_odata"), Span<const float>(in.data(), items, "g_idata"),
               static_cast<int>(items));
  } catch (const LaunchFailure&) {
  }
  return {&kernel, items, emulator.report(), first_wrong(out, in)};
}

void print(const PrintedRun& run, std::ostream& out) {
  const PrintedKernel::About& about = run.kernel->about;
  fmt::print(out, "{}: {}\nas printed in {}\nexclusive sum of {} floats: 1, 2, 3, …\n", about.id, about.title,
             about.source, run.items);
  print_launches(run.report, out);
  fmt::print(out, "\n");
  if (!run.first_wrong) {
    fmt::print(out, "  first wrong     none: every item is right in this order of threads\n");
  } else {
    const auto& [index, value, right] = *run.first_wrong;
    fmt::print(out, "  first wrong     item {}: {}, and {} is right\n", index,
               value ? fmt::format("{}", *value) : "nothing was written", right);
  }
  print_faults(run.report, out);
  fmt::print(out, "  as printed      {}\n", about.remark);
  if (run.matches_description()) return;
  if (about.fault) {
    fmt::print(out, "  not found       no {}, which is said of the printed code: this kernel is another, or mended\n",
               name(*about.fault));
  } else {
    fmt::print(out, "  not as said     the printed code is said to be right\n");
  }
}

void print_printed_kernels(std::ostream& out) {
  for (const auto& [id, kernel] : PrintedKernelRegistry::instance().all()) {
    fmt::print(out, "{:<24}{} ({})\n", id, kernel.about.title,
               kernel.about.fault ? fmt::format("fault: {}", name(*kernel.about.fault)) : "right");
  }
}

}  // namespace scanlab::simt
