#include "harness/simt/block_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace scanlab::simt {

namespace {

constexpr std::byte kPoison{0xA5};       // what shared memory holds before a block writes it
constexpr unsigned kTurnsAtAtomics = 4;  // interleaved, a thread gives up its turn at one atomic of so many

/// The first multiple of 256 bytes in `storage`, which has as many to spare.
std::byte* aligned_begin(std::vector<std::byte>& storage) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return storage.data() + (256 - address % 256) % 256;
}

}  // namespace

BlockRun::BlockRun(EmulatorCore& core, std::int64_t index)
    : core_(core),
      index_(index),
      shared_storage_(core.grid->shared_bytes + 256, kPoison),
      shared_(aligned_begin(shared_storage_)),
      trace_(core, shared_, core.grid->shared_bytes),
      order_(core.grid->threads) {
  std::iota(order_.begin(), order_.end(), 0);
  if (core.options.order == BlockOrder::interleaved) std::ranges::shuffle(order_, core.random);
  if (core.options.order == BlockOrder::reversed) std::ranges::reverse(order_);
  begin_interval(1);
}

BlockRun::~BlockRun() {
  cancelled_ = true;
  for (const auto& worker : core_.workers) {
    if (worker->waiting && worker->block == this) {
      core_.run_worker(*worker);
      core_.idle.push_back(worker.get());
    }
  }
}

bool BlockRun::advance() {
  core_.running_block = this;
  core_.running_step = step_;

  std::vector<Worker*> turn;
  turn.swap(ready_);
  if (core_.options.order == BlockOrder::interleaved) std::ranges::shuffle(turn, core_.random);
  for (Worker* worker : turn) resume(*worker);
  while (next_ < static_cast<int>(order_.size())) {
    Worker* worker = core_.take_worker();
    worker->block = this;
    resume(*worker);
  }
  if (!ready_.empty()) return true;

  check_warps();
  if (core_.options.trace) trace_.end_interval();
  if (at_barrier_.empty()) return false;
  check_barrier();
  core_.launch_barriers = std::max(core_.launch_barriers, std::int64_t{interval_});
  core_.idle_pauses = 0;
  ready_.swap(at_barrier_);
  begin_interval(interval_ + 1);
  return true;
}

void BlockRun::run_fresh_threads(Worker& worker) {
  CpuBlock block(core_, *core_.grid);
  while (next_ < static_cast<int>(order_.size()) && !core_.failure && !cancelled_) {
    worker.thread = order_[next_++];
    worker.accesses = 0;
    enter(worker);
    try {
      core_.body(core_.closure, block);
    } catch (const Cancelled&) {
      return;
    } catch (const std::exception&) {
      core_.failure = std::current_exception();
    }
    ++finished_;
    core_.idle_pauses = 0;
  }
}

BlockRun::Warp& BlockRun::arrive_at_warp(const LaneValue& value, bool is_barrier, const std::source_location& where) {
  const int threads = core_.grid->threads;
  const int index = current_thread.thread / kWarpLanes;
  const int lane = current_thread.thread % kWarpLanes;
  if (threads % kWarpLanes != 0) {
    core_.fail(FaultKind::warp_divergence, where,
               fmt::format("all 32 lanes of a warp take part here, and a block of {} threads has a warp of {}", threads,
                           threads % kWarpLanes));
  }
  if (warps_.empty()) warps_.resize(static_cast<std::size_t>(threads / kWarpLanes));
  Warp& warp = warps_[static_cast<std::size_t>(index)];
  if (!warp.waiting.empty() && core_.sites.id(warp.waiting.front()->waits_at) != core_.sites.id(where)) {
    const Worker& other = *warp.waiting.front();
    core_.fail(FaultKind::warp_divergence, where,
               fmt::format("lane {} of warp {} of block {} is here while lane {} waits for it at {}", lane, index,
                           index_, other.thread % kWarpLanes, Sites::text(other.waits_at)));
  }
  warp.arriving[static_cast<std::size_t>(lane)] = value;
  if (warp.waiting.size() + 1 < kWarpLanes) {
    wait(warp.waiting, where);
    return warp;
  }
  std::swap(warp.arriving, warp.delivered);
  ready_.insert(ready_.end(), warp.waiting.begin(), warp.waiting.end());
  warp.waiting.clear();
  if (is_barrier) {
    ++warp.interval;
  } else {
    ++core_.counts().warp_exchanges;
  }
  return warp;
}

