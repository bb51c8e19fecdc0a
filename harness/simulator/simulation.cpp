#include "harness/simulator/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "harness/simulator/block_waves.hpp"

namespace scanlab::simulator {

namespace {

using streams::Operation;
using streams::OperationKind;
using streams::Recording;

/// Femtoseconds: the time of a block, rounded, is counted thousands of times.
using Ticks = std::int64_t;
constexpr double kTick = 1e-15;
constexpr int kSpreadGroups = 16;  ///< of blocks that start together, and do not end so
constexpr double kLongest = 1e3;   // seconds of one run, if nothing overlaps: far from what Ticks hold

Ticks ticks(double seconds) {
  if (!(seconds >= 0 && seconds <= kLongest)) {
    throw std::invalid_argument(fmt::format("{} seconds are no time for an operation", seconds));
  }
  return std::llround(seconds / kTick);
}

bool is_kernel(const Operation& operation) { return streams::is_work(operation) && !is_copy(operation); }
bool copies_in(const Operation& operation) { return operation.kind == OperationKind::copy_in; }

/// A hardware queue's operations for one engine, in the order of issue.
struct Lane {
  std::vector<std::size_t> operations;
  std::size_t next = 0;  ///< all before have left
  bool listed = false;   ///< to be looked at
  std::size_t turn = 0;  ///< engines go through their lanes in this order, and first issued first in lanes of one turn

  bool empty() const { return next == operations.size(); }
  std::size_t front() const { return operations[next]; }
};

/// What is known of an operation that is work.
struct Work {
  std::size_t lane = 0;
  std::size_t span = 0;
  std::uint32_t waits_for = 0;  ///< dependencies that are not done
  bool issued = false;
  bool offered = false;  ///< a copy, to the engines
  bool done = false;
  bool host_waits = false;
  bool all_started = false;  ///< of a kernel: all blocks
  bool checks_a_kernel = false;
  Ticks ready = 0;                     ///< when it was issued and all that it waits for was done
  std::optional<std::size_t> held_by;  ///< the launch for which the rule of compute capability 2.0 to 3.0 held it
  // Of a kernel:
  std::int64_t blocks_left = 0;  ///< to be started
  std::int64_t blocks_running = 0;
  Ticks block_time = 0;
  double block_share = 0;
  Ticks block_spread = 0;
};

struct Engine {
  CopyEngine ways;
  std::optional<std::size_t> operation;  ///< that it copies
  bool moving = false;                   ///< past the latency
  Ticks taken = 0;                       ///< when that copy got it
  Ticks latest = 0;                      ///< when its bytes flow if nothing shortens its latency
  double left = 0;                       ///< ticks of the copy, at the rate that one way has alone
  double slowdown = 0;                   ///< how many times longer it takes now; 0: not known yet
  Ticks since = 0;                       ///< when `left` was right
  std::uint32_t version = 0;             ///< of what is foretold of it, more than once
  std::optional<std::size_t> last;       ///< that it copied before
  Ticks last_end = 0;
  std::size_t turn = 0;  ///< of the lane that it serves
};

enum class What { call_returns, wait_ends, may_start, grid_arrives, bytes_flow, copy_ends };

struct Happening {
  Ticks at = 0;
  std::size_t operation = 0;
  What what{};
  int engine = 0;
  std::uint32_t version = 0;

  auto key() const { return std::tuple(at, operation, what); }
  bool operator>(const Happening& other) const { return key() > other.key(); }
};

/// Blocks of one grid that started together and end together.
struct Cohort {
  Ticks end = 0;  ///< by the grid's own time
  std::int64_t blocks = 0;

  bool operator>(const Cohort& other) const { return end > other.end; }
};

/// A kernel some of whose blocks run. Its own time is slower where the device cannot give its blocks all they ask for.
struct Grid {
  std::size_t operation = 0;
  Ticks own_time = 0;  ///< at `since`
  Ticks since = 0;
  double pace = 1;              ///< of its own time
  std::vector<Cohort> cohorts;  ///< a heap, the first to end on top

