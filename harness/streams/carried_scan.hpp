// Any registered scan, as the kernel of a chunk that is given a carry and leaves one.
#pragma once

#include <cstdint>
#include <string>

#include "harness/streams/workload.hpp"

namespace scanlab::streams {

/// The inclusive sum of a chunk of `items` (>= 1) i32, on top of the carry it is given; the last sum is the carry it
/// leaves. Two launches beside those of the scan: a thread adds the carry to the chunk's first item, in the input
/// buffer, and one copies the last sum; so the scan need not know of carries. Kernels of one binding must run one after
/// another (those of an ordered workload do): they share a workspace.
///
/// Throws std::invalid_argument if there is no scan of that id, or it does not take the problem on a CUDA device.
BoundKernel carried_scan(const std::string& scan, std::int64_t items);

}  // namespace scanlab::streams
