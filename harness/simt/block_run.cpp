#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/simt/emulator_core.hpp"

namespace scanlab::simt {

namespace {

constexpr std::byte kPoison{0xA5};                   // what shared memory holds before a block writes it
constexpr std::int64_t kMaxShadowedItems = 1 << 23;  // 192 bytes each; races in larger global arrays are not looked for
constexpr unsigned kTurnsAtAtomics = 4;              // interleaved, a thread gives up its turn at one atomic of so many

}  // namespace

BlockRun::BlockRun(EmulatorCore& core, std::int64_t index)
    : core_(core), index_(index), shared_(pageable_memory(core.grid->shared_bytes)), order_(core.grid->threads) {
  std::fill_n(shared_.get(), core.grid->shared_bytes, kPoison);
  std::iota(order_.begin(), order_.end(), 0);
  if (core.options.order == BlockOrder::interleaved) std::ranges::shuffle(order_, core.random);
  if (core.options.order == BlockOrder::reversed) std::ranges::reverse(order_);
  if (core.options.trace) shared_shadow_.reset(core.grid->shared_bytes);
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
  if (core_.options.trace) count_accesses(accesses_, core_.counts());
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
  if (is_barrier) ++warp.interval;
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
  step_ = core_.find_step("", interval);
  step_is_named_ = false;
  traced_interval_ = ++core_.intervals;
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

void BlockRun::begin_access(const std::source_location& where) {
  const int thread = current_thread.thread;
  const std::int32_t warp_interval =
      warps_.empty() ? 0 : warps_[static_cast<std::size_t>(thread / kWarpLanes)].interval;
  by_ = {core_.launch_number, index_, interval_, warp_interval, thread, core_.sites.id(where)};
  if (current_thread.accesses == 1) ++core_.counts().active_threads;
}

void BlockRun::trace_access(const Array& array, std::int64_t index, int items, bool write,
                            const std::source_location& where) {
  begin_access(where);
  const bool shared = array.space == Space::shared;
  const std::uint64_t base = shared ? static_cast<std::uint64_t>(static_cast<std::byte*>(array.data) - shared_.get())
                                    : reinterpret_cast<std::uintptr_t>(array.data);
  const std::uint64_t address = base + static_cast<std::uint64_t>(index) * array.item_bytes;
  const std::uint64_t stamp = traced_interval_ << 16 | static_cast<std::uint64_t>(by_.thread);
  accesses_.push_back({address, by_.site, core_.running_worker->occurrences.next(by_.site, stamp),
                       static_cast<std::uint16_t>(by_.thread / kWarpLanes),
                       static_cast<std::uint8_t>(by_.thread % kWarpLanes),
                       static_cast<std::uint8_t>(items * array.item_bytes), array.space, write});
  if (shared) {
    look_for_shared_races(address, array, index, items, write, where);
  } else {
    look_for_global_races(array, index, items, write, where);
  }
}

void BlockRun::trace_atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where) {
  begin_access(where);
  if (array.count > kMaxShadowedItems) return;
  const auto cell = static_cast<std::size_t>(index);
  auto& [plain, atomic] = core_.global_shadows[array.data];
  plain.resize(static_cast<std::size_t>(array.count));
  atomic.resize(static_cast<std::size_t>(array.count));
  const auto conflict = plain.conflict(cell, write, by_);
  if (conflict.what == Shadow::Conflict::What::race) report_race(conflict, array, index, write, where);
  atomic.record(cell, write, by_);
}

/// Words of 4 bytes are distinguished, and items that are smaller; what one thread does to a word and another to the
/// second half of it, as a smaller item, is not compared.
void BlockRun::look_for_shared_races(std::uint64_t offset, const Array& array, std::int64_t index, int items,
                                     bool write, const std::source_location& where) {
  using What = Shadow::Conflict::What;
  const std::uint32_t step = std::min<std::uint32_t>(array.item_bytes, 4);
  const std::uint64_t end = offset + static_cast<std::uint64_t>(items) * array.item_bytes;
  for (std::uint64_t byte = offset; byte < end; byte += step) {
    const std::int64_t item = index + static_cast<std::int64_t>((byte - offset) / array.item_bytes);
    const auto conflict = shared_shadow_.conflict(byte, write, by_);
    shared_shadow_.record(byte, write, by_);
    if (conflict.what == What::race) {
      report_race(conflict, array, item, write, where);
    } else if (conflict.what == What::never_written) {
      if (shared_shadow_.conflict(byte / 4 * 4, false, by_).what != What::never_written) continue;  // as part of a word
      core_.fault(FaultKind::never_written, where,
                  fmt::format("thread {} of block {} reads {}[{}], which no thread of the block has written",
                              by_.thread, by_.block, array.name, item));
    }
  }
}

void BlockRun::look_for_global_races(const Array& array, std::int64_t index, int items, bool write,
                                     const std::source_location& where) {
  if (array.count > kMaxShadowedItems) return;
  auto& [plain, atomic] = core_.global_shadows[array.data];
  plain.resize(static_cast<std::size_t>(array.count));
  for (std::int64_t item = index; item < index + items; ++item) {
    const auto cell = static_cast<std::size_t>(item);
    auto conflict = plain.conflict(cell, write, by_);
    if (conflict.what != Shadow::Conflict::What::race && atomic.used()) conflict = atomic.conflict(cell, write, by_);
    if (conflict.what == Shadow::Conflict::What::race) report_race(conflict, array, item, write, where);
    plain.record(cell, write, by_);
  }
}

void BlockRun::report_race(const Shadow::Conflict& conflict, const Array& array, std::int64_t index, bool write,
                           const std::source_location& where) {
  core_.fault(FaultKind::race, where,
              fmt::format("thread {} of block {} {} {}[{}], which thread {} of block {} {} at {} with no {} between",
                          by_.thread, by_.block, write ? "writes" : "reads", array.name, index, conflict.other.thread,
                          conflict.other.block, conflict.other_wrote ? "writes" : "reads",
                          core_.sites.text(conflict.other.site),
                          conflict.other.block != by_.block ? "end of a launch" : "barrier"));
}

}  // namespace scanlab::simt
