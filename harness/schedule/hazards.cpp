#include "harness/schedule/hazards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

namespace {

/// A vector clock: of each stream, how many of its copies and kernels come before.
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

/// Where a copy or a kernel stands: the `count`-th of its stream, behind all that `clock` counts, itself among them.
struct Moment {
  std::size_t lane = 0;
  std::int32_t count = 0;
  Clock clock;
};

bool counts(const Clock& clock, const Moment& moment) { return clock[moment.lane] >= moment.count; }

/// The moment of each operation that is work.
std::vector<Moment> moments(const Recording& recording, const Ordering& order) {
  std::vector<Moment> all(recording.operations.size());
  std::map<std::pair<StreamKind, int>, std::size_t> lanes;
  Clock host;  // all that the host has waited for
  const auto join = [&](Clock& clock, std::size_t operation) {
    if (!counts(clock, all[operation])) clock.join(all[operation].clock);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Operation& operation = recording.operations[i];
    if (is_work(operation)) {
      Moment& moment = all[i];
      moment.lane = lanes.try_emplace({operation.stream.kind, operation.stream.index}, lanes.size()).first->second;
      moment.clock = host;
      for (const Dependency& before : order.device[i]) join(moment.clock, before.operation);
      moment.count = moment.clock[moment.lane] + 1;
      moment.clock.set(moment.lane, moment.count);
    }
    for (const std::size_t awaited : order.host[i]) join(host, awaited);
  }
  return all;
}

bool same_memory(const Access& a, const Access& b) {
  return a.place == b.place && a.array == b.array && a.buffer == b.buffer;
}

bool overlap(const Access& a, const Access& b) { return a.first < b.first + b.items && b.first < a.first + a.items; }

}  // namespace

CheckResult check(const Recording& recording) {
  const Ordering order = ordering(recording);
  CheckResult result{.hazards = {}, .waits_for_nothing = order.waits_for_nothing};
  const std::vector<Moment> all = moments(recording, order);

  /// Who touches each piece of memory.
  struct Touch {
    std::size_t operation;
    const Access* access;
  };
  std::map<std::tuple<Place, int, int>, std::vector<Touch>> memory;

  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    for (const Access& access : recording.operations[i].accesses) {
      memory[{access.place, access.array, access.buffer}].push_back({i, &access});
    }
  }

  for (auto& [where, touches] : memory) {
    // Sorted by where they begin, accesses that overlap are neighbours.
    std::ranges::stable_sort(touches, {}, [](const Touch& touch) { return touch.access->first; });
    for (auto earlier = touches.begin(); earlier != touches.end(); ++earlier) {
      const std::int64_t end = earlier->access->first + earlier->access->items;
      for (auto other = std::next(earlier); other != touches.end() && other->access->first < end; ++other) {
        const auto& [first, second] =
            std::minmax(*earlier, *other, [](const Touch& a, const Touch& b) { return a.operation < b.operation; });
        if (first.operation == second.operation || !(first.access->writes || second.access->writes)) continue;
        if (!overlap(*first.access, *second.access)) continue;
        if (counts(all[second.operation].clock, all[first.operation])) continue;
        result.hazards.push_back({first.operation, second.operation, *second.access});
      }
    }
  }
  std::ranges::stable_sort(result.hazards, {},
                           [](const Hazard& hazard) { return std::pair(hazard.first, hazard.second); });
  return result;
}

std::vector<std::string> left_undone(const Recording& recording) {
  std::vector<std::string> all;
  std::map<std::pair<int, int>, Chunk> inputs;  // what each buffer of each input holds
  std::map<int, Chunk> outputs;                 // what kernels have written to each buffer
  std::vector<Chunk> done;
  const auto holds = [](const auto& buffers, const auto& which, const Chunk& chunk) {
    const auto held = buffers.find(which);
    return held != buffers.end() && held->second.first == chunk.first && held->second.items >= chunk.items;
  };
  for (const Operation& operation : recording.operations) {
    const Chunk& chunk = operation.chunk;
    if (operation.kind == OperationKind::copy_in) inputs[{operation.array, chunk.buffer}] = chunk;
    if (operation.kind == OperationKind::kernel) {
      for (int input = 0; input < recording.job.workload->about.inputs; ++input) {
        if (holds(inputs, std::pair(input, chunk.buffer), chunk)) continue;
        all.push_back(fmt::format("no copy in before it brings what {} reads of input {}", describe(operation), input));
      }
      outputs[chunk.buffer] = chunk;
    }
    if (operation.kind == OperationKind::copy_out) {
      if (!holds(outputs, chunk.buffer, chunk)) {
        all.push_back(fmt::format("no kernel before it writes what {} takes", describe(operation)));
      }
      done.push_back(chunk);
    }
  }
  std::ranges::sort(done, {}, &Chunk::first);
  std::int64_t at = 0;  // items before are copied out
  const auto missing_to = [&](std::int64_t end) {
    if (at < end) all.push_back(fmt::format("no copy out takes items {} to {} of the output", at, end - 1));
  };
  for (const Chunk& chunk : done) {
    missing_to(chunk.first);
    at = std::max(at, chunk.first + chunk.items);
  }
  missing_to(recording.job.items);
  return all;
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
