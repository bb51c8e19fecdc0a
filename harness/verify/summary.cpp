#include "harness/verify/summary.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::verify {

void Summary::add(const Check& check) {
  const Problem& problem = check.tested_case.problem;
  if (problem.type != group_.type || problem.op != group_.op || problem.mode != group_.mode) print_group();
  group_ = problem;
  const auto before = std::ranges::find(standings_, check.tested_case.variant, &Standing::variant);
  Standing& standing =
      before != standings_.end() ? *before : standings_.emplace_back(Standing{.variant = check.tested_case.variant});
  const Outcome& outcome = check.outcome;
  if (outcome.status == Outcome::Status::skipped) {
    ++skipped_;
    out_of_memory_ |= outcome.out_of_memory;
    standing.skips[outcome.message].push_back(problem.axis());
    return;
  }
  standing.worst = std::max(standing.worst, outcome.error_to_bound);
  if (check.runs > 0) {
    ++standing.repeated;
    if (check.different > 1 && outcome.passed()) {
      standing.varying.push_back(fmt::format("{} different outputs in {} runs (n = {}, {} input)", check.different,
                                             check.runs, problem.axis(), name(*check.input)));
    }
  }
  if (outcome.passed()) {
    ++passed_;
    ++standing.passed;
    return;
  }
  ++failed_;
  standing.failures.push_back(fmt::format("n = {}, {} input: {}\n           again: {}", problem.axis(),
                                          name(*check.input), outcome.message, again(check)));
}

void Summary::add_lost_device(const DeviceLost& lost) {
  print_group();
  fmt::print(out_, "FAILED: the GPU stopped answering in {}; the checks that remain were not made\n", lost.what());
  ++failed_;
}

int Summary::conclude(const std::vector<const Variant*>& asked, const std::string& file) {
  print_group();
  const bool stopped = interrupted();
  fmt::print(out_, "{} passed, {} failed, {} skipped{}{}\n", passed_, failed_, skipped_,
             file.empty() ? "" : "; every check is in " + file, stopped ? "; interrupted before the end" : "");
  if (stopped) return kInterrupted;
  if (failed_ > 0) return kFailed;
  const auto takes = [&](const Variant* variant) { return checked_.checker.takes(*variant); };
  if (passed_ == 0 && !std::ranges::all_of(asked, takes)) {
    throw CommandError(kNoDevice, fmt::format("nothing was checked: what was asked for has no form for {}",
                                              checked_.checker.on_gpu() ? "the GPU" : "the SIMT emulator"));
  }
  if (out_of_memory_) return kOutOfMemory;
  if (passed_ == 0) {
    throw CommandError(kBadInput, fmt::format("nothing was checked: {}", kAllSkipped));
  }
  return kOk;
}

nlohmann::ordered_json Summary::counts() const {
  return {{"passed", passed_}, {"failed", failed_}, {"skipped", skipped_}, {"interrupted", interrupted()}};
}

/// The words that make this one check once more.
std::string Summary::again(const Check& check) const {
  const Problem& problem = check.tested_case.problem;
  std::string words =
      fmt::format("scanlab verify --device {} --variant {} --type {} --op {} --mode {} --items {} --input {} --seed {}",
                  checked_.backend(), check.tested_case.variant->about.id, name(problem.type), name(problem.op),
                  name(problem.mode), problem.axis(), name(*check.input), checked_.request.seed);
  if (check.aliasing != Aliasing::apart) words += fmt::format(" --aliasing {}", name(*check.aliasing));
  if (problem.rows != 1) words += fmt::format(" --rows {}", problem.rows);
  if (problem.inner != 1) words += fmt::format(" --inner {}", problem.inner);
  if (const Segments& cut = problem.segments; have_flags(cut.by)) {
    words += fmt::format(" --kept {}", cut.kept);
  } else if (cut.by != SegmentsBy::none) {
    words += fmt::format(" --segment {} --lengths {} --width {}", cut.mean, name(cut.lengths), cut.width);
  }
  for (const auto& [parameter, value] : problem.settings) words += fmt::format(" --set {}={}", parameter, value);
  return words + checked_.flags;
}

void Summary::print_group() {
  for (const Standing& each : standings_) print(each);
  standings_.clear();
  out_.flush();
}

void Summary::print(const Standing& each) const {
  std::string line = fmt::format("{:<20} {:<3} {:<6} {:<9}  {:>3} passed", each.variant->about.id, name(group_.type),
                                 name(group_.op), name(group_.mode), each.passed);
  if (!each.failures.empty()) line += fmt::format("  {} FAILED", each.failures.size());
  if (rounds(group_) && each.passed + each.failures.size() > 0)
    line += fmt::format("  worst error/bound {:.3f}", each.worst);
  if (each.repeated > 0 && each.varying.empty()) {
    line += fmt::format("  same bits in {} runs of each of {}", checked_.request.repeat, each.repeated);
  }
  fmt::print(out_, "{}\n", line);
  if (!each.varying.empty()) {
    fmt::print(out_, "    bits vary in {} of {}: {}\n", each.varying.size(), each.repeated, each.varying.front());
  }
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, each.failures.size()); ++i) {
    fmt::print(out_, "    FAILED {}\n", each.failures[i]);
  }
  if (each.failures.size() > kShown) fmt::print(out_, "    and {} more failures\n", each.failures.size() - kShown);
  for (const auto& [reason, sizes] : each.skips) {
    fmt::print(out_, "    skipped {}: {} (n = {})\n", sizes.size(), reason, fmt::join(sizes, ", "));
  }
}

}  // namespace scanlab::verify
