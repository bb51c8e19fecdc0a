// Work on a GPU that has nothing to do with the scan beside it.
#pragma once

#include <memory>

#include "harness/distributed/rank_backend.hpp"

namespace scanlab::distributed {

/// Keeps `device`, the current one, busy: kernels that take the place of a scan's blocks, and copies, by a thread and a
/// stream of their own. Throws CudaError, and OutOfMemory.
std::unique_ptr<OtherWork> keep_busy(int device);

}  // namespace scanlab::distributed
