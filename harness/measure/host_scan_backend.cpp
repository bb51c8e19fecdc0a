// Times host code by wall clock.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "harness/core/operators.hpp"
#include "harness/host/clock.hpp"
#include "harness/measure/host_buffer.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/verify/input.hpp"

namespace scanlab::measure {

const verify::Oracle& OracleStore::get(const Problem& problem) {
  if (!oracle_ || oracle_->problem() != bare(problem)) {
    oracle_.reset();  // before the next one is made: each may take gigabytes
    oracle_.emplace(bare(problem), kTimedInput, seed_);
  }
  return *oracle_;
}

namespace {

class HostScanBackend : public ScanBackend {
 public:
  explicit HostScanBackend(OracleStore& oracles) : oracles_(oracles) {}

  verify::Outcome verify(const TimedCase& timed) override {
    return verify::verify_on_cpu(*timed.scan.variant, timed.problem(), oracles_.get(timed.problem()), {});
  }

  Sample time(const TimedCase& timed, std::int64_t runs) override {
    const Buffers buffers = prepare(timed);
    timed.bound.host(buffers);
    std::memset(buffers.out, kPoison, out_bytes(timed));
    Clock::duration sum{};
    for (std::int64_t i = 0; i < runs; ++i) {
      const auto start = Clock::now();
      timed.bound.host(buffers);
      sum += Clock::now() - start;
    }
    return {.seconds = std::chrono::duration<double>(sum).count() / static_cast<double>(runs), .runs = runs};
  }

  verify::Outcome verify_last_run(const TimedCase& timed) override {
    return oracles_.get(timed.problem()).compare(out_.data(), timed.bound.plan.chain, timed.about().kind);
  }

  void run_once(const TimedCase& timed) override { timed.bound.host(prepare(timed)); }

 private:
  static std::size_t out_bytes(const TimedCase& timed) { return timed.problem().array_bytes(); }

  Buffers prepare(const TimedCase& timed) {
    const std::size_t bytes = out_bytes(timed);
    if (in_.bytes() < bytes) held_.reset();
    in_.grow(bytes);
    out_.grow(bytes);
    workspace_.grow(timed.bound.plan.workspace_bytes);
    if (!held_ || *held_ != bare(timed.problem())) fill(timed.problem());
    return {.in = in_.data(), .out = out_.data(), .workspace = workspace_.data()};
  }

  void fill(const Problem& problem) {
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      auto* const items = static_cast<typename Op::Item*>(in_.data());
      const verify::ScanOrder order(problem);
      for (std::int64_t i = 0; i < problem.items; ++i) {
        items[order.place(i)] = verify::input_item<Op>(kTimedInput, oracles_.seed(), i, problem.items);
      }
    });
    held_ = bare(problem);
  }

  OracleStore& oracles_;
  HostBuffer in_;
  HostBuffer out_;
  HostBuffer workspace_;
  std::optional<Problem> held_;  ///< whose input `in_` holds
};

}  // namespace

std::unique_ptr<ScanBackend> make_host_scan_backend(OracleStore& oracles) {
  return std::make_unique<HostScanBackend>(oracles);
}

}  // namespace scanlab::measure