void BlockRun::sync_warp(const std::source_location& where) { arrive_at_warp({}, true, where); }

const LaneValues& BlockRun::exchange(const LaneValue& value, const std::source_location& where) {
  return arrive_at_warp(value, false, where).delivered;
}

void BlockRun::pause(const std::source_location& where) {
  if (++core_.idle_pauses > core_.options.max_pauses) {
    core_.fail(
        FaultKind::no_progress, where,
        fmt::format("thread {} of block {} pauses here, and in {} pauses no thread has written, passed a barrier "
                    "or ended: what it waits for does not come",
                    current_thread.thread, index_, core_.options.max_pauses));
  }
  wait(ready_, where);
}

void BlockRun::before_atomic(const std::source_location& where) {
  if (core_.options.order == BlockOrder::interleaved && core_.random() % kTurnsAtAtomics == 0) wait(ready_, where);
}

void BlockRun::begin_interval(std::int32_t interval) {
  interval_ = interval;
  step_ = core_.find_step(nullptr, interval);
  step_is_named_ = false;
  trace_.begin_interval();
}

void BlockRun::name_step(const char* name, std::int64_t number) {
  if (step_is_named_) return;
  step_is_named_ = true;
  step_ = core_.running_step = core_.find_step(name, number);
}

/// No thread can continue: lanes wait for other lanes of their warp that never come.
void BlockRun::check_warps() const {
  for (const Warp& warp : warps_) {
    if (warp.waiting.empty()) continue;
    const Worker& lane = *warp.waiting.front();
    const int index = lane.thread / kWarpLanes;
    const auto other =
        std::ranges::find_if(at_barrier_, [&](const Worker* each) { return each->thread / kWarpLanes == index; });
    const std::string reason = other == at_barrier_.end()
                                   ? std::string("the others have returned")
                                   : fmt::format("lane {} waits at the barrier of {}", (*other)->thread % kWarpLanes,
                                                 Sites::text((*other)->waits_at));
    core_.fail(FaultKind::warp_divergence, lane.waits_at,
               fmt::format("{} lanes of warp {} of block {} wait here for the rest of the warp: {}",
                           warp.waiting.size(), index, index_, reason));
  }
}

void BlockRun::check_barrier() const {
  const Worker& first = *at_barrier_.front();
  if (finished_ > 0) {
    core_.fail(FaultKind::barrier_divergence, first.waits_at,
               fmt::format("{} threads of block {} wait at this barrier, {} have returned and never reach it",
                           at_barrier_.size(), index_, finished_));
  }
  for (const Worker* other : at_barrier_) {
    if (core_.sites.id(other->waits_at) != core_.sites.id(first.waits_at)) {
      core_.fail(FaultKind::barrier_divergence, first.waits_at,
                 fmt::format("thread {} of block {} waits at this barrier, thread {} at the one of {}", first.thread,
                             index_, other->thread, Sites::text(other->waits_at)));
    }
  }
  if (interval_ > core_.options.max_barriers) {
    core_.fail(FaultKind::no_progress, first.waits_at,
               fmt::format("block {} has passed {} barriers without ending: does the loop around this one advance?",
                           index_, core_.options.max_barriers));
  }
}

Shadow::Accessor BlockRun::accessor(const std::source_location& where) const {
  const int thread = current_thread.thread;
  const std::int32_t warp_interval =
      warps_.empty() ? 0 : warps_[static_cast<std::size_t>(thread / kWarpLanes)].interval;
  return {core_.launch_number, index_, interval_, warp_interval, thread, core_.sites.id(where)};
}

}  // namespace scanlab::simt
