// Inside the emulator: one block, its shared memory, and where its threads stand.
//
// A thread runs until it waits: in `ready` for its next turn, at the barrier, or for the other lanes of its warp. A
// block is advanced turn by turn; when nobody is left that could take a turn, all must be at one barrier, or have
// ended.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <vector>

#include "harness/simt/block_trace.hpp"
#include "harness/simt/emulator_core.hpp"

namespace scanlab::simt {

class BlockRun {
 public:
  BlockRun(EmulatorCore& core, std::int64_t index);
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;
  /// Threads still waiting belong to a failed launch: they are sent home before what their stacks refer to is gone.
  ~BlockRun();

  /// Gives every thread that can run one turn. False when all have ended.
  bool advance();
  /// Body of a fiber: starts threads until one is left waiting in it or none is left to start.
  void run_fresh_threads(Worker& worker);

  // Calls of the running thread.
  void sync(const std::source_location& where);
  void sync_warp(const std::source_location& where);
  /// Waits for all lanes of the warp; returns what they gave.
  const LaneValues& exchange(const LaneValue& value, const std::source_location& where);
  void pause(const std::source_location& where);
  /// An atomic is where the order of threads matters: interleaved, others may come first.
  void before_atomic(const std::source_location& where);
  /// Names what the block does from here to its next barrier; the first name counts. Blocks of other shapes may do it
  /// after another number of barriers: steps are told apart by name.
  void name_step(const char* name, std::int64_t number);
  void trace_access(const Array& array, std::int64_t index, int items, bool write, const std::source_location& where) {
    trace_.access(array, index, items, write, where, accessor(where));
  }
  void trace_atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where) {
    trace_.atomic(array, index, write, where, accessor(where));
  }
  std::byte* shared() const { return shared_; }

 private:
  struct Warp {
    std::vector<Worker*> waiting;  // lanes that are at the exchange
    LaneValues arriving;
    LaneValues delivered;  // of the last exchange: stays until all lanes are at the next
    std::int32_t interval = 0;
  };

  void enter(Worker& worker);
  void resume(Worker& worker);
  void wait(std::vector<Worker*>& queue, const std::source_location& where);
  Warp& arrive_at_warp(const LaneValue& value, bool is_barrier, const std::source_location& where);
  void begin_interval(std::int32_t interval);
  void check_warps() const;
  void check_barrier() const;
  Shadow::Accessor accessor(const std::source_location& where) const;

  EmulatorCore& core_;
  const std::int64_t index_;
  std::vector<std::byte> shared_storage_;
  std::byte* shared_ = nullptr;
  BlockTrace trace_;
  std::vector<int> order_;  // of starting the threads
  int next_ = 0;            // into order_
  int finished_ = 0;
  std::vector<Worker*> ready_;
  std::vector<Worker*> at_barrier_;
  std::vector<Warp> warps_;  // none until a lane wants something of its warp
  std::int32_t interval_ = 0;
  std::size_t step_ = 0;
  bool step_is_named_ = false;
  bool cancelled_ = false;
};

// Inline, all that lies between a switch of stacks and the kernel or the scheduler: processors predict where a function
// returns to by who called it last, and are wrong once for every function that is returned from after a switch.

inline void BlockRun::enter(Worker& worker) {
  core_.running_worker = &worker;
  current_thread = {&core_, index_, worker.thread, worker.accesses, core_.options.trace};
}

[[gnu::always_inline]] inline void BlockRun::wait(std::vector<Worker*>& queue, const std::source_location& where) {
  Worker& worker = *core_.running_worker;
  worker.waits_at = where;
  worker.waiting = true;
  worker.accesses = current_thread.accesses;
  queue.push_back(&worker);
  switch_stack(worker.scheduler_stack, [&] { worker.scheduler = std::move(worker.scheduler).resume(); });
  worker.waiting = false;
  if (cancelled_) throw Cancelled{};
  enter(worker);
}

inline void BlockRun::resume(Worker& worker) {
  core_.run_worker(worker);
  if (!worker.waiting) core_.idle.push_back(&worker);
  if (core_.failure) std::rethrow_exception(core_.failure);
}

inline void BlockRun::sync(const std::source_location& where) {
  wait(at_barrier_, where);
  current_thread.accesses = 0;
}

}  // namespace scanlab::simt
