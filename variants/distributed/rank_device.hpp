// The part of a GPU that a rank has, and what algorithms over peer memory ask of it.
#pragma once

#include <string>

#include "harness/distributed/peer_memory.hpp"
#include "harness/distributed/rank_backend.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"

namespace scanlab::distributed {

/// Where ranks share a device, as tests have them, each takes a part of it: blocks of all of them must be resident.
inline int multiprocessors_of_rank() { return cuda::multiprocessors() / ranks_per_gpu(); }
/// Whether a kernel may start before the one before it has ended: blocks of a next run would take another rank's place.
inline bool may_start_early() { return ranks_per_gpu() == 1; }
/// The shared memory that a block may ask for.
inline std::size_t shared_bytes_of_block() {
  return static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

/// Why an algorithm of bulk copies and peer memory cannot run; empty if it can.
inline std::string peer_refusal(const std::string& id, int ranks) {
  if (cuda::compute_capability() < 90) return id + " needs compute capability 9.0: it copies in bulk";
  if (ranks <= kMaxPeers) return {};
  return id + " takes " + std::to_string(kMaxPeers) + " GPUs, not " + std::to_string(ranks);
}

}  // namespace scanlab::distributed
#endif
