#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "harness/core/operators.hpp"
#include "harness/host/parallel.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/guard.hpp"

namespace scanlab::verify {

namespace {

/// Host memory with a canary right before and after it, aligned as cudaMalloc aligns (the emulator's sector counts
/// depend on it) but for a shift.
class GuardedBuffer {
 public:
  GuardedBuffer(Guarded role, std::size_t bytes, std::size_t shift_bytes = 0)
      : role_(role),
        bytes_(bytes),
        shift_(shift_bytes),
        memory_(static_cast<unsigned char*>(::operator new(bytes + shift_bytes + 2 * kGuardBytes, kAlignment))) {
    fill(data() - kGuardBytes, kGuardBytes, canary(role));
    fill(data() + bytes, kGuardBytes, canary(role));
  }

  unsigned char* data() const { return memory_.get() + kGuardBytes + shift_; }
  void poison() const { fill(data(), bytes_, kPoison); }

  /// Empty, or a sentence.
  std::string damage() const { return verify::damage(role_, data() - kGuardBytes, data() + bytes_); }

 private:
  static constexpr std::align_val_t kAlignment{kGuardBytes};
  struct Free {
    void operator()(unsigned char* memory) const { ::operator delete(memory, kAlignment); }
  };

  static void fill(unsigned char* to, std::size_t bytes, std::uint32_t pattern) {
    const std::size_t words = bytes / sizeof pattern * sizeof pattern;
    for (std::size_t i = 0; i < words; i += sizeof pattern) std::memcpy(to + i, &pattern, sizeof pattern);
    for (std::size_t i = words; i < bytes; ++i) to[i] = pattern_byte(pattern, i);
  }

