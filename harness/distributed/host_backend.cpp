// A rank in the host's memory.
#include <chrono>
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "harness/distributed/rank_backend.hpp"
#include "harness/measure/loop.hpp"
#include "harness/verify/input.hpp"

namespace scanlab::distributed {

namespace {

constexpr int kPoison = 0xFF;

class HostBackend : public RankBackend {
 public:
  explicit HostBackend(int rank) : rank_(rank) {}

  void fill(const Problem& problem, const Distribution& distribution, InputKind kind, std::uint64_t seed) override {
    const auto asked = std::tuple(problem, distribution, kind, seed);
    if (held_ == asked) return;
    held_.reset();
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      using Item = typename Op::Item;
      const std::size_t bytes = static_cast<std::size_t>(distribution.held(rank_)) * sizeof(Item);
      try {
        in_.resize(bytes + kAlignment);
        out_.resize(bytes + kAlignment);
      } catch (const std::bad_alloc&) {
        throw measure::LacksMemory("out of host memory: wanted " + std::to_string(2 * bytes) + " bytes");
      }
      bytes_ = bytes;
      auto* const items = reinterpret_cast<Item*>(aligned(in_));
      distribution.for_each_run(rank_, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          items[local + i] = verify::input_item<Op>(kind, seed, global + i, problem.items);
        }
      });
    });
    held_ = asked;
  }

  double time(BoundRank& bound, std::int64_t untimed, std::int64_t runs) override {
    for (std::int64_t i = 0; i < untimed; ++i) bound.run(aligned(in_), aligned(out_), nullptr);
    std::memset(aligned(out_), kPoison, bytes_);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < runs; ++i) bound.run(aligned(in_), aligned(out_), nullptr);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void read(std::size_t offset, std::size_t bytes, void* to) override {
    std::memcpy(to, aligned(out_) + offset, bytes);
  }

 private:
  static constexpr std::size_t kAlignment = 256;
  static std::byte* aligned(std::vector<std::byte>& bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    return bytes.data() + (kAlignment - address % kAlignment) % kAlignment;
  }

  int rank_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::size_t bytes_ = 0;
  std::optional<std::tuple<Problem, Distribution, InputKind, std::uint64_t>> held_;
};

}  // namespace

std::unique_ptr<RankBackend> make_host_backend(const Communicator& communicator) {
  return std::make_unique<HostBackend>(communicator.rank());
}

}  // namespace scanlab::distributed
