// Hardware queues, which CUDA calls connections: how many it takes the streams of this process to. No CUDA types here.
#pragma once

namespace scanlab::cuda {

inline constexpr char kConnectionsVariable[] = "CUDA_DEVICE_MAX_CONNECTIONS";
inline constexpr int kMaxConnections = 32;  ///< that CUDA heeds, from 1

/// CUDA_DEVICE_MAX_CONNECTIONS, or 8.
int connections();

}  // namespace scanlab::cuda