  Ticks own_time_at(Ticks now) const {
    return own_time + (pace == 1 ? now - since : std::llround(static_cast<double>(now - since) * pace));
  }
  /// When the next of its blocks end.
  Ticks next_end() const {
    if (pace == 0 || cohorts.empty()) return std::numeric_limits<Ticks>::max();
    const Ticks left = cohorts.front().end - own_time;
    return since + (pace == 1 ? left : std::llround(static_cast<double>(left) / pace));
  }
};

/// Of blocks that start together, those of one group end so much after the mean, in parts of the spread: from -1 to 1.
double place(int group, int groups) { return groups == 1 ? 0 : 2.0 * group / (groups - 1) - 1; }

double most_copy_latency(const DeviceProfile& device) {
  return std::max({device.copy_latency.in, device.copy_latency.out, device.latency_both.in, device.latency_both.out,
                   device.latency_in_step.in, device.latency_in_step.out});
}

class Machine {
 public:
  Machine(const Recording& recording, const DeviceProfile& device, const Costs& costs, const QueueNumbers& queues)
      : recording_(recording),
        operations_(recording.operations),
        device_(device),
        ordering_(streams::ordering(recording)),
        work_(operations_.size()),
        copy_time_(operations_.size()),
        slots_(device.slots(costs.threads_a_block)),
        free_(slots_),
        launch_(ticks(costs.launch_seconds)),
        host_wait_(ticks(device.host_wait)),
        hand_over_(ticks(device.hand_over)),
        hand_over_busy_(ticks(device.hand_over_busy)),
        kernel_latency_(ticks(device.kernel_latency)) {
    refuse_waits_for_nothing();
    if (slots_ < 1) throw std::invalid_argument("the device holds no block of such a shape");
    if (costs.operations.size() != operations_.size()) throw std::invalid_argument("not a cost for each operation");
    for (const CopyEngine& ways : device.copy_engines) engines_.push_back({.ways = ways});
    result_.timeline.recording = &recording;
    result_.timeline.issued.resize(operations_.size());
    double hand_over =
        std::max(device.hand_over, device.hand_over_busy) + std::max(device.kernel_latency, most_copy_latency(device));
    for (const Cost& cost : costs.operations) hand_over = std::max(hand_over, cost.call_seconds);
    result_.timeline.latency = hand_over + 1e-9;
    assign_lanes(queues);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      call_time_.push_back(ticks(costs.operations[i].call_seconds));
      if (streams::is_work(operations_[i])) prepare(i, costs.operations[i]);
    }
    refuse_what_takes_too_long(costs);
    link_dependents();
  }

  Simulation run() && {
    if (recording_.captured) launch_graph();
    for (;;) {
      drive_host();
      start_what_can();
      if (happenings_.empty() && running_grids_.empty()) break;
      now_ = happenings_.empty()      ? next_cohort_end()
             : running_grids_.empty() ? happenings_.top().at
                                      : std::min(happenings_.top().at, next_cohort_end());
      while (!happenings_.empty() && happenings_.top().at == now_) {
        const Happening happening = happenings_.top();
        happenings_.pop();
        happen(happening);
      }
      while (!running_grids_.empty() && next_cohort_end() == now_) end_cohort();
    }
    if (next_ != operations_.size() || done_ != result_.timeline.spans.size()) {
      throw std::logic_error("the simulated device stands still");
    }
    result_.seconds = std::max(result_.seconds, seconds(now_ + host_wait_));
    return std::move(result_);
  }

 private:
  // ---- before it runs

  void refuse_waits_for_nothing() const {
    if (ordering_.waits_for_nothing.empty()) return;
    const std::size_t wait = ordering_.waits_for_nothing.front();
    const Operation& operation = operations_[wait];
    std::string before;
    for (std::size_t i = wait + 1; i < operations_.size() && before.empty(); ++i) {
      const bool held = operation.kind == OperationKind::synchronize_event || operations_[i].stream == operation.stream;
      if (streams::is_work(operations_[i]) && held) before = ", before " + describe(operations_[i]);
    }
    throw ScheduleError(fmt::format(
        "{} (operation {}){}: no earlier operation records that event, so it would wait for nothing; record "
        "it first",
        describe(operation), wait, before));
  }

  void refuse_what_takes_too_long(const Costs& costs) const {
    const double slowdown = std::max(device_.alone.in / device_.both.in, device_.alone.out / device_.both.out);
    double total = 0;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Cost& cost = costs.operations[i];
      const double waves = std::ceil(static_cast<double>(cost.blocks) / static_cast<double>(slots_));
      total += cost.call_seconds + device_.host_wait + std::max(device_.hand_over, device_.hand_over_busy) +
               most_copy_latency(device_) + device_.kernel_latency + 1e-6 * operations_[i].microseconds +
               cost.copy_seconds * slowdown + cost.block_seconds * waves * std::max(1.0, cost.share);
    }
    if (total <= kLongest) return;
    throw std::invalid_argument(
        fmt::format("{:.3g} seconds of operations are more than the {:.3g} that are simulated: "
                    "take fewer items, or shorter times",
                    total, kLongest));
  }

