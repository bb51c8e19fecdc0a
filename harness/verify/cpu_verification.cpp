#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "harness/verify/comparison.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/oracle_data.hpp"
#include "harness/verify/parallel.hpp"

namespace scanlab::verify {

namespace {

/// Host memory with a canary on both sides, aligned as cudaMalloc aligns: the executor's sector counts depend on it.
class GuardedBuffer {
 public:
  GuardedBuffer(Guarded role, std::size_t bytes)
      : role_(role),
        bytes_(bytes),
        memory_(static_cast<unsigned char*>(::operator new(bytes + 2 * kGuardBytes, kAlignment))) {
    fill(memory_.get(), kGuardBytes, canary(role));
    fill(data() + bytes, kGuardBytes, canary(role));
  }

  unsigned char* data() const { return memory_.get() + kGuardBytes; }
  void poison() { fill(data(), bytes_, kPoison); }

  /// Empty, or a sentence.
  std::string damage() const {
    if (!intact(memory_.get())) return fmt::format("wrote before the beginning of the {}", name(role_));
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
  std::unique_ptr<unsigned char, Free> memory_;
};

template <class Op>
void fill_input(const Oracle& oracle, void* to) {
  const std::int64_t n = oracle.problem().items;
  auto* items = static_cast<typename Op::Item*>(to);
  parallel_ranges(n, kItemsWorthAThread, [&](std::int64_t from, std::int64_t until) {
    for (std::int64_t i = from; i < until; ++i) items[i] = input_item<Op>(oracle.kind(), oracle.seed(), i, n);
  });
}

template <class F>
decltype(auto) with_monoid_of(const Oracle& oracle, F&& f) {
  return with_monoid(oracle.problem().type, oracle.problem().op, std::forward<F>(f));
}

Outcome failed(std::string why) { return {.status = Outcome::Status::failed, .message = std::move(why)}; }
Outcome skipped(std::string why) { return {.status = Outcome::Status::skipped, .message = std::move(why)}; }

std::string describe(const std::vector<simt::Fault>& faults) {
  const simt::Fault& first = faults.front();
  std::string text =
      fmt::format("{} in {} at {}: {}", simt::name(first.kind), first.kernel, first.where, first.message);
  if (first.occurrences > 1) text += fmt::format(" ({} times)", first.occurrences);
  if (faults.size() > 1) text += fmt::format("; and {} more faults", faults.size() - 1);
  return text;
}

/// Empty if the run ended without a fault.
std::string run_on_executor(const BoundScan& scan, const Buffers& buffers, const simt::ExecutorOptions& options) {
  simt::Executor executor(options);
  std::string ended;
  try {
    scan.simt(buffers, executor);
  } catch (const simt::LaunchFailure& failure) {
    ended = failure.what();
  }
  return executor.report().faults.empty() ? ended : describe(executor.report().faults);
}

std::string run(const BoundScan& scan, const Buffers& buffers, const simt::ExecutorOptions& options) {
  try {
    if (scan.simt) return run_on_executor(scan, buffers, options);
    scan.host(buffers);
    return {};
  } catch (const std::exception& error) {
    return fmt::format("threw: {}", error.what());
  }
}

std::string first_damage(std::initializer_list<const GuardedBuffer*> buffers) {
  for (const GuardedBuffer* buffer : buffers) {
    if (std::string damage = buffer->damage(); !damage.empty()) return damage;
  }
  return {};
}

}  // namespace

Outcome verify_on_cpu(const Variant& variant, const Problem& problem, const Oracle& oracle,
                      const simt::ExecutorOptions& options) {
  const BoundScan scan = variant.bind(problem);
  if (!scan.plan.possible()) return skipped(scan.plan.refusal);
  if (!scan.simt && !scan.host) return skipped(fmt::format("{} has no form for the CPU", variant.about.id));

  const std::size_t bytes = problem.ideal_bytes() / 2;
  GuardedBuffer in(Guarded::input, bytes);
  GuardedBuffer out(Guarded::output, bytes);
  GuardedBuffer workspace(Guarded::workspace, scan.plan.workspace_bytes);
  with_monoid_of(oracle, [&]<class Op>(Op) { fill_input<Op>(oracle, in.data()); });
  out.poison();
  workspace.poison();

  if (std::string fault = run(scan, {in.data(), out.data(), workspace.data()}, options); !fault.empty()) {
    return failed(std::move(fault));
  }
  if (std::string damage = first_damage({&out, &workspace, &in}); !damage.empty()) return failed(std::move(damage));
  // The input is its own expected value: what a copy of it would have to be.
  if (!oracle.compare(in.data(), 0, Kind::ceiling).passed()) return failed("wrote to its input");
  return oracle.compare(out.data(), scan.plan.chain, variant.about.kind);
}

}  // namespace scanlab::verify
