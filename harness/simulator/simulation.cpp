#include "harness/simulator/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/schedule/ordering.hpp"
#include "harness/simulator/block_scheduler.hpp"
#include "harness/simulator/block_waves.hpp"
#include "harness/simulator/copy_engines.hpp"

namespace scanlab::simulator {

namespace {

using streams::Operation;
using streams::OperationKind;
using streams::Recording;

double most_copy_latency(const DeviceProfile& device) {
  return std::max({device.copy_latency.in, device.copy_latency.out, device.latency_both.in, device.latency_both.out,
                   device.latency_in_step.in, device.latency_in_step.out});
}

/// A hardware work queue's operations for one engine, in the order of issue.
struct Lane {
  std::vector<std::size_t> operations;
  std::size_t next = 0;  ///< all before have left
  std::size_t turn = 0;  ///< engines go through their lanes in this order, and first issued first in lanes of one turn

  bool empty() const { return next == operations.size(); }
  std::size_t front() const { return operations[next]; }
};

/// The host, the hardware work queues, and what waits for what; kernels and copies run in parts of their own.
class EngineModel {
 public:
  EngineModel(const Recording& recording, const DeviceProfile& device, const Costs& costs, const QueueNumbers& queues)
      : run_{recording, device, std::vector<Progress>(recording.operations.size())},
        operations_(recording.operations),
        ordering_(streams::ordering(recording)),
        copies_(run_),
        kernels_(costs.partitions.empty() ? std::vector{device.slots(costs.threads_per_block)} : costs.partitions,
                 device.resident_grids, operations_.size()),
        launch_(ticks(costs.launch_seconds)),
        dependents_(operations_.size()) {
    refuse_waits_for_nothing();
    streams::Timeline& timeline = run_.result.timeline;
    timeline.recording = &recording;
    timeline.issued.resize(operations_.size());
    double hand_over =
        std::max(device.hand_over, device.hand_over_busy) + std::max(device.kernel_latency, most_copy_latency(device));
    for (const OperationCost& cost : costs.operations) hand_over = std::max(hand_over, cost.call_seconds);
    timeline.latency = hand_over + 1e-9;
    assign_lanes(queues);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      try {
        call_time_.push_back(ticks(costs.operations[i].call_seconds));
        if (is_work(operations_[i])) prepare(i, costs.operations[i]);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(fmt::format("{} takes {}", describe(operations_[i]), error.what()));
      }
    }
    refuse_what_takes_too_long(costs);
  }

  Simulation run() && {
    auto& happenings = run_.happenings;
    if (run_.recording.captured) keep_host(launch_, Host::ready);  // all operations at once, by one call
    for (;;) {
      drive_host();
      start_ready();
      if (happenings.empty() && !kernels_.runs()) break;
      run_.now = happenings.empty() ? kernels_.next_end()
                 : kernels_.runs()  ? std::min(happenings.top().at, kernels_.next_end())
                                    : happenings.top().at;
      while (!happenings.empty() && happenings.top().at == run_.now) {
        const Happening happening = happenings.top();
        happenings.pop();
        happen(happening);
      }
      while (kernels_.runs() && kernels_.next_end() == run_.now) {
        if (const auto done = kernels_.end_blocks(run_.now)) complete(*done);
      }
    }
    Simulation& result = run_.result;
    if (next_ != operations_.size() || done_ != result.timeline.spans.size()) {
      throw std::logic_error("the simulated device stands still");
    }
    result.seconds = std::max(result.seconds, seconds(run_.now + host_wait()));
    return std::move(result);
  }

 private:
  // ---- before it runs

  void refuse_waits_for_nothing() const {
    if (ordering_.waits_for_nothing.empty()) return;
    const std::size_t wait = ordering_.waits_for_nothing.front();
    throw ScheduleError(
        fmt::format("{} (operation {}): no earlier operation records that event, so it would wait for nothing; record "
                    "it first",
                    describe(operations_[wait]), wait));
  }