  /// An operation's queue and, in it, its engine.
  void assign_lanes(const QueueNumbers& queues) {
    std::map<std::pair<int, int>, std::size_t> numbers;
    const auto serves = [&](bool in) {
      const auto first = std::ranges::find_if(engines_, [&](const Engine& e) { return in ? e.ways.in : e.ways.out; });
      return static_cast<int>(first - engines_.begin());
    };
    const int in = serves(true);
    const int out = serves(false);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (!streams::is_work(operation)) continue;
      std::pair<int, int> where{static_cast<int>(queues[i]), is_kernel(operation)   ? -1
                                                             : copies_in(operation) ? in
                                                                                    : out};
      if (engines_.empty()) where = {0, 0};
      const auto [at, is_new] = numbers.try_emplace(where, numbers.size());
      if (is_new) lanes_.emplace_back();
      work_[i].lane = at->second;
    }
    waiting_copies_.resize(engines_.size());
    lane_engine_.resize(lanes_.size());
    for (const auto& [where, number] : numbers) {
      lane_engine_[number] = std::max(0, where.second);
      lanes_[number].turn = device_.drains_queues ? static_cast<std::size_t>(where.first) : 0;
    }
  }

  void prepare(std::size_t operation, const Cost& cost) {
    Work& work = work_[operation];
    work.span = result_.timeline.spans.size();
    result_.timeline.spans.push_back({.operation = operation, .channel = static_cast<unsigned>(work.lane)});
    result_.copy_engine.emplace_back();
    const auto& waits_for = ordering_.device[operation];
    work.waits_for = static_cast<std::uint32_t>(waits_for.size());
    work.checks_a_kernel = std::ranges::any_of(
        waits_for, [&](const streams::Dependency& each) { return is_kernel(operations_[each.operation]); });
    if (is_kernel(operations_[operation])) {
      if (cost.blocks < 1) throw std::invalid_argument("a kernel has one block at least");
      work.blocks_left = cost.blocks;
      work.block_time = ticks(cost.block_seconds);
      work.block_spread = ticks(cost.spread * cost.block_seconds);
      work.block_share = cost.share / static_cast<double>(std::min(cost.blocks, slots_));
      kernels_.push_back(operation);
    } else {
      copy_time_[operation] = ticks(cost.copy_seconds);
    }
  }

  /// Who waits for each operation: one array for all, and where each one's part of it begins.
  void link_dependents() {
    first_dependent_.assign(operations_.size() + 1, 0);
    for (const auto& waits_for : ordering_.device) {
      for (const streams::Dependency& each : waits_for) ++first_dependent_[each.operation + 1];
    }
    for (std::size_t i = 1; i < first_dependent_.size(); ++i) first_dependent_[i] += first_dependent_[i - 1];
    dependents_.resize(first_dependent_.back());
    std::vector<std::size_t> at(first_dependent_.begin(), first_dependent_.end() - 1);
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      for (const streams::Dependency& each : ordering_.device[i]) dependents_[at[each.operation]++] = i;
    }
  }

  // ---- the host

  enum class Host { ready, in_call, called, waits, returns };

  /// All operations at once, by one call.
  void launch_graph() {
    happenings_.push({.at = launch_, .operation = 0, .what = What::call_returns});
    host_ = Host::in_call;
  }

  /// As far as it comes at this moment.
  void drive_host() {
    while (next_ < operations_.size() && host_ != Host::in_call && host_ != Host::returns) {
      const Operation& operation = operations_[next_];
      streams::Interval& issued = result_.timeline.issued[next_];
      if (host_ == Host::ready) {
        issued.start = recording_.captured ? 0 : seconds(now_);
        const bool works = operation.kind == OperationKind::host_work;
        const Ticks call = recording_.captured ? 0 : works ? ticks(1e-6 * operation.microseconds) : call_time_[next_];
        host_ = call > 0 ? Host::in_call : Host::called;
        if (call > 0) happenings_.push({.at = now_ + call, .operation = next_, .what = What::call_returns});
      } else if (host_ == Host::called) {
        if (streams::is_work(operation)) issue(next_);
        begin_wait(operation);
        host_ = Host::waits;
      } else {
        if (awaited_ > 0) return;
        if (std::exchange(waited_, false) && host_wait_ > 0) {
          host_ = Host::returns;
          happenings_.push({.at = now_ + host_wait_, .operation = next_, .what = What::wait_ends});
          return;
        }
        issued.end = seconds(now_);
        result_.seconds = issued.end;
        ++next_;
        host_ = Host::ready;
      }
    }
  }

  void issue(std::size_t operation) {
    Work& work = work_[operation];
    work.issued = true;
    lanes_[work.lane].operations.push_back(operation);
    held_until(operation, now_);
  }

  /// An operation that nothing but time holds is looked at when that has passed.
  void held_until(std::size_t operation, Ticks time) {
    Work& work = work_[operation];
    work.ready = std::max(work.ready, time);
    if (work.waits_for > 0 || !work.issued) return;
    if (work.ready > now_) {
      happenings_.push({.at = work.ready, .operation = operation, .what = What::may_start});
    } else {
      look_at(work.lane);
    }
  }

  void begin_wait(const Operation& operation) {
    const auto wait_for = [&](std::size_t other) {
      if (work_[other].done || work_[other].host_waits) return;
      work_[other].host_waits = true;
      ++awaited_;
    };
    const bool holds = streams::host_wait(recording_, operation) != streams::HostWait::none;
    if (holds) wait_for(next_);
    for (const std::size_t other : ordering_.host[next_]) wait_for(other);
    waited_ = holds || !ordering_.host[next_].empty() || operation.kind == OperationKind::synchronize_device;
  }

  // ---- what happens

  void happen(const Happening& happening) {
    switch (happening.what) {
      case What::call_returns:
        host_ = recording_.captured ? Host::ready : Host::called;
        return;
      case What::wait_ends:
        host_ = Host::waits;
        return;
      case What::may_start:
        look_at(work_[happening.operation].lane);
        return;
      case What::grid_arrives:
        grids_.push_back(happening.operation);
        return;
      case What::bytes_flow:
      case What::copy_ends:
        break;
    }
    Engine& engine = engines_.empty() ? alone_ : engines_[static_cast<std::size_t>(happening.engine)];
    if (engine.version != happening.version) return;  // foretold when the other way was as it is no longer
    rates_changed_ = true;
    if (happening.what == What::bytes_flow) {
      engine.moving = true;
      // What it waited beyond its own latency was for the other way.
      const Ticks own = now_ - latency(happening.operation, device_.copy_latency);
      span(happening.operation).when.start = seconds(std::max(engine.taken, own));
      return;
    }
    engine.last = std::exchange(engine.operation, {});
    engine.last_end = now_;
    engine.moving = false;
    for (Engine& other : engines_) {
      if (waits_for(other, happening.operation)) {
        flow(other, std::min(other.latest, now_ + latency(*other.operation, device_.copy_latency)));
      }
    }
    complete(happening.operation);
  }

  /// The grid whose blocks end next; of several, that of the first issued.
  std::vector<Grid>::iterator next_grid_to_end() {
    return std::ranges::min_element(running_grids_, {},
                                    [](const Grid& grid) { return std::pair(grid.next_end(), grid.operation); });
  }
  Ticks next_cohort_end() { return next_grid_to_end()->next_end(); }

  void end_cohort() {
    const auto grid = next_grid_to_end();
    const std::size_t operation = grid->operation;
    std::ranges::pop_heap(grid->cohorts, std::greater<>{});
    const Cohort cohort = grid->cohorts.back();
    grid->cohorts.pop_back();
    grid->own_time = cohort.end;
    grid->since = now_;
    free_ += cohort.blocks;
    Work& work = work_[operation];
    work.blocks_running -= cohort.blocks;
    if (work.blocks_left > 0 || work.blocks_running > 0) return;
    running_grids_.erase(grid);
    complete(operation);
  }

  void complete(std::size_t operation) {
    Work& work = work_[operation];
    work.done = true;
    span(operation).when.end = seconds(now_);
    ++done_;
    --running_;
    if (work.host_waits) --awaited_;
    const bool busy = hand_over_busy_ > 0 && std::ranges::any_of(engines_, [&](const Engine& engine) {
                        return engine.moving && copies_in(operations_[*engine.operation]);
                      });
    for (std::size_t i = first_dependent_[operation]; i < first_dependent_[operation + 1]; ++i) {
      const std::size_t dependent = dependents_[i];
      --work_[dependent].waits_for;
      held_until(dependent, now_ + hand_over(operation, dependent, busy));
    }
  }

  /// Copies of one way follow each other without a pause: what lies between them is their latency. `busy`: a copy in
  /// keeps the bus from what the device reads to go on.
  Ticks hand_over(std::size_t from, std::size_t to, bool busy) const {
    const bool same_engine = engine_of(operations_[from]) == engine_of(operations_[to]);
    if (same_engine && is_copy(operations_[from])) return 0;
    return std::max(same_engine ? 0 : hand_over_, busy ? hand_over_busy_ : 0);
  }

  // ---- what starts

  void look_at(std::size_t lane) {
    if (std::exchange(lanes_[lane].listed, true)) return;
    to_look_at_.push_back(lane);
  }

  void start_what_can() {
    if (device_.waits_for_started_launches || engines_.empty()) {  // what holds a lane may lie outside it
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) look_at(lane);
    }
    const auto first = [&](std::size_t lane) {
      return lanes_[lane].empty() ? operations_.size() : lanes_[lane].front();
    };
    std::ranges::sort(to_look_at_, {}, first);
    for (const std::size_t lane : to_look_at_) {
      lanes_[lane].listed = false;
      advance(lane);
    }
    to_look_at_.clear();
    start_copies();
    set_rates();
    // A grid whose last blocks have just started may have held an operation back.
    if (start_blocks() && device_.waits_for_started_launches) start_what_can();
    set_paces();
  }

  /// Hands on from a lane what can go: kernels to the block scheduler, one copy to the engines.
  void advance(std::size_t number) {
    Lane& lane = lanes_[number];
    while (!lane.empty()) {
      const std::size_t operation = lane.front();
      Work& work = work_[operation];
      if (work.waits_for > 0 || work.offered || work.ready > now_) return;
      if (engines_.empty() && running_ > 0) return;
      if (device_.waits_for_started_launches && held_by_launches(operation)) return;
      if (is_copy(operations_[operation]) && !engines_.empty()) {
        work.offered = true;
        waiting_copies_[static_cast<std::size_t>(lane_engine_[number])].insert({lane.turn, operation});
        return;
      }
      ++lane.next;
      ++running_;
      if (work.held_by) span(operation).held = {seconds(now_), streams::Idle::launches, work.held_by};
      if (is_copy(operations_[operation])) {
        span(operation).when.start = seconds(now_);
        const Ticks end = now_ + latency(operation, device_.copy_latency) + copy_time_[operation];
        happenings_.push({.at = end, .operation = operation, .what = What::copy_ends});
      } else {
        happenings_.push({.at = now_ + kernel_latency_, .operation = operation, .what = What::grid_arrives});
      }
    }
  }

  /// The rule of compute capability 2.0 to 3.0.
  bool held_by_launches(std::size_t operation) {
    Work& work = work_[operation];
    if (work.checks_a_kernel) {
      while (unstarted_ < kernels_.size() && work_[kernels_[unstarted_]].all_started) ++unstarted_;
      if (unstarted_ < kernels_.size() && kernels_[unstarted_] < operation) {
        work.held_by = kernels_[unstarted_];
        return true;
      }
    }
    if (!is_kernel(operations_[operation])) return false;
    for (; unchecked_ < operation; ++unchecked_) {
      for (const streams::Dependency& each : ordering_.device[unchecked_]) {
        if (!is_kernel(operations_[each.operation]) || work_[each.operation].done) continue;
        work.held_by = each.operation;
        return true;
      }
    }
    return false;
  }

  void start_copies() {
    for (Copies& waiting : waiting_copies_) {
      for (Engine& engine : engines_) {
        while (!engine.operation && !waiting.empty()) {
          auto next = waiting.lower_bound({engine.turn, 0});
          if (next == waiting.end()) next = waiting.begin();
          if (!engine.last) next = std::ranges::min_element(waiting, {}, &std::pair<std::size_t, std::size_t>::second);
          const std::size_t operation = next->second;
          if (!(copies_in(operations_[operation]) ? engine.ways.in : engine.ways.out)) break;
          waiting.erase(next);
          start_copy(operation, engine);
          const std::size_t lane = work_[operation].lane;
          engine.turn = lanes_[lane].turn;
          ++lanes_[lane].next;
          advance(lane);  // the next of its lane may find another engine
        }
      }
    }
  }

  Ticks latency(std::size_t operation, const EachWay& of) const {
    return ticks(copies_in(operations_[operation]) ? of.in : of.out);
  }

  /// Whether an engine has a copy the other way that has not begun to flow.
  bool waits_for(const Engine& engine, std::size_t operation) const {
    return engine.operation && !engine.moving &&
           copies_in(operations_[*engine.operation]) != copies_in(operations_[operation]);
  }

  void flow(Engine& engine, Ticks at) {
    happenings_.push({.at = at,
                      .operation = *engine.operation,
                      .what = What::bytes_flow,
                      .engine = static_cast<int>(&engine - engines_.data()),
                      .version = ++engine.version});
  }

  void start_copy(std::size_t operation, Engine& engine) {
    const Work& work = work_[operation];
    streams::Span& span = this->span(operation);
    span.when.start = seconds(now_);
    result_.copy_engine[work.span] = static_cast<int>(&engine - engines_.data());
    if (work.held_by && work.ready < now_) span.held = {seconds(now_), streams::Idle::launches, work.held_by};
    const bool other_way = engine.last && copies_in(operations_[*engine.last]) != copies_in(operations_[operation]);
    if (other_way && engine.last_end == now_ && work.ready < now_) {
      span.held = {seconds(now_), streams::Idle::queue, engine.last};
    }
    ++running_;
    engine.operation = operation;
    engine.left = static_cast<double>(copy_time_[operation]);
    engine.slowdown = 0;
    engine.taken = now_;
    begin_beside(operation, engine);
  }

  /// While bytes flow the other way a copy begins late; as they cease it begins with the next one there, and from then
  /// on both may stay in step, as they do on an H200 where copies are of about 1 MiB.
  void begin_beside(std::size_t operation, Engine& engine) {
    Ticks until_flow = latency(operation, device_.copy_latency);
    for (Engine& other : engines_) {
      if (waits_for(other, operation)) {
        until_flow = std::max(until_flow, latency(operation, device_.latency_in_step));
        const Ticks in_step = std::max(other.taken + latency(*other.operation, device_.latency_in_step),
                                       now_ + latency(*other.operation, device_.copy_latency));
        flow(other, std::min(other.latest, in_step));
      } else if (other.moving && copies_in(operations_[*other.operation]) != copies_in(operations_[operation])) {
        until_flow = std::max(until_flow, latency(operation, device_.latency_both));
      }
    }
    engine.latest = now_ + until_flow;
    if (until_flow > 0) return flow(engine, engine.latest);
    engine.moving = true;
    rates_changed_ = true;
  }

  /// Foretells the end of each copy whose rate has changed.
  void set_rates() {
    if (!std::exchange(rates_changed_, false)) return;
    int in = 0;
    int out = 0;
    for (const Engine& engine : engines_) {
      if (engine.moving) ++(copies_in(operations_[*engine.operation]) ? in : out);
    }
    const double slow_in = in * (out > 0 ? device_.alone.in / device_.both.in : 1);
    const double slow_out = out * (in > 0 ? device_.alone.out / device_.both.out : 1);
    for (Engine& engine : engines_) {
      if (!engine.moving) continue;
      const double slowdown = copies_in(operations_[*engine.operation]) ? slow_in : slow_out;
      if (slowdown == engine.slowdown) continue;
      if (engine.slowdown > 0) engine.left -= static_cast<double>(now_ - engine.since) / engine.slowdown;
      engine.left = std::max(0.0, engine.left);
      engine.since = now_;
      engine.slowdown = slowdown;
      happenings_.push({.at = now_ + std::llround(engine.left * slowdown),
                        .operation = *engine.operation,
                        .what = What::copy_ends,
                        .engine = static_cast<int>(&engine - engines_.data()),
                        .version = ++engine.version});
    }
  }

  /// Whether all blocks of some grid have started now.
  bool start_blocks() {
    bool all_of_one = false;
    while (first_grid_ < grids_.size() && free_ > 0) {
      const std::size_t operation = grids_[first_grid_];
      Work& work = work_[operation];
      if (!begun_) {
        if (running_grids_.size() == static_cast<std::size_t>(device_.resident_grids)) break;
        span(operation).when.start = seconds(now_);
        running_grids_.push_back({.operation = operation, .since = now_});
        begun_ = true;
      }
      const std::int64_t blocks = std::min(free_, work.blocks_left);
      free_ -= blocks;
      work.blocks_left -= blocks;
      work.blocks_running += blocks;
      run_blocks(running_grids_.back(), blocks);
      if (work.blocks_left > 0) {
        skip_full_waves(work);
        break;
      }
      all_of_one = work.all_started = true;
      begun_ = false;
      ++first_grid_;
    }
    return all_of_one;
  }

  /// Blocks that start together end together, or spread around their time.
  void run_blocks(Grid& grid, std::int64_t blocks) {
    const Work& work = work_[grid.operation];
    const int groups = work.block_spread > 0 ? static_cast<int>(std::min<std::int64_t>(kSpreadGroups, blocks)) : 1;
    for (int group = 0; group < groups; ++group) {
      const std::int64_t count = blocks * (group + 1) / groups - blocks * group / groups;
      const Ticks time = work.block_time + std::llround(place(group, groups) * static_cast<double>(work.block_spread));
      grid.cohorts.push_back({grid.own_time_at(now_) + time, count});
      std::ranges::push_heap(grid.cohorts, std::greater<>{});
    }
  }

  /// The blocks of the oldest grid come first: a multiprocessor issues from its oldest warps while they can go on.
  /// What they leave is the next grid's.
  void set_paces() {
    constexpr double kRounding = 1 + 1e-12;
    double left = 1;
    for (Grid& grid : running_grids_) {
      const Work& work = work_[grid.operation];
      const double demand = work.block_share * static_cast<double>(work.blocks_running);
      const double pace = demand <= left * kRounding ? 1 : left / demand;
      left = std::max(0.0, left - demand);
      if (pace == grid.pace) continue;
      grid.own_time = grid.own_time_at(now_);
      grid.since = now_;
      grid.pace = pace;
    }
  }

  /// While one grid fills the device, and has more blocks to start, each block that ends is followed by one of its own:
  /// whole waves are done in one step, all but the last.
  void skip_full_waves(Work& work) {
    if (work.blocks_running < slots_ || work.block_spread > 0) return;
    const std::int64_t waves = (work.blocks_left - 1) / slots_;
    work.blocks_left -= waves * slots_;
    for (Cohort& cohort : running_grids_.back().cohorts) cohort.end += waves * work.block_time;
  }

  static double seconds(Ticks time) { return static_cast<double>(time) * kTick; }
  streams::Span& span(std::size_t operation) { return result_.timeline.spans[work_[operation].span]; }

  using Copies = std::set<std::pair<std::size_t, std::size_t>>;  ///< turn of the lane, operation

  const Recording& recording_;
  const std::vector<Operation>& operations_;
  const DeviceProfile& device_;
  streams::Ordering ordering_;
  std::vector<Work> work_;  ///< by operation, as are the next four
  std::vector<Ticks> copy_time_;
  std::vector<Ticks> call_time_;
  std::vector<std::size_t> first_dependent_;
  std::vector<std::size_t> dependents_;
  Simulation result_;

  Ticks now_ = 0;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_;

  Host host_ = Host::ready;
  std::size_t next_ = 0;     ///< the operation that the host is at
  std::size_t awaited_ = 0;  ///< operations that the host waits for
  bool waited_ = false;      ///< the host, in this operation: it takes a while to go on
  std::size_t done_ = 0;
  std::size_t running_ = 0;  ///< left their lanes, and not done

  std::vector<Lane> lanes_;
  std::vector<int> lane_engine_;  ///< of each lane of copies: the first engine that serves it
  std::vector<std::size_t> to_look_at_;

  std::vector<Engine> engines_;
  Engine alone_;                        ///< in place of engines, if there are none
  std::vector<Copies> waiting_copies_;  ///< by lane_engine_
  bool rates_changed_ = false;

  std::int64_t slots_;
  std::int64_t free_;
  std::vector<std::size_t> grids_;    ///< in the order in which they arrived
  std::size_t first_grid_ = 0;        ///< with blocks to start
  bool begun_ = false;                ///< whether that one has started any
  std::vector<Grid> running_grids_;   ///< the oldest first
  std::vector<std::size_t> kernels_;  ///< in the order of issue
  std::size_t unstarted_ = 0;         ///< in kernels_: all before have started all their blocks
  std::size_t unchecked_ = 0;         ///< no operation before waits for a kernel that is not done

  Ticks launch_;
  Ticks host_wait_;
  Ticks hand_over_;
  Ticks hand_over_busy_;
  Ticks kernel_latency_;
};

}  // namespace

