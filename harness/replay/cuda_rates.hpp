// Times of a schedule's parts by themselves: copies each way and both ways at once, and the kernel of a chunk. A
// schedule is held against them. No CUDA types here.
#pragma once

#include <cstddef>

#include "harness/replay/replayer.hpp"

namespace scanlab::streams {

enum class Direction { in, out };  ///< host to device, device to host

/// Seconds of one copy of the first `bytes` of a host array, at most arrays.bytes(), by device events. If `both_ways`,
/// another copy runs the other way all the while; of pinned memory only, since a copy of pageable memory holds up the
/// host that would issue the other. Throws OutOfMemory, CudaError.
double copy_seconds(const HostArrays& arrays, Direction direction, std::size_t bytes, bool both_ways);

/// Seconds of the kernel of the job's longest chunk: the mean of some runs one behind the other, by device events.
/// Throws as Replayer does.
double kernel_seconds(const Job& job);

}  // namespace scanlab::streams
