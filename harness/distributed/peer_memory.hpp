// Device memory that the kernels of all ranks read and write: of GPUs of one peer domain, by NVLink or PCIe.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/owned.hpp"
#include "harness/distributed/communicator.hpp"

namespace scanlab::distributed {

/// Device memory of another process, for as long as this one reaches it.
using OpenedMemory = cuda::Owned<void*, cudaIpcCloseMemHandle>;

/// As many GPUs may be peers of one kernel: their addresses are arguments of it.
inline constexpr int kMaxPeers = 16;

/// A piece of memory of each rank, of the same size, and where this rank's kernels see those of the others: by peer
/// access within a process, by CUDA's inter-process handles between processes.
class PeerMemory {
 public:
  /// This rank's piece, on the current device. The bytes are 0.
  explicit PeerMemory(std::size_t bytes);
  /// Collective, once. Throws std::runtime_error, on all ranks, if a GPU cannot reach another.
  void connect(Communicator& communicator);
  /// Collective once it is connected: no rank frees memory that another still reads.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  void* own() const { return own_.data(); }
  /// The memory of any rank, once it is connected.
  void* at(int rank) const { return seen_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return static_cast<int>(seen_.size()); }

 private:
  cuda::DeviceBuffer own_;
  Communicator* communicator_ = nullptr;  ///< of the ranks that are connected
  std::vector<void*> seen_;
  std::vector<OpenedMemory> opened_;
};

}  // namespace scanlab::distributed