namespace {

/// How many times the mean time of its blocks a kernel takes, alone.
double duration_of(double share, double spread) {
  double all = std::max(1.0, share) * (1 - spread);  // until the first end
  for (int group = 1; group < kSpreadGroups; ++group) {
    const double left = share * (kSpreadGroups - group) / kSpreadGroups;
    all += std::max(1.0, left) * spread * (place(group, kSpreadGroups) - place(group - 1, kSpreadGroups));
  }
  return all;
}

/// Blocks that get less than they ask for end one after another, and the kernel's tail is the time when those left ask
/// for less than the device has: with a share D and a spread s, s / D^2 of the work. A kernel that uses less than that
/// is one whose blocks have all they ask for.
Cost measured_kernel(const KernelTimes& measured, const KernelTimes::Row& row, std::int64_t slots) {
  constexpr double kMostShare = 8;
  const double used = measured.used(row);
  const double share = std::min(kMostShare, std::sqrt(measured.spread * used / std::max(1e-9, 1 - used)));
  const double waves = static_cast<double>((row.blocks + slots - 1) / slots);
  Cost cost{.blocks = row.blocks};
  cost.spread = share > 1 ? measured.spread : 0;
  cost.share = share > 1 ? share : used;
  cost.block_seconds = row.seconds / waves / duration_of(cost.share, cost.spread);
  return cost;
}

/// A kernel over `items` of the job's: blocks as those of one launch over all items, which takes `whole_seconds`.
/// `by_memory`: what bounds them is the rate of device memory, of which that launch has all.
Cost unmeasured_kernel(const streams::Job& job, std::int64_t items, int threads_a_block, std::int64_t slots,
                       double whole_seconds, bool by_memory) {
  const auto blocks_of = [&](std::int64_t of) {
    return std::max<std::int64_t>(1, job.blocks > 0 ? job.blocks : streams::waves(of, threads_a_block));
  };
  const auto waves = static_cast<double>(streams::waves(blocks_of(job.items), slots));
  // So many blocks as ever fit share the items out; else more items are more blocks.
  const double items_a_block =
      job.blocks > 0 && job.items > 0 ? static_cast<double>(items) / static_cast<double>(job.items) : 1;
  Cost cost{.blocks = blocks_of(items), .block_seconds = whole_seconds / waves * items_a_block};
  if (by_memory) {
    const double block_share = waves / static_cast<double>(blocks_of(job.items));
    cost.share = block_share * static_cast<double>(std::min(cost.blocks, slots));
  }
  return cost;
}

/// Of a kernel whose blocks all take as long, alone: full waves, and a last one that may ask for less of the device.
double alone_seconds(const Cost& kernel, std::int64_t slots) {
  const std::int64_t full = (kernel.blocks - 1) / slots;
  const double block_share = kernel.share / static_cast<double>(std::min(kernel.blocks, slots));
  const auto lasts = [&](std::int64_t blocks) { return std::max(1.0, block_share * static_cast<double>(blocks)); };
  return kernel.block_seconds * (static_cast<double>(full) * lasts(slots) + lasts(kernel.blocks - full * slots));
}

}  // namespace

