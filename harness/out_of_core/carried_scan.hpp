// Any registered scan on CUDA, as the kernel of a chunk that is given a carry and leaves one.
#pragma once

#include <cstddef>
#include <functional>

#include "harness/schedule/workload.hpp"

namespace scanlab::out_of_core {

/// Bound for chunks of one size. Two launches beside those of the scan, one thread each, which fold the carry into the
/// chunk's first item, in the input buffer, and leave the next carry; so the scan need not know of carries. Launches of
/// one binding must run one after another: they share a workspace.
struct CarriedScan {
  std::size_t workspace_bytes = 0;
  std::function<void(void* workspace, StreamHandle)> prepare;  ///< once, before any launch; empty: not needed
  /// Only enqueues. The carry that is left goes to `carry_on_host` too, in pinned memory, unless that is null.
  std::function<void(const streams::ChunkMemory&, void* carry_on_host, StreamHandle)> launch;
};

/// `chunk` is the problem of one chunk, of 1 item or more. Throws std::invalid_argument if the scan does not take it on
/// a CUDA device.
CarriedScan carried_scan(const Variant& scan, const Problem& chunk);

}  // namespace scanlab::out_of_core
