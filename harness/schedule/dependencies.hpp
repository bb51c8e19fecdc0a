// Which operations the device must have finished before it may begin another, and by which rule.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// Why one operation waits for another.
enum class Rule {
  stream_order,    ///< it was issued to the same stream before
  event,           ///< its stream waits for an event recorded behind the other
  default_stream,  ///< one of the two is in the legacy default stream
};

struct Dependency {
  std::size_t operation = 0;  ///< a copy or a kernel, as an index of the recording's operations
  Rule rule = Rule::stream_order;
};

/// Whether the device works at it: copies and kernels.
bool is_work(const Operation& operation);

/// Who waits for what. The rules are those of happens_before.hpp.
struct Ordering {
  /// For each operation that is work, the work that it waits for: enough that what they wait for in turn is all. What
  /// is no work has none: events are looked through. What the host waits for before it issues an operation is not
  /// among them.
  std::vector<std::vector<Dependency>> device;
  /// For each operation by which the host waits for a stream or an event, the work that it waits for, likewise. Not of
  /// synchronous copies, which wait for themselves, nor of synchronize_device, which waits for all.
  std::vector<std::vector<std::size_t>> host;
  /// Operations that wait for an event that no earlier operation records.
  std::vector<std::size_t> waits_for_nothing;
};
Ordering ordering(const Recording& recording);

/// Ordering::device alone.
std::vector<std::vector<Dependency>> dependencies(const Recording& recording);

}  // namespace scanlab::streams
