// A rank in the host's memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "harness/core/operators.hpp"
#include "harness/distributed/rank_backend.hpp"
#include "harness/host/clock.hpp"
#include "harness/measure/host_buffer.hpp"
#include "harness/verify/input.hpp"

namespace scanlab::distributed {

namespace {

class HostBackend : public RankBackend {
 public:
  explicit HostBackend(int rank) : rank_(rank) {}

  void fill(const Problem& problem, const Distribution& distribution, InputKind kind, std::uint64_t seed) override {
    const auto asked = std::tuple(problem, distribution, kind, seed);
    if (held_ == asked) return;
    held_.reset();
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      using Item = typename Op::Item;
      bytes_ = static_cast<std::size_t>(distribution.held(rank_)) * sizeof(Item);
      in_.grow(bytes_);
      out_.grow(bytes_);
      auto* const items = static_cast<Item*>(in_.data());
      const verify::ScanOrder order(problem);
      distribution.for_each_run(rank_, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): a run is within what the rank holds
          items[local + i] = verify::input_item<Op>(kind, seed, order.number(global + i), problem.items);
        }
      });
    });
    held_ = asked;
  }

  std::unique_ptr<BoundRank> bind(const Algorithm& algorithm, const Problem& problem, const Plan& plan) override {
    try {
      return algorithm.bind(problem, plan, rank_);
    } catch (const std::bad_alloc&) {
      throw measure::LacksMemory("out of host memory for what " + algorithm.about.id + " needs beside the arrays");
    }
  }

  double time(BoundRank& bound, std::int64_t untimed, std::int64_t runs) override {
    for (std::int64_t i = 0; i < untimed; ++i) bound.run(in_.data(), out_.data(), nullptr);
    if (bytes_ > 0) std::memset(out_.data(), measure::kPoison, bytes_);
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < runs; ++i) bound.run(in_.data(), out_.data(), nullptr);
    return seconds_since(start);
  }

  void run_alone(BoundRank& bound, const std::function<void()>& meet) override {
    if (bytes_ > 0) std::memset(out_.data(), measure::kPoison, bytes_);
    meet();
    bound.run(in_.data(), out_.data(), nullptr);
  }

  void read(std::size_t offset, std::size_t bytes, void* to) override {
    std::memcpy(to, static_cast<const std::byte*>(out_.data()) + offset, bytes);
  }

 private:
  int rank_;
  measure::HostBuffer in_;
  measure::HostBuffer out_;
  std::size_t bytes_ = 0;
  std::optional<std::tuple<Problem, Distribution, InputKind, std::uint64_t>> held_;
};

}  // namespace

std::unique_ptr<BoundRank> RankBackend::captured(BoundRank&) {
  throw std::runtime_error("a run is captured in a CUDA graph on GPUs alone");
}

int ranks_per_gpu() {
  const char* const text = std::getenv("SCANLAB_RANKS_PER_GPU");
  return text == nullptr ? 1 : std::max(std::atoi(text), 1);
}

std::unique_ptr<RankBackend> make_host_backend(const Communicator& communicator) {
  return std::make_unique<HostBackend>(communicator.rank());
}

}  // namespace scanlab::distributed
