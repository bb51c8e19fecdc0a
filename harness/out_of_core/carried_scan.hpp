// How a carry enters a chunk and leaves it, so that any registered scan scans the chunk in between; and such a scan on
// CUDA, as the kernel of a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "harness/core/monoid.hpp"
#include "harness/core/portable.hpp"
#include "harness/schedule/workload.hpp"

namespace scanlab::out_of_core {

/// Before a chunk's scan: what comes before the chunk becomes part of its first item. `first` is in[0].
template <Monoid Op>
SCANLAB_HD void fold_carry(typename Op::Item carry, typename Op::Item* first) {
  *first = Op{}(carry, *first);
}

/// After it: the carry of the next chunk. The first output of an exclusive scan, which no scan of a chunk can know, is
/// put right. `in` has the carry folded in; items >= 1.
template <Monoid Op>
SCANLAB_HD typename Op::Item leave_carry(Mode mode, typename Op::Item carry, const typename Op::Item* in,
                                         typename Op::Item* out, std::int64_t items) {
  if (mode == Mode::inclusive) return out[items - 1];
  const typename Op::Item next = Op{}(out[items - 1], in[items - 1]);  // of a single item, out[0] is the identity
  out[0] = carry;
  return next;
}

/// A scan bound for chunks of one size. Two launches beside its own, one thread each, which fold the carry into the
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