  void refuse_what_takes_too_long(const Costs& costs) const {
    const DeviceProfile& device = run_.device;
    const double slowdown = std::max(device.alone.in / device.both.in, device.alone.out / device.both.out);
    double total = 0;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const OperationCost& cost = costs.operations[i];
      const auto waves = static_cast<double>(streams::waves(cost.blocks, device.slots(costs.threads_per_block)));
      total += cost.call_seconds + device.host_wait + std::max(device.hand_over, device.hand_over_busy) +
               most_copy_latency(device) + device.kernel_latency + 1e-6 * operations_[i].microseconds +
               cost.copy_seconds * slowdown + cost.block_seconds * waves * std::max(1.0, cost.share);
    }
    if (total <= kLongest) return;
    throw std::invalid_argument(
        fmt::format("{:.9g} seconds of operations are more than the {} that are simulated: "
                    "take fewer items, or shorter times",
                    total, kLongest));
  }

  /// An operation's queue and, in it, its engine.
  void assign_lanes(const QueueNumbers& queues) {
    std::map<std::pair<int, int>, std::size_t> numbers;
    const int in = copies_.serving(true);
    const int out = copies_.serving(false);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (!is_work(operation)) continue;
      const int engine = is_kernel(operation) ? -1 : copies_in(operation) ? in : out;
      const auto where = runs_alone_ ? std::pair(0, 0) : std::pair(static_cast<int>(queues[i]), engine);
      const auto [at, is_new] = numbers.try_emplace(where, numbers.size());
      run_.progress[i].lane = at->second;
      if (!is_new) continue;
      lanes_.push_back({.turn = run_.device.drains_queues ? static_cast<std::size_t>(where.first) : 0});
    }
  }

  void prepare(std::size_t operation, const OperationCost& cost) {
    Progress& progress = run_.progress[operation];
    progress.span = run_.result.timeline.spans.size();
    run_.result.timeline.spans.push_back({.operation = operation, .channel = static_cast<unsigned>(progress.lane)});
    run_.result.copy_engine.emplace_back();
    const auto& waits_for = ordering_.device[operation];
    for (const streams::Dependency& each : waits_for) dependents_[each.operation].push_back(operation);
    progress.waits_for = static_cast<std::uint32_t>(waits_for.size());
    progress.checks_a_kernel = std::ranges::any_of(
        waits_for, [&](const streams::Dependency& each) { return is_kernel(operations_[each.operation]); });
    if (is_kernel(operations_[operation])) {
      kernels_.add(operation, cost);
      launches_.push_back(operation);
    } else {
      copies_.add(operation, cost.copy_seconds);
    }
  }

  // ---- the host

  enum class Host { ready, called, waits, returned, busy };

  Ticks host_wait() const { return ticks(run_.device.host_wait); }

  /// The host is busy for this time, if any, and then in state `then`.
  void keep_host(Ticks time, Host then) {
    host_ = time > 0 ? Host::busy : then;
    host_then_ = then;
    if (time > 0) run_.happenings.push({.at = run_.now + time, .operation = next_, .what = What::host_goes_on});
  }

  /// As far as it comes at this moment.
  void drive_host() {
    const bool captured = run_.recording.captured;
    while (next_ < operations_.size() && host_ != Host::busy) {
      const Operation& operation = operations_[next_];
      streams::Interval& issued = run_.result.timeline.issued[next_];
      if (host_ == Host::ready) {
        issued.start = captured ? 0 : seconds(run_.now);
        const bool works = operation.kind == OperationKind::host_work;
        keep_host(captured ? 0 : works ? ticks(1e-6 * operation.microseconds) : call_time_[next_], Host::called);
      } else if (host_ == Host::called) {
        if (is_work(operation)) issue(next_);
        begin_wait(operation);
        host_ = Host::waits;
      } else if (host_ == Host::waits) {
        if (awaited_ > 0) return;
        keep_host(waited_ ? host_wait() : 0, Host::returned);
      } else {
        run_.result.seconds = issued.end = seconds(run_.now);
        ++next_;
        host_ = Host::ready;
      }
    }
  }

  void issue(std::size_t operation) {
    Progress& progress = run_.progress[operation];
    progress.issued = true;
    lanes_[progress.lane].operations.push_back(operation);
    held_until(operation, run_.now);
  }

  /// An operation that nothing but time holds is looked at when that has passed.
  void held_until(std::size_t operation, Ticks time) {
    Progress& progress = run_.progress[operation];
    progress.ready = std::max(progress.ready, time);
    if (progress.waits_for > 0 || !progress.issued) return;
    if (progress.ready > run_.now) {
      run_.happenings.push({.at = progress.ready, .operation = operation, .what = What::may_start});
    } else {
      look_at(progress.lane);
    }
  }

  void begin_wait(const Operation& operation) {
    waited_ = false;
    // The device runs a graph's copies of pageable memory, too, and the one call that launches it has returned.
    if (run_.recording.captured) return;
    const auto wait_for = [&](std::size_t other) {
      Progress& progress = run_.progress[other];
      if (progress.done || std::exchange(progress.host_waits, true)) return;
      ++awaited_;
    };
    const bool holds = streams::host_wait(run_.recording, operation) != streams::HostWait::none;
    if (holds) wait_for(next_);
    for (const std::size_t other : ordering_.host[next_]) wait_for(other);
    waited_ = holds || !ordering_.host[next_].empty() || operation.kind == OperationKind::synchronize_device;
  }

  // ---- what happens

  void happen(const Happening& happening) {
    if (happening.what == What::host_goes_on) {
      host_ = host_then_;
    } else if (happening.what == What::may_start) {
      look_at(run_.progress[happening.operation].lane);
    } else if (happening.what == What::grid_arrives) {
      kernels_.arrive(happening.operation);
    } else if (const auto done = copies_.happen(happening)) {
      complete(*done);
    }
  }

  void complete(std::size_t operation) {
    Progress& progress = run_.progress[operation];
    progress.done = true;
    run_.span(operation).when.end = seconds(run_.now);
    ++done_;
    --running_;
    if (progress.host_waits) --awaited_;
    const bool busy = run_.device.hand_over_busy > 0 && copies_.copying_in();
    for (const std::size_t dependent : dependents_[operation]) {
      --run_.progress[dependent].waits_for;
      held_until(dependent, run_.now + hand_over(operation, dependent, busy));
    }
  }

  /// Copies of one way follow each other without a pause: what lies between them is their latency. `busy`: a copy in
  /// keeps the bus from what the device reads to go on.
  Ticks hand_over(std::size_t from, std::size_t to, bool busy) const {
    const bool same_engine = engine_of(operations_[from]) == engine_of(operations_[to]);
    if (same_engine && is_copy(operations_[from])) return 0;
    return ticks(std::max(same_engine ? 0 : run_.device.hand_over, busy ? run_.device.hand_over_busy : 0));
  }

  // ---- what starts

  void look_at(std::size_t lane) {
    if (!lanes_[lane].empty()) to_look_at_.emplace(lanes_[lane].front(), lane);
  }

  void start_ready() {
    const bool by_launches = run_.device.waits_for_started_launches;
    if (by_launches || runs_alone_) {  // what holds a lane may lie outside it
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) look_at(lane);
    }
    for (const auto& [operation, lane] : std::exchange(to_look_at_, {})) advance(lane);
    copies_.start([this](std::size_t operation) {
      ++running_;
      const std::size_t lane = run_.progress[operation].lane;
      ++lanes_[lane].next;
      advance(lane);  // the next of its lane may find another engine
    });
    copies_.set_rates();
    const BlockScheduler::Started started = kernels_.start_blocks(run_.now);
    for (const std::size_t grid : started.grids) run_.span(grid).when.start = seconds(run_.now);
    // A grid whose last blocks have just started may have held an operation back.
    if (started.all_of_one && by_launches) start_ready();
    kernels_.set_paces(run_.now);
  }

  /// Hands on from a lane what can go: kernels to the block scheduler, one copy to the engines.
  void advance(std::size_t number) {
    Lane& lane = lanes_[number];
    while (!lane.empty()) {
      const std::size_t operation = lane.front();
      Progress& progress = run_.progress[operation];
      if (progress.waits_for > 0 || progress.offered || progress.ready > run_.now) return;
      if (runs_alone_ && running_ > 0) return;
      if (run_.device.waits_for_started_launches && held_by_launches(operation)) return;
      if (is_copy(operations_[operation])) {
        progress.offered = true;
        copies_.offer(operation, lane.turn);
        return;
      }
      ++lane.next;
      ++running_;
      if (progress.held_by) {
        run_.span(operation).held = {seconds(run_.now), streams::Idle::launches, progress.held_by};
      }
      const Ticks arrives = run_.now + ticks(run_.device.kernel_latency);
      run_.happenings.push({.at = arrives, .operation = operation, .what = What::grid_arrives});
    }
  }

  /// The rule of compute capability 2.0 to 3.0.
  bool held_by_launches(std::size_t operation) {
    Progress& progress = run_.progress[operation];
    if (progress.checks_a_kernel) {
      while (unstarted_ < launches_.size() && kernels_.all_started(launches_[unstarted_])) ++unstarted_;
      if (unstarted_ < launches_.size() && launches_[unstarted_] < operation) {
        progress.held_by = launches_[unstarted_];
        return true;
      }
    }
    if (!is_kernel(operations_[operation])) return false;
    for (; unchecked_ < operation; ++unchecked_) {
      for (const streams::Dependency& each : ordering_.device[unchecked_]) {
        if (!is_kernel(operations_[each.operation]) || run_.progress[each.operation].done) continue;
        progress.held_by = each.operation;
        return true;
      }
    }
    return false;
  }

  ModelRun run_;
  const std::vector<Operation>& operations_;
  streams::Ordering ordering_;
  CopyEngines copies_;
  BlockScheduler kernels_;
  const Ticks launch_;
  std::vector<Ticks> call_time_;                      ///< by operation, as is the next
  std::vector<std::vector<std::size_t>> dependents_;  ///< who waits for it
  const bool runs_alone_ = run_.device.copy_engines.empty();

  Host host_ = Host::ready;
  Host host_then_ = Host::ready;
  std::size_t next_ = 0;     ///< the operation that the host is at
  std::size_t awaited_ = 0;  ///< operations that the host waits for
  bool waited_ = false;      ///< the host, in this operation: it takes a while to go on
  std::size_t done_ = 0;
  std::size_t running_ = 0;  ///< left their lanes, and not done

  std::vector<Lane> lanes_;
  std::map<std::size_t, std::size_t> to_look_at_;  ///< lanes, by their first operations
  std::vector<std::size_t> launches_;              ///< kernels, in the order of issue
  std::size_t unstarted_ = 0;                      ///< in launches_: all before have started all their blocks
  std::size_t unchecked_ = 0;                      ///< no operation before waits for a kernel that is not done
};

}  // namespace

QueueNumbers modelled_queues(const Recording& recording, const DeviceProfile& device) {
  const int copy_queues =
      device.copy_queues == 0 ? device.hardware_queues : std::min(device.hardware_queues, device.copy_queues);
  QueueNumbers all;
  all.reserve(recording.operations.size());
  for (const Operation& operation : recording.operations) {
    const int queues = is_copy(operation) ? copy_queues : device.hardware_queues;
    all.push_back(static_cast<unsigned>(operation.stream.created() ? operation.stream.index % queues : queues - 1));
  }
  return all;
}

Simulation simulate(const Recording& recording, const DeviceProfile& device, const Costs& costs,
                    const QueueNumbers& queues) {
  return EngineModel(recording, device, costs, queues.empty() ? modelled_queues(recording, device) : queues).run();
}

}  // namespace scanlab::simulator
