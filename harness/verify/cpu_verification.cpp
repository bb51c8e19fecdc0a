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
  void poison() { fill(data(), bytes_, kPoison); }

  /// Empty, or a sentence.
  std::string damage() const {
    if (!intact(data() - kGuardBytes)) return fmt::format("wrote before the beginning of the {}", name(role_));
    if (!intact(data() + bytes_)) return fmt::format("wrote past the end of the {}", name(role_));
    return {};
  }

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
  bool intact(const unsigned char* guard) const {
    for (std::size_t i = 0; i < kGuardBytes; ++i) {
      if (guard[i] != pattern_byte(canary(role_), i)) return false;
    }
    return true;
  }

  Guarded role_;
  std::size_t bytes_;
  std::size_t shift_;
  std::unique_ptr<unsigned char, Free> memory_;
};

template <class Op>
void fill_input(const Oracle& oracle, void* to) {
  const std::int64_t n = oracle.problem().items;
  auto* items = static_cast<typename Op::Item*>(to);
  parallel_ranges(n, kMinItemsPerThread, [&](std::int64_t from, std::int64_t until) {
    for (std::int64_t i = from; i < until; ++i) items[i] = input_item<Op>(oracle.kind(), oracle.seed(), i, n);
  });
}

Outcome failed(std::string reason) { return {.status = Outcome::Status::failed, .message = std::move(reason)}; }
Outcome skipped(std::string reason) { return {.status = Outcome::Status::skipped, .message = std::move(reason)}; }

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

std::string first_damage(std::initializer_list<const GuardedBuffer*> buffers) {
  for (const GuardedBuffer* buffer : buffers) {
    if (std::string damage = buffer->damage(); !damage.empty()) return damage;
  }
  return {};
}

/// Two runs with one shift.
class PlacedRuns {
 public:
  PlacedRuns(const Variant& variant, const BoundScan& scan, const Oracle& oracle, Aliasing aliasing, const Shift& shift,
             const simt::EmulatorOptions& options)
      : variant_(variant), scan_(scan), oracle_(oracle), aliasing_(aliasing), shift_(shift), emulator_(options) {
    with_monoid(oracle.problem().type, oracle.problem().op, [&]<class Op>(Op) { fill_input<Op>(oracle, in_.data()); });
    workspace_.poison();
  }

  Outcome check() {
    Outcome first = check_run(false);
    if (!first.passed()) return first;
    Outcome second = check_run(true);
    second.error_to_bound = std::max(first.error_to_bound, second.error_to_bound);
    return second;
  }

 private:
  Outcome check_run(bool second) {
    const bool in_place = aliasing_ == Aliasing::in_place;
    if (in_place) {
      std::memcpy(out_.data(), in_.data(), bytes_);
    } else {
      out_.poison();
    }
    Outcome outcome;
    const unsigned char* const from = in_place ? out_.data() : in_.data();
    if (std::string fault = run(scan_, {from, out_.data(), workspace_.data()}, !second, emulator_); !fault.empty()) {
      outcome = failed(std::move(fault));
    } else if (std::string damage = first_damage({&out_, &workspace_, &in_}); !damage.empty()) {
      outcome = failed(std::move(damage));
    } else if (!oracle_.compare(in_.data(), 0, Kind::copy).passed()) {  // what a copy of it would have to be
      outcome = failed("wrote to its input");
    } else {
      outcome = oracle_.compare(out_.data(), scan_.plan.chain, variant_.about.kind);
    }
    if (!outcome.passed()) outcome.message = run_name(aliasing_, shift_, second) + outcome.message;
    return outcome;
  }

  /// Bytes of so many items.
  std::size_t before(std::int64_t items) const {
    return static_cast<std::size_t>(items) * item_bytes(oracle_.problem().type, oracle_.problem().op);
  }

  const Variant& variant_;
  const BoundScan& scan_;
  const Oracle& oracle_;
  Aliasing aliasing_;
  Shift shift_;
  simt::Emulator emulator_;
  std::size_t bytes_ = oracle_.problem().ideal_bytes() / 2;
  GuardedBuffer in_{Guarded::input, bytes_, before(shift_.in)};
  GuardedBuffer out_{Guarded::output, bytes_, before(shift_.out)};
  GuardedBuffer workspace_{Guarded::workspace, scan_.plan.workspace_bytes};
};

}  // namespace

std::string unplaceable(const Variant& variant, Aliasing aliasing) {
  const bool can = aliasing != Aliasing::in_place || variant.about.in_place;
  return can ? std::string{} : variant.about.id + " does not work in place";
}

Outcome verify_on_cpu(const Variant& variant, const Problem& problem, const Oracle& oracle,
                      const simt::EmulatorOptions& options, Aliasing aliasing) {
  if (std::string reason = unplaceable(variant, aliasing); !reason.empty()) return skipped(std::move(reason));
  const BoundScan scan = variant.bind(problem);
  if (!scan.plan.possible()) return skipped(scan.plan.refusal);
  if (!scan.simt && !scan.host) return skipped(fmt::format("{} has no form for the CPU", variant.about.id));

  Outcome worst;
  for (const Shift& shift : shifts(aliasing)) {
    Outcome outcome = PlacedRuns(variant, scan, oracle, aliasing, shift, options).check();
    if (!outcome.passed()) return outcome;
    worst.error_to_bound = std::max(worst.error_to_bound, outcome.error_to_bound);
  }
  return worst;
}

}  // namespace scanlab::verify
