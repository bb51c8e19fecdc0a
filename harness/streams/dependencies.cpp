#include "harness/streams/dependencies.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace scanlab::streams {

namespace {

/// A stream: what its next operation waits for.
struct Lane {
  std::optional<std::size_t> last;  ///< work in this stream
  std::vector<Dependency> waits;    ///< since then, for others

  /// What an event recorded now stands for.
  std::vector<std::size_t> frontier() const {
    std::vector<std::size_t> all;
    if (last) all.push_back(*last);
    for (const Dependency& wait : waits) all.push_back(wait.operation);
    return all;
  }
  void wait_for(const std::vector<std::size_t>& operations, Rule rule) {
    for (const std::size_t operation : operations) {
      const auto same = [&](const Dependency& wait) { return wait.operation == operation; };
      if (operation != last && std::ranges::none_of(waits, same)) waits.push_back({operation, rule});
    }
  }
};

}  // namespace

bool is_work(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::copy_in:
    case OperationKind::copy_out:
    case OperationKind::kernel:
    case OperationKind::side_kernel:
      return true;
    default:
      return false;
  }
}

std::vector<std::vector<Dependency>> dependencies(const Recording& recording) {
  std::vector<std::vector<Dependency>> all(recording.operations.size());
  std::map<std::pair<StreamKind, int>, Lane> lanes;
  std::vector<std::vector<std::size_t>> events(static_cast<std::size_t>(recording.events));
  Lane& legacy = lanes[{StreamKind::legacy_default, 0}];
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    const Operation& operation = recording.operations[i];
    const bool records = operation.kind == OperationKind::record_event;
    const bool waits = operation.kind == OperationKind::wait_event;
    if (!is_work(operation) && !records && !waits) continue;  // the host's
    const StreamKind kind = operation.stream.kind;
    Lane& lane = lanes[{kind, operation.stream.index}];
    if (kind == StreamKind::legacy_default) {
      for (const auto& [key, other] : lanes) {
        const bool blocking = key.first == StreamKind::blocking || key.first == StreamKind::per_thread_default;
        if (blocking) lane.wait_for(other.frontier(), Rule::default_stream);
      }
    } else if (kind != StreamKind::non_blocking) {
      lane.wait_for(legacy.frontier(), Rule::default_stream);
    }
    const auto event = static_cast<std::size_t>(operation.event.index);
    if (waits) {
      lane.wait_for(events.at(event), Rule::event);
    } else if (records) {
      events.at(event) = lane.frontier();
    } else {
      if (lane.last) all[i].push_back({*lane.last, Rule::stream_order});
      all[i].insert(all[i].end(), lane.waits.begin(), lane.waits.end());
      lane.last = i;
      lane.waits.clear();
    }
  }
  return all;
}

}  // namespace scanlab::streams
