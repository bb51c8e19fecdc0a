#include "harness/schedule/happens_before.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace scanlab::streams {

namespace {

/// A vector clock: of each lane (the host, or a stream), how many of its operations come before.
class Clock {
 public:
  void join(const Clock& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t lane = 0; lane < other.counts_.size(); ++lane) {
      counts_[lane] = std::max(counts_[lane], other.counts_[lane]);
    }
  }
  std::int32_t operator[](std::size_t lane) const { return lane < counts_.size() ? counts_[lane] : 0; }
  void set(std::size_t lane, std::int32_t count) {
    if (lane >= counts_.size()) counts_.resize(lane + 1);
    counts_[lane] = count;
  }

 private:
  std::vector<std::int32_t> counts_;
};

/// Where an operation stands: the `count`-th of its lane, after all that `before` counts.
struct Moment {
  std::size_t lane = 0;
  std::int32_t count = 0;
  Clock before;

  bool after(const Moment& other) const { return before[other.lane] >= other.count; }
};

/// The host and every stream in use, each with the clock of its latest operation.
class Timeline {
 public:
  explicit Timeline(const Recording& recording)
      : pageable_(recording.job.memory == HostMemory::pageable), events_(static_cast<std::size_t>(recording.events)) {}

  Moment next(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::host_work:
        return stamp(kHost, host_);
      case OperationKind::synchronize_stream:
        host_.join(of(operation.stream).clock);
        return stamp(kHost, host_);
      case OperationKind::synchronize_event:
        if (const auto& recorded = events_.at(index(operation))) host_.join(*recorded);
        return stamp(kHost, host_);
      case OperationKind::synchronize_device:
        host_.join(all_);
        return stamp(kHost, host_);
      default:
        return in_stream(operation);
    }
  }

  /// Whether the event that `operation` waits for was recorded.
  bool recorded(const Operation& operation) const { return events_.at(index(operation)).has_value(); }

 private:
  struct Lane {
    std::size_t number = 0;
    Clock clock;
  };
  static constexpr std::size_t kHost = 0;

  static std::size_t index(const Operation& operation) { return static_cast<std::size_t>(operation.event.index); }

  Lane& of(const Stream& stream) {
    Lane& lane = lanes_[{stream.kind, stream.index}];
    if (lane.number == 0) lane.number = lanes_.size();  // from 1: lane 0 is the host's
    return lane;
  }

  /// Counts one more operation of a lane, whose clock has been joined with all that it comes after.
  Moment stamp(std::size_t lane, Clock& clock) {
    const std::int32_t count = clock[lane] + 1;
    clock.set(lane, count);
    return {lane, count, clock};
  }

  Moment in_stream(const Operation& operation) {
    Lane& lane = of(operation.stream);
    lane.clock.join(host_);  // it is issued after what the host has done and waited for
    const bool legacy = operation.stream.kind == StreamKind::legacy_default;
    const bool blocking = !legacy && operation.stream.kind != StreamKind::non_blocking;
    if (legacy) lane.clock.join(blocking_);
    if (blocking) lane.clock.join(legacy_);
    if (operation.kind == OperationKind::wait_event && recorded(operation)) {
      lane.clock.join(*events_[index(operation)]);
    }
    Moment moment = stamp(lane.number, lane.clock);
    if (operation.kind == OperationKind::record_event) events_.at(index(operation)) = lane.clock;
    if (legacy) legacy_ = lane.clock;
    if (blocking) blocking_.join(lane.clock);
    all_.join(lane.clock);
    // cudaMemcpy from pageable memory may return when the staging buffer has it all, before the device does.
    const bool staged = operation.kind == OperationKind::copy_in && pageable_;
    if (operation.synchronous && !staged) host_.join(lane.clock);
    return moment;
  }

  bool pageable_;
  std::map<std::pair<StreamKind, int>, Lane> lanes_;
  std::vector<std::optional<Clock>> events_;  ///< at the latest record
  Clock host_;
  Clock legacy_;    ///< of the legacy default stream's latest operation
  Clock blocking_;  ///< of every operation in a blocking stream
  Clock all_;       ///< of every operation in any stream
};

bool same_memory(const Access& a, const Access& b) {
  return a.place == b.place && a.array == b.array && a.buffer == b.buffer;
}

bool overlap(const Access& a, const Access& b) { return a.first < b.first + b.items && b.first < a.first + a.items; }

}  // namespace

CheckResult check(const Recording& recording) {
  CheckResult result;
  Timeline timeline(recording);
  std::vector<Moment> moments;
  moments.reserve(recording.operations.size());

  /// Who touches each piece of memory.
  struct Touch {
    std::size_t operation;
    const Access* access;
  };
  std::map<std::tuple<Place, int, int>, std::vector<Touch>> memory;

  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    const Operation& operation = recording.operations[i];
    const bool waits =
        operation.kind == OperationKind::wait_event || operation.kind == OperationKind::synchronize_event;
    if (waits && !timeline.recorded(operation)) result.waits_for_nothing.push_back(i);
    moments.push_back(timeline.next(operation));
    for (const Access& access : operation.accesses) {
      memory[{access.place, access.array, access.buffer}].push_back({i, &access});
    }
  }

  for (auto& [where, touches] : memory) {
    // By where they begin: those that overlap one are next to it, and not among all chunks of a host array.
    std::ranges::stable_sort(touches, {}, [](const Touch& touch) { return touch.access->first; });
    for (auto one = touches.begin(); one != touches.end(); ++one) {
      const std::int64_t end = one->access->first + one->access->items;
      for (auto other = std::next(one); other != touches.end() && other->access->first < end; ++other) {
        const auto& [first, second] =
            std::minmax(*one, *other, [](const Touch& a, const Touch& b) { return a.operation < b.operation; });
        if (first.operation == second.operation || !(first.access->writes || second.access->writes)) continue;
        if (!overlap(*first.access, *second.access)) continue;
        if (moments[second.operation].after(moments[first.operation])) continue;
        result.hazards.push_back({first.operation, second.operation, *second.access});
      }
    }
  }
  std::ranges::stable_sort(result.hazards, {},
                           [](const Hazard& hazard) { return std::pair(hazard.first, hazard.second); });
  return result;
}

bool as_expected(const Schedule& schedule, const Recording& recording, const CheckResult& result) {
  const bool issues = recording.buffers > 0;
  return result.ordered() != (schedule.about.control && issues);
}

std::string describe(const Recording& recording, const Hazard& hazard) {
  const Operation& first = recording.operations[hazard.first];
  const Operation& second = recording.operations[hazard.second];
  const bool first_writes = std::ranges::any_of(first.accesses, [&](const Access& access) {
    return access.writes && same_memory(access, hazard.access) && overlap(access, hazard.access);
  });
  return fmt::format("nothing orders {}, which {} {}, and {}, which {} it", describe(first),
                     first_writes ? "writes" : "reads", describe(hazard.access), describe(second),
                     hazard.access.writes ? "writes" : "reads");
}

}  // namespace scanlab::streams
