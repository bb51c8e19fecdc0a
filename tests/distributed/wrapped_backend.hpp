// A rank in the host's memory, whose runs a test changes or watches.
#pragma once

#include <memory>

#include "harness/distributed/rank_backend.hpp"

namespace scanlab::distributed {

class WrappedBackend : public RankBackend {
 public:
  explicit WrappedBackend(const Communicator& communicator) : host_(make_host_backend(communicator)) {}
  void fill(const Problem& problem, const Distribution& distribution, InputKind kind, std::uint64_t seed) override {
    host_->fill(problem, distribution, kind, seed);
  }
  std::unique_ptr<BoundRank> bind(const Algorithm& algorithm, const Problem& problem, const Plan& plan) override {
    return host_->bind(algorithm, problem, plan);
  }
  double time(BoundRank& bound, std::int64_t untimed, std::int64_t runs) override {
    return host_->time(bound, untimed, runs);
  }
  void run_alone(BoundRank& bound, const std::function<void()>& meet) override { host_->run_alone(bound, meet); }
  void read(std::size_t offset, std::size_t bytes, void* to) override { host_->read(offset, bytes, to); }

 private:
  std::unique_ptr<RankBackend> host_;
};

}  // namespace scanlab::distributed