Costs costs(const streams::Recording& recording, const DeviceProfile& device, const Problem& problem) {
  const streams::Job& job = recording.job;
  const streams::WorkloadDescription& workload = job.workload->about;
  if (problem.threads_a_block < 1 || device.slots(problem.threads_a_block) < 1) {
    throw std::invalid_argument(fmt::format("{} threads a block: {} holds from 1 to {} on a multiprocessor",
                                            problem.threads_a_block, device.name, device.resident_threads));
  }
  const EachWay& rates = job.memory == streams::HostMemory::pageable ? device.pageable : device.alone;
  const double item_bytes = static_cast<double>(workload.item_bytes());
  const double one = job.items > 0 ? 1 / static_cast<double>(job.items) : 0;
  const double item_in = problem.copy_in ? *problem.copy_in * one / workload.inputs : item_bytes / rates.in;
  const double item_out = problem.copy_out ? *problem.copy_out * one : item_bytes / rates.out;
  const bool by_memory = !problem.kernel;
  const double whole_seconds =
      by_memory ? static_cast<double>(job.items) * item_bytes * (workload.inputs + 1) / device.device_rate
                : *problem.kernel;
  const std::int64_t slots = device.slots(problem.threads_a_block);

  const CallCosts& calls = device.calls;
  std::optional<KernelTimes> measured;
  if (!problem.kernel && job.blocks == 0) measured = device.kernel_times(workload.id, workload.ordered ? 1 : job.work);
  const auto call = [&](const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::copy_in:
      case OperationKind::copy_out:
        return operation.synchronous ? calls.synchronous_copy : calls.copy;
      case OperationKind::kernel:
      case OperationKind::side_kernel:
        return measured ? measured->call : calls.kernel;
      case OperationKind::record_event:
        return calls.record;
      default:
        return calls.wait;
    }
  };

  const auto kernel = [&](std::int64_t items) {
    if (!measured) return unmeasured_kernel(job, items, problem.threads_a_block, slots, whole_seconds, by_memory);
    return measured_kernel(*measured, measured->at(items), slots);
  };

  Costs all{.threads_a_block = problem.threads_a_block,
            .launch_seconds = calls.graph,
            .whole_kernel = measured ? measured->at(job.items).seconds : alone_seconds(kernel(job.items), slots),
            .operations = {}};
  all.operations.reserve(recording.operations.size());
  for (const Operation& operation : recording.operations) {
    const auto items = operation.kind == OperationKind::side_kernel ? recording.buffer_items : operation.chunk.items;
    Cost cost;
    if (is_copy(operation)) {
      cost.copy_seconds = static_cast<double>(items) * (copies_in(operation) ? item_in : item_out);
    } else if (is_kernel(operation)) {
      cost = kernel(items);
    }
    cost.call_seconds = call(operation);
    if (streams::is_work(operation)) all.launch_seconds += calls.graph_node;
    all.operations.push_back(cost);
  }
  return all;
}

QueueNumbers modelled_queues(const streams::Recording& recording, const DeviceProfile& device) {
  const int copy_queues = std::min(device.hardware_queues, device.copy_queues);
  QueueNumbers all;
  all.reserve(recording.operations.size());
  for (const Operation& operation : recording.operations) {
    const int queues = is_copy(operation) ? copy_queues : device.hardware_queues;
    all.push_back(static_cast<unsigned>(operation.stream.created() ? operation.stream.index % queues : queues - 1));
  }
  return all;
}

Simulation simulate(const streams::Recording& recording, const DeviceProfile& device, const Costs& costs,
                    const QueueNumbers& queues) {
  return Machine(recording, device, costs, queues.empty() ? modelled_queues(recording, device) : queues).run();
}

}  // namespace scanlab::simulator
