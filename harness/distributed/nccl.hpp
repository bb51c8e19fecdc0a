// NVIDIA's library of collective operations, loaded when it is first asked for: a build needs none of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/communicator.hpp"

namespace scanlab::distributed {

/// Why there is no NCCL here, in one sentence; empty if there is.
std::string why_no_nccl();

/// `plan`, or where there is no NCCL its refusal.
inline Plan with_nccl(Plan plan) {
  std::string reason = why_no_nccl();
  return reason.empty() ? std::move(plan) : Plan::refuse(std::move(reason));
}

/// The ranks' NCCL communicator. A rank's device is current wherever one is used.
class Nccl {
 public:
  virtual ~Nccl() = default;
  /// Collective. The one of these ranks, made at the first call. Throws std::runtime_error, on all ranks, if it cannot
  /// be: RankFailed if one rank alone cannot, for which the others wait within NCCL.
  static std::shared_ptr<Nccl> join(Communicator& communicator);

  /// Enqueues: `all` gets `bytes` bytes of each rank, in order. Device memory.
  virtual void all_gather(const void* mine, void* all, std::size_t bytes, StreamHandle stream) = 0;
  /// Throws std::runtime_error if an operation that was enqueued has failed.
  virtual void check() = 0;
};

}  // namespace scanlab::distributed
