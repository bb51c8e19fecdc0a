// Page-locked host memory, which the device copies from and to without the help of the host.
#pragma once

#include "harness/host/host_array.hpp"

namespace scanlab::cuda {

/// 0 bytes are possible. Throws std::bad_alloc or CudaError.
HostArray pinned_memory(std::size_t bytes);

}  // namespace scanlab::cuda
