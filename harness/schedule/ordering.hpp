// The order of a recording's operations, and the rule of CUDA behind each. Written once: the hazard checker, the
// timeline and the engine model read it here.
//
// Counted on are: issue order in a stream; an event's latest record before its wait; what the host waited for before it
// issues or computes on; and the rules of the legacy default stream, which waits for all earlier work of blocking
// streams (the per-thread default stream is one) and holds back all their later work, but not that of non-blocking
// streams. Not counted on: what a copy of pageable memory happens to wait for.
//
// Source: CUDA Runtime API, "Stream synchronization behavior" and "API synchronization behavior".
#pragma once

#include <cstddef>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// Why the device finishes one operation before it begins another.
enum class Rule {
  stream_order,    ///< it was issued to the same stream before
  event,           ///< its stream waits for an event recorded behind the other
  default_stream,  ///< one of the two is in the legacy default stream
};

struct Dependency {
  std::size_t operation = 0;  ///< a copy or a kernel, as an index of the recording's operations
  Rule rule = Rule::stream_order;
};

/// Whether the host goes on only when the device has done a copy.
enum class HostWait {
  none,
  usual,  ///< of pageable memory: cudaMemcpyAsync, and cudaMemcpy to the device, whose staging buffer may hold it yet
  promised,  ///< every other cudaMemcpy
};
HostWait host_wait(const Recording& recording, const Operation& operation);

/// Who waits for what.
struct Ordering {
  /// For each operation that is work, the work that it waits for: enough that what they wait for in turn is all, the
  /// one before it in its stream first. Other operations have none: events are looked through. Waits of the host before
  /// it issues an operation are not among them.
  std::vector<std::vector<Dependency>> device;
  /// For each operation with which CUDA promises that the host waits, the work that it waits for, likewise; a copy for
  /// itself.
  std::vector<std::vector<std::size_t>> host;
  /// Operations that wait for an event that no earlier operation records: in CUDA they wait for nothing.
  std::vector<std::size_t> waits_for_nothing;
};
Ordering ordering(const Recording& recording);

}  // namespace scanlab::streams
