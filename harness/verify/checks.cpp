#include "harness/verify/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>

#include "harness/core/operators.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::verify {

using Json = nlohmann::ordered_json;

namespace {

class CpuChecker final : public Checker {
 public:
  explicit CpuChecker(const simt::EmulatorOptions& options) : options_(options) {}
  bool on_gpu() const override { return false; }
  bool takes(const Variant& variant) const override { return variant.backends.simt || variant.backends.host; }
  void expect(const Oracle& oracle) override { oracle_ = &oracle; }
  Outcome check(const Variant& variant, const Problem& problem, Aliasing aliasing) override {
    simt::EmulatorOptions options = options_;
    // Small tiles are there to be many: they are taken in the order that is worst for those that wait for others.
    const bool small = !problem.settings.empty() && problem.settings == small_settings(variant.about);
    if (small && options.order == simt::BlockOrder::in_order) options.order = simt::BlockOrder::reversed;
    return verify_on_cpu(variant, problem, *oracle_, options, aliasing);
  }
  Outcome repeat(const Variant&, const Problem&, int, int&) override {
    return Outcome::skipped("bits vary on a GPU only");
  }

 private:
  simt::EmulatorOptions options_;
  const Oracle* oracle_ = nullptr;
};

// Sizes where scans break: nothing, one item, around a warp, around the tiles of 1024 and 2048 items that blocks take.
constexpr std::int64_t kSmallItems = 33;
constexpr std::array<std::int64_t, 7> kSmallSizes{0, 1, 2, 31, 32, 33, 100};
constexpr std::array<std::int64_t, 6> kTileSizes{1023, 1024, 1025, 2047, 2048, 2049};
// Past the second level of recursion: all of them and all variants would take the emulator minutes.
constexpr std::int64_t kPastTwoLevels = 1024 * 1024 + 1;
constexpr std::array<std::int64_t, 4> kLevelSizes{1'000'000, kPastTwoLevels, 2048 * 2048, 2048 * 2048 + 1};

/// This size gives more than 64 tiles of 2 or 3.5 KiB, so that look-back spans two windows, and several tiles of 16 KiB
/// to each of two blocks.
constexpr std::int64_t kSmallBytes = 240'000;

bool same_group(const Problem& a, const Problem& b) { return a.type == b.type && a.op == b.op && a.mode == b.mode; }

std::vector<InputKind> kinds_for(const Checker& checker, const CheckRequest& request, const Problem& problem) {
  std::vector<InputKind> kinds = request.kinds;
  if (kinds.empty()) {
    if (request.quick || problem.items == 0) {
      kinds = {InputKind::random};
    } else if (checker.on_gpu() || problem.items <= kSmallItems) {
      kinds.assign(kInputKinds.begin(), kInputKinds.end());
    } else {
      kinds = {InputKind::random, InputKind::exact};
    }
  }
  return distinct_inputs(std::move(kinds), problem);
}

/// The checks of one problem, whose oracle is made once for each input.
class ProblemChecks {
 public:
  ProblemChecks(Checker& checker, const CheckRequest& request, const std::function<void(const Check&)>& report)
      : checker_(checker), request_(request), report_(report) {}

  void check(std::span<const Case> cases) {
    std::vector<const Case*> possible;
    for (const Case& each : cases) {
      if (std::string reason = refusal(each); !reason.empty()) {
        report_({.tested_case = each, .outcome = Outcome::skipped(std::move(reason))});
      } else {
        possible.push_back(&each);
      }
    }
    if (possible.empty()) return;
    const Problem& problem = cases.front().problem;
    try {
      for (const InputKind kind : kinds_for(checker_, request_, problem)) {
        if (interrupted()) return;
        const Oracle oracle(problem, kind, request_.seed);
        checker_.expect(oracle);
        for (const Case* each : possible) {
          if (interrupted()) return;
          check(*each, kind);
        }
      }
    } catch (const std::bad_alloc&) {
      Outcome lack = Outcome::skipped(
          fmt::format("host memory does not hold {} items and what they are compared with", problem.items));
      lack.out_of_memory = true;
      for (const Case* each : possible) report_({.tested_case = *each, .outcome = lack});
    }
  }

 private:
  /// Why no input need be tried; empty if the case can be checked.
  std::string refusal(const Case& each) const {
    if (checker_.takes(*each.variant)) return each.variant->bind(each.problem).plan.refusal;
    return fmt::format("{} has no form for {}", each.variant->about.id,
                       checker_.on_gpu() ? "the GPU" : "the SIMT emulator");
  }

  std::vector<Aliasing> aliasings_for(const Case& each, InputKind kind) const {
    if (!request_.aliasings.empty()) return request_.aliasings;
    const std::int64_t n = each.problem.items;
    const bool few = checker_.on_gpu() || n <= kSmallSizes.back() || n == kTileSizes.back();  // the emulator is slow
    if (kind != InputKind::random || !few) return {Aliasing::apart};
    std::vector<Aliasing> all(kAliasings.begin(), kAliasings.end());
    std::erase_if(all, [&](Aliasing aliasing) { return !aliasing_refusal(*each.variant, aliasing).empty(); });
    return all;
  }

  void check(const Case& each, InputKind kind) {
    for (const Aliasing aliasing : aliasings_for(each, kind)) {
      report_({each, kind, aliasing, 0, 0, checker_.check(*each.variant, each.problem, aliasing)});
    }
    if (request_.repeat == 0 || !rounds(each.problem)) return;
    Check repeated{each, kind, Aliasing::apart, request_.repeat, 0, {}};
    repeated.outcome = checker_.repeat(*each.variant, each.problem, request_.repeat, repeated.different);
    report_(repeated);
  }

