#include "harness/schedule/ordering.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace scanlab::streams {

namespace {

/// A stream: what its next operation waits for.
struct Lane {
  std::optional<std::size_t> last;  ///< work in this stream
  std::vector<Dependency> waits;    ///< since then, for others
  std::set<std::size_t> awaited;    ///< the operations of `waits`
  bool ahead = false;               ///< has what the legacy default stream does not wait for yet
  std::size_t behind = 0;           ///< so much of what the legacy default stream was given it waits for already

  /// The operations that an event recorded now stands for.
  std::vector<std::size_t> frontier() const {
    std::vector<std::size_t> all;
    if (last) all.push_back(*last);
    for (const Dependency& wait : waits) all.push_back(wait.operation);
    return all;
  }
  void wait_for(const std::vector<std::size_t>& operations, Rule rule) {
    for (const std::size_t operation : operations) {
      if (operation != last && awaited.insert(operation).second) waits.push_back({operation, rule});
    }
  }
};

}  // namespace

HostWait host_wait(const Recording& recording, const Operation& operation) {
  if (!is_copy(operation)) return HostWait::none;
  const bool pageable = recording.job.memory == HostMemory::pageable;
  if (!operation.synchronous) return pageable ? HostWait::usual : HostWait::none;
  return pageable && operation.kind == OperationKind::copy_in ? HostWait::usual : HostWait::promised;
}

Ordering ordering(const Recording& recording) {
  const std::size_t count = recording.operations.size();
  Ordering all{.device = std::vector<std::vector<Dependency>>(count),
               .host = std::vector<std::vector<std::size_t>>(count)};
  std::map<std::pair<StreamKind, int>, Lane> lanes;
  std::vector<std::optional<std::vector<std::size_t>>> events(static_cast<std::size_t>(recording.events));
  Lane& legacy = lanes[{StreamKind::legacy_default, 0}];
  // Operations for which the legacy default stream waited once are before all that follows in it: only lanes with more
  // since then are looked at. Else time would grow as the square of the streams.
  std::vector<Lane*> ahead;
  std::size_t in_legacy = 0;  // what that stream was given: others wait only for more than at their last wait
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = recording.operations[i];
    const OperationKind kind = operation.kind;
    const bool records = kind == OperationKind::record_event;
    const bool waits = kind == OperationKind::wait_event;
    const auto event = static_cast<std::size_t>(operation.event.index);
    if ((waits || kind == OperationKind::synchronize_event) && !events.at(event)) all.waits_for_nothing.push_back(i);
    if (kind == OperationKind::synchronize_stream) {
      all.host[i] = lanes[{operation.stream.kind, operation.stream.index}].frontier();
    } else if (kind == OperationKind::synchronize_event && events[event]) {
      all.host[i] = *events[event];
    } else if (kind == OperationKind::synchronize_device) {
      for (const auto& [key, lane] : lanes) {
        if (lane.last) all.host[i].push_back(*lane.last);
      }
    } else if (host_wait(recording, operation) == HostWait::promised) {
      all.host[i] = {i};
    }
    if (!is_work(operation) && !records && !waits) continue;  // the host's
    const StreamKind stream = operation.stream.kind;
    Lane& lane = lanes[{stream, operation.stream.index}];
    if (stream == StreamKind::legacy_default) {
      for (Lane* const other : ahead) {
        lane.wait_for(other->frontier(), Rule::default_stream);
        other->ahead = false;
      }
      ahead.clear();
      ++in_legacy;
    } else if (stream != StreamKind::non_blocking) {
      if (std::exchange(lane.behind, in_legacy) < in_legacy) {
        lane.wait_for(legacy.frontier(), Rule::default_stream);
      }
      if (!std::exchange(lane.ahead, true)) ahead.push_back(&lane);
    }
    if (waits) {
      if (events[event]) lane.wait_for(*events[event], Rule::event);
    } else if (records) {
      events.at(event) = lane.frontier();
    } else {
      if (lane.last) all.device[i].push_back({*lane.last, Rule::stream_order});
      all.device[i].insert(all.device[i].end(), lane.waits.begin(), lane.waits.end());
      lane.last = i;
      lane.waits.clear();
      lane.awaited.clear();
    }
  }
  return all;
}

}  // namespace scanlab::streams
