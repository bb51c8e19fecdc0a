#include <string>

#include "harness/distributed/peer_memory.hpp"

namespace scanlab::distributed {

namespace {

/// A rank's memory, as it tells the others.
struct Address {
  std::uint64_t process;
  int device;
  char bus[16];  ///< of the device: ranks of different processes count devices each in their own way
  void* data;
  bool shareable;  ///< whether other processes can open it by the handle
  cudaIpcMemHandle_t handle;
};

/// Why this rank cannot reach what another has; empty if it can. Enables access.
std::string reach(const Address& own, const Address& other, std::vector<OpenedMemory>& opened, void*& seen) {
  const std::string whom = std::string("the GPU at ") + other.bus;
  if (other.process == own.process) {
    seen = other.data;
    if (other.device == own.device) return {};
    int possible = 0;
    cudaDeviceCanAccessPeer(&possible, own.device, other.device);
    if (possible == 0) return "has no peer access to " + whom;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other.device, 0);
    cudaGetLastError();
    if (error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled) return {};
    return "peer access to " + whom + ": " + cudaGetErrorString(error);
  }
  if (!other.shareable) return "memory of another process, on " + whom + ": it has no handle for other processes";
  const cudaError_t error = cudaIpcOpenMemHandle(&seen, other.handle, cudaIpcMemLazyEnablePeerAccess);
  if (error == cudaSuccess) {
    opened.emplace_back(seen);
    return {};
  }
  cudaGetLastError();  // not sticky: the next call must not report it again
  return "memory of another process, on " + whom + ": " + cudaGetErrorString(error);
}

}  // namespace

PeerMemory::PeerMemory(std::size_t bytes) : own_(bytes) {
  cuda::check(cudaMemset(own_.data(), 0, bytes), "clearing peer memory");
  cuda::check(cudaDeviceSynchronize(), "clearing peer memory");
}

void PeerMemory::connect(Communicator& communicator) {
  communicator_ = &communicator;
  Address own{.process = process_number(), .data = own_.data()};
  std::string reason;
  try {
    cuda::check(cudaGetDevice(&own.device), "asking for the device");
    cuda::check(cudaDeviceGetPCIBusId(own.bus, sizeof(own.bus), own.device), "asking for the device's place");
  } catch (const cuda::CudaError& error) {
    reason = error.what();
  }
  own.shareable = cudaIpcGetMemHandle(&own.handle, own_.data()) == cudaSuccess;
  cudaGetLastError();
  const std::vector<Address> all = communicator.gather(own);
  seen_.assign(all.size(), nullptr);
  for (std::size_t rank = 0; rank < all.size() && reason.empty(); ++rank) {
    if (static_cast<int>(rank) == communicator.rank()) {
      seen_[rank] = own_.data();
    } else {
      reason = reach(own, all[rank], opened_, seen_[rank]);
    }
  }
  if (reason = communicator.first_complaint(reason); !reason.empty()) throw std::runtime_error(reason);
}

PeerMemory::~PeerMemory() {
  if (communicator_ == nullptr) return;
  opened_.clear();
  try {
    communicator_->barrier();
  } catch (const RankFailed&) {
    return;  // a rank that failed reads no more
  }
}

}  // namespace scanlab::distributed