  Checker& checker_;
  const CheckRequest& request_;
  const std::function<void(const Check&)>& report_;
};

std::string text(const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// The bound of an output's error as a part of the sum of its inputs' magnitudes; none where comparison is exact.
std::optional<double> error_bound(const Check& check) {
  const Problem& problem = check.tested_case.problem;
  const Plan plan = check.tested_case.variant->bind(problem).plan;
  if (!rounds(problem) || !plan.possible()) return std::nullopt;
  return with_monoid(problem.type, problem.op, [&]<class Op>(Op) -> std::optional<double> {
    if (check.input && is_exact<Op>(*check.input)) return std::nullopt;
    return gamma_of<Op>(plan.chain, InputKind::random);
  });
}

}  // namespace

std::unique_ptr<Checker> cpu_checker(const simt::EmulatorOptions& options) {
  return std::make_unique<CpuChecker>(options);
}

std::vector<std::int64_t> default_items(bool on_gpu, bool quick, std::uint64_t seed) {
  std::vector<std::int64_t> items(kSmallSizes.begin(), kSmallSizes.end());
  const auto random_below = [&](std::int64_t limit, std::int64_t which) {
    return static_cast<std::int64_t>(random_bits(seed, Draw::place, -which) % static_cast<std::uint64_t>(limit));
  };
  if (quick) {
    items.insert(items.end(), {1025, 2049});
  } else {
    items.insert(items.end(), kTileSizes.begin(), kTileSizes.end());
    items.insert(items.end(), {random_below(1024, 1), 16384 + random_below(16384, 2)});
  }
  if (on_gpu && !quick) {
    items.insert(items.end(), kLevelSizes.begin(), kLevelSizes.end());
    items.insert(items.end(), {random_below(100'000, 3), random_below(10'000'000, 4)});
  }
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

std::vector<Case> with_small(const std::vector<Case>& cases) {
  std::vector<Case> all;
  for (auto begin = cases.begin(); begin != cases.end();) {
    const auto end =
        std::find_if(begin, cases.end(), [&](const Case& each) { return !same_group(each.problem, begin->problem); });
    all.insert(all.end(), begin, end);
    for (auto each = begin; each != end && each->problem.items == begin->problem.items; ++each) {
      Problem small = each->problem;
      small.items = kSmallBytes / static_cast<std::int64_t>(item_bytes(small.type, small.op));
      small.settings = small_settings(each->variant->about);
      if (!small.settings.empty()) all.push_back({each->variant, small});
    }
    begin = end;
  }
  return all;
}

std::vector<Case> past_two_levels(const std::vector<Case>& cases) {
  std::vector<Case> all;
  for (Case each : cases) {
    if (std::ranges::find(all, each.variant, &Case::variant) != all.end()) continue;
    each.problem.items = kPastTwoLevels;
    each.problem.rows = each.problem.inner = 1;
    all.push_back(std::move(each));
  }
  return all;
}

void check_all(Checker& checker, const std::vector<Case>& cases, const CheckRequest& request,
               const std::function<void(const Check&)>& report) {
  ProblemChecks checks(checker, request, report);
  for (auto begin = cases.begin(); begin != cases.end() && !interrupted();) {
    const auto end =
        std::find_if(begin, cases.end(), [&](const Case& each) { return bare(each.problem) != bare(begin->problem); });
    checks.check({begin, end});
    begin = end;
  }
}

Json to_json(const Description& about, const Problem& problem, std::optional<InputKind> input,
             std::optional<Aliasing> aliasing, const Outcome& outcome) {
  constexpr std::array kOutcomes{"passed", "failed", "skipped"};
  Json line{{"check", "verify"},
            {"variant", about.id},
            {"type", name(problem.type)},
            {"op", name(problem.op)},
            {"mode", name(problem.mode)},
            {"items", problem.axis()},
            {"rows", problem.rows},
            {"inner", problem.inner},
            {"settings", Json(problem.settings)},
            {"input", input ? Json(name(*input)) : Json()},
            {"aliasing", aliasing ? Json(name(*aliasing)) : Json()},
            {"outcome", kOutcomes[static_cast<std::size_t>(outcome.status)]},
            {"reason", outcome.message}};
  add_segments(problem, line);
  if (outcome.status == Outcome::Status::skipped) line["out_of_memory"] = outcome.out_of_memory;
  return line;
}

Json to_json(const Check& check) {
  const auto& [variant, problem] = check.tested_case;
  const Outcome& outcome = check.outcome;
  Json line = to_json(variant->about, problem, check.input, check.aliasing, outcome);
  if (check.runs > 0) line["check"] = "repeat";
  if (outcome.status == Outcome::Status::skipped) return line;
  if (check.runs > 0) {
    line["runs"] = check.runs;
    line["different_outputs"] = check.different;
  } else if (const auto bound = error_bound(check)) {
    line["error_bound"] = *bound;
    line["error_to_bound"] = outcome.error_to_bound;  // null if infinite
  }
  return line;
}

ChecksFile::ChecksFile(const std::string& path, bool replace, const Json& context)
    : AppendFile(path, replace, "", std::chrono::seconds(1)) {
  begin(text({{"schema", "scanlab-verification/1"}, {"context", context}}));
}

void ChecksFile::add(const Json& line) { append(text(line)); }

}  // namespace scanlab::verify
