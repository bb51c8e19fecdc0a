#include "harness/schedule/hazards.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

namespace {

/// A vector clock: of each stream, how many of its copies and kernels come before.
using Clock = std::vector<std::int32_t>;

void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t lane = 0; lane < other.size(); ++lane) clock[lane] = std::max(clock[lane], other[lane]);
}

/// Where a copy or a kernel stands: the `count`-th of its stream, behind all that `clock` counts, itself among them.
struct Moment {
  std::size_t lane = 0;
  std::int32_t count = 0;
  Clock clock;
};

bool counts(const Clock& clock, const Moment& moment) {
  return moment.lane < clock.size() && clock[moment.lane] >= moment.count;
}

/// The moment of each operation that is work.
std::vector<Moment> moments(const Recording& recording, const Ordering& order) {
  std::vector<Moment> all(recording.operations.size());
  std::map<std::pair<StreamKind, int>, std::size_t> lanes;
  Clock host;  // all that the host has waited for
  const auto wait_for = [&](Clock& clock, std::size_t operation) {
    if (!counts(clock, all[operation])) join(clock, all[operation].clock);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Operation& operation = recording.operations[i];
    if (is_work(operation)) {
      Moment& moment = all[i];
      moment.lane = lanes.try_emplace({operation.stream.kind, operation.stream.index}, lanes.size()).first->second;
      moment.clock = host;
      for (const Dependency& before : order.device[i]) wait_for(moment.clock, before.operation);
      if (moment.lane >= moment.clock.size()) moment.clock.resize(moment.lane + 1);
      moment.count = ++moment.clock[moment.lane];
    }
    for (const std::size_t awaited : order.host[i]) wait_for(host, awaited);
  }
  return all;
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
        result.hazards.push_back({first.operation, second.operation, first.access->writes, *second.access});
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
  const auto verb = [](bool writes) { return writes ? "writes" : "reads"; };
  return fmt::format("nothing orders {}, which {} {}, and {}, which {} it",
                     describe(recording.operations[hazard.first]), verb(hazard.first_writes), describe(hazard.access),
                     describe(recording.operations[hazard.second]), verb(hazard.access.writes));
}

bool as_expected(const CheckedSchedule& checked) {
  const bool issues = checked.recording.buffers > 0;
  const bool ordered = checked.result.ordered();
  return checked.chosen.schedule->about.control ? ordered != issues : ordered && checked.undone.empty();
}

void print(const CheckedSchedule& checked, bool brief, std::ostream& out) {
  const Job& job = checked.chosen.job;
  const bool control = checked.chosen.schedule->about.control;
  const auto& [hazards, waits_for_nothing] = checked.result;
  const std::size_t faults = hazards.size() + waits_for_nothing.size() + checked.undone.size();
  const auto fault = [&](std::size_t i) {
    if (i < hazards.size()) return describe(checked.recording, hazards[i]);
    i -= hazards.size();
    if (i >= waits_for_nothing.size()) return checked.undone[i - waits_for_nothing.size()];
    return fmt::format("{} waits for nothing: no earlier operation records the event",
                       describe(checked.recording.operations[waits_for_nothing[i]]));
  };
  const std::string verdict =
      faults == 0 ? "ordered"
                  : fmt::format("NOT {}: {} faults", checked.result.ordered() ? "THE WHOLE JOB" : "ORDERED", faults);
  const bool caught = !checked.result.ordered();
  const char* const remark = !control               ? ""
                             : caught               ? " (a control, kept to be caught: it is)"
                             : as_expected(checked) ? " (a control, but nothing is issued)"
                                                    : " (a control, kept to be caught: it is NOT)";
  fmt::print(out, "{}, {}: {} items in {} chunks, {} streams, {}: {} operations, {}{}\n",
             checked.chosen.schedule->about.id, job.workload->about.id, job.items, job.chunks, job.streams,
             name(job.memory), checked.recording.operations.size(), verdict, remark);
  constexpr std::size_t kShown = 20;  // a schedule that is wrong is so in every chunk
  const std::size_t shown = std::min(faults, brief && control ? 1 : kShown);
  for (std::size_t i = 0; i < shown; ++i) fmt::print(out, "  {}\n", fault(i));
  if (shown == kShown && shown < faults) {
    fmt::print(out, "  and {} more: --json has them all\n", faults - shown);
  }
}

}  // namespace scanlab::streams