  Guarded role_;
  std::size_t bytes_;
  std::size_t shift_;
  std::unique_ptr<unsigned char, Free> memory_;
};

template <class Op>
void fill_input(const Oracle& oracle, void* to) {
  auto* items = static_cast<typename Op::Item*>(to);
  const JudgeByInput<Op> input{oracle.data().kind, oracle.data().seed, oracle.problem().items,
                               ScanOrder(oracle.problem())};
  parallel_ranges(input.items, kMinItemsPerThread, [&](std::int64_t from, std::int64_t until) {
    for (std::int64_t i = from; i < until; ++i) items[i] = input.expected(i);
  });
}

std::string describe(const std::vector<simt::Fault>& faults) {
  const simt::Fault& first = faults.front();
  std::string text =
      fmt::format("{} in {} at {}: {}", simt::name(first.kind), first.kernel, first.where, first.message);
  if (first.occurrences > 1) text += fmt::format(" ({} times)", first.occurrences);
  if (faults.size() > 1) text += fmt::format("; and {} more faults", faults.size() - 1);
  return text;
}

/// Prepares, if asked to, and runs. Empty if that ended without a fault.
std::string run(const BoundScan& scan, const Buffers& buffers, bool prepare, simt::Emulator& emulator) {
  std::string ended;
  try {
    if (prepare && scan.prepare_simt) scan.prepare_simt(buffers.workspace, emulator);
    scan.simt ? scan.simt(buffers, emulator) : scan.host(buffers);
  } catch (const simt::LaunchFailure& failure) {
    ended = failure.what();
  } catch (const std::exception& error) {
    ended = fmt::format("threw: {}", error.what());
  }
  return emulator.report().faults.empty() ? ended : describe(emulator.report().faults);
}

/// Two runs with one shift.
Outcome verify_shift(const Variant& variant, const BoundScan& scan, const Oracle& oracle, Aliasing aliasing,
                     const Shift& shift, const simt::EmulatorOptions& options) {
  const Problem& problem = oracle.problem();
  const std::size_t item = item_bytes(problem.type, problem.op);
  const std::size_t bytes = problem.array_bytes();
  const GuardedBuffer in(Guarded::input, bytes, static_cast<std::size_t>(shift.in) * item);
  const std::size_t result_bytes = static_cast<std::size_t>(problem.results()) * item;
  const GuardedBuffer out(Guarded::output, result_bytes, static_cast<std::size_t>(shift.out) * item);
  const GuardedBuffer workspace(Guarded::workspace, scan.plan.workspace_bytes);
  with_monoid(problem.type, problem.op, [&]<class Op>(Op) { fill_input<Op>(oracle, in.data()); });
  const GuardedBuffer entries(Guarded::input, problem.segments.array_bytes(problem.items));
  for (std::int64_t i = 0; i < problem.segments.entries(problem.items); ++i) {
    problem.segments.write_entry(entries.data(), i, problem.items);
  }
  workspace.poison();
  const bool in_place = aliasing == Aliasing::in_place;
  const GuardedBuffer count(Guarded::output, sizeof(std::uint64_t));
  const GuardedBuffer unique(Guarded::output, problem.unique_bytes());
  const Buffers buffers{in_place ? out.data() : in.data(),
                        out.data(),
                        workspace.data(),
                        entries.data(),
                        reinterpret_cast<std::uint64_t*>(count.data()),
                        unique.data()};
  simt::Emulator emulator(options);
  const auto fault = [&](bool second_run) -> std::string {
    if (std::string ended = run(scan, buffers, !second_run, emulator); !ended.empty()) return ended;
    for (const GuardedBuffer* buffer : {&out, &workspace, &in, &entries, &count, &unique}) {
      if (std::string damage = buffer->damage(); !damage.empty()) return damage;
    }
    return oracle.compare(in.data(), 0, Kind::copy).passed() ? "" : "wrote to its input";
  };
  Outcome worst;
  for (const bool second_run : {false, true}) {
    in_place ? static_cast<void>(std::memcpy(out.data(), in.data(), bytes)) : out.poison();
    count.poison();
    unique.poison();
    std::string reason = fault(second_run);
    const Counted counted{buffers.count, unique.data()};
    Outcome outcome = reason.empty() ? oracle.compare(out.data(), scan.plan.chain, variant.about.kind, counted)
                                     : Outcome::failed(std::move(reason));
    if (!outcome.passed()) {
      outcome.message = run_name(aliasing, shift, second_run) + outcome.message;
      return outcome;
    }
    worst.error_to_bound = std::max(worst.error_to_bound, outcome.error_to_bound);
  }
  return worst;
}

}  // namespace

std::span<const Shift> shifts(Aliasing aliasing) {
  static constexpr std::array kShifted{Shift{1, 3}, Shift{3, 1}, Shift{5, 5}, Shift{0, 1}, Shift{1, 0}};
  static constexpr std::array kInPlace{Shift{0, 0}, Shift{3, 3}};
  if (aliasing == Aliasing::shifted) return kShifted;
  return std::span(kInPlace).first(aliasing == Aliasing::in_place ? 2 : 1);
}

std::string run_name(Aliasing aliasing, const Shift& shift, bool second_run) {
  const std::string place = aliasing == Aliasing::apart ? ""
                            : aliasing == Aliasing::in_place
                                ? fmt::format("in place from element {}", shift.in)
                                : fmt::format("input from element {}, output from element {}", shift.in, shift.out);
  const char* const run = !second_run ? "" : place.empty() ? "on the second run" : "on the second run, ";
  return second_run || !place.empty() ? run + place + ": " : "";
}

std::string aliasing_refusal(const Variant& variant, Aliasing aliasing) {
  const bool can = aliasing != Aliasing::in_place || variant.about.in_place;
  return can ? std::string{} : variant.about.id + " does not work in place";
}

Outcome verify_on_cpu(const Variant& variant, const Problem& problem, const Oracle& oracle,
                      const simt::EmulatorOptions& options, Aliasing aliasing) {
  if (std::string reason = aliasing_refusal(variant, aliasing); !reason.empty())
    return Outcome::skipped(std::move(reason));
  const BoundScan scan = variant.bind(problem);
  if (!scan.plan.possible()) return Outcome::skipped(scan.plan.refusal);
  if (!scan.simt && !scan.host) return Outcome::skipped(fmt::format("{} has no form for the CPU", variant.about.id));

  Outcome worst;
  for (const Shift& shift : shifts(aliasing)) {
    Outcome outcome = verify_shift(variant, scan, oracle, aliasing, shift, options);
    if (!outcome.passed()) return outcome;
    worst.error_to_bound = std::max(worst.error_to_bound, outcome.error_to_bound);
  }
  return worst;
}

}  // namespace scanlab::verify
