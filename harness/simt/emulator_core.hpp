// Inside the emulator: the state that outlives a block, which is the fibers, the launch that is running, and the
// report; and a block that runs.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/host/host_array.hpp"
#include "harness/simt/emulator.hpp"
#include "harness/simt/trace.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace scanlab::simt {

class BlockRun;

// The address sanitizer is notified when a fiber changes stacks, or it would report accesses that are right. Nothing in
// other builds: distributions build Boost.Context without its own support for this.

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Runs `change`, which leaves this stack for `target` and returns when somebody comes back.
template <class Change>
void switch_stack([[maybe_unused]] const StackBounds& target, Change change) {
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, target.bottom, target.bytes);
  change();
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#else
  change();
#endif
}

/// First thing on a new stack; gives the bounds of the stack it was entered from.
inline void enter_stack([[maybe_unused]] StackBounds& previous) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &previous.bottom, &previous.bytes);
#endif
}

/// The last call on a stack that is never resumed.
inline void leave_stack([[maybe_unused]] const StackBounds& target) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, target.bottom, target.bytes);
#endif
}

/// Gives fibers their stacks, and keeps those of fibers that have ended for the next ones, of whatever emulator:
/// mapping a stack and touching it takes longer than most of what runs on it. The address sanitizer knows a stack by
/// its mapping.
class StackPool {
 public:
  boost::context::stack_context allocate() {
    if (kept().empty()) return fresh_.allocate();
    const boost::context::stack_context stack = kept().back();
    kept().pop_back();
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) {
#if defined(__SANITIZE_ADDRESS__)
    fresh_.deallocate(stack);
#else
    kept().push_back(stack);
#endif
  }

 private:
  static std::vector<boost::context::stack_context>& kept() {
    static std::vector<boost::context::stack_context> stacks;
    return stacks;
  }
  static constexpr std::size_t kStackBytes = 256 * 1024;  // reserved, not touched; a guard page ends it
  boost::context::protected_fixedsize_stack fresh_{kStackBytes};
};

/// How often threads came by each place of the source, each since its last barrier.
class Occurrences {
 public:
  /// `stamp` is another one for each thread and each interval between barriers: so starting anew is free.
  std::uint32_t next(std::uint32_t site, std::uint64_t stamp) {
    if (places_.size() <= site) places_.resize(site + 1);
    Place& place = places_[site];
    if (place.stamp != stamp) place = {stamp, 0};
    return place.count++;
  }

 private:
  struct Place {
    std::uint64_t stamp = 0;
    std::uint32_t count = 0;
  };
  std::vector<Place> places_;
};

/// A fiber that runs threads of a block one after another; one that waits keeps its fiber until it may go on, one that
/// ends leaves it to the next thread. A kernel in which no thread waits needs a single fiber.
/// The members that a switch touches come first, and fill one cache line: a block has a thousand of them.
struct alignas(64) Worker {
  boost::context::fiber fiber;
  boost::context::fiber scheduler;
  BlockRun* block = nullptr;
  int thread = 0;
  bool waiting = false;
  std::source_location waits_at;
  std::int64_t accesses = 0;  // of the thread that waits, since its last barrier

  StackBounds stack;
  StackBounds scheduler_stack;
  Occurrences occurrences;  // of the threads it has run
};

/// Thrown in a thread that waits in a launch that has failed elsewhere, to clear its stack.
struct Cancelled {};

class EmulatorCore {
 public:
  explicit EmulatorCore(EmulatorOptions given) : options(given), random(given.seed) {}
  ~EmulatorCore();
  EmulatorCore(const EmulatorCore&) = delete;
  EmulatorCore& operator=(const EmulatorCore&) = delete;

  void run(const Grid& grid, const char* name, int max_threads, void (*body)(void*, CpuBlock&), void* closure);
  /// Records a fault, or counts it again if the same one was seen before.
  void fault(FaultKind kind, const std::source_location& where, std::string message);
  [[noreturn]] void fail(FaultKind kind, const std::source_location& where, std::string message);
  Counts& counts() { return launch_steps[running_step].counts; }
  /// The number of the step with this name and number in this launch; new steps are added at the end.
  std::size_t find_step(std::string_view name, std::int64_t number);
  Worker* take_worker();
  /// Enters the worker's fiber; returns when it waits or has nothing left to run.
  static void run_worker(Worker& worker) {
    switch_stack(worker.stack, [&] { worker.fiber = std::move(worker.fiber).resume(); });
  }

  struct StepData {
    std::string_view name;  // empty: not named; `number` is then the barrier interval
    std::int64_t number = 0;
    Counts counts;
  };
  /// The accesses to a global array. Atomics are kept apart: they race with plain accesses only.
  struct GlobalShadow {
    Shadow plain;
    Shadow atomic;
  };

  EmulatorOptions options;
  std::mt19937_64 random;
  Report report;
  Sites sites;
  std::uint64_t intervals = 0;                                   // between barriers, of all blocks so far
  std::unordered_map<const void*, GlobalShadow> global_shadows;  // by where the array begins

  // The launch that is running.
  const Grid* grid = nullptr;
  const char* kernel_name = "";
  void (*body)(void*, CpuBlock&) = nullptr;
  void* closure = nullptr;
  std::vector<StepData> launch_steps;
  std::int64_t launch_number = 0;
  std::int64_t launch_barriers = 0;  // of the block that passed the most
  std::int64_t idle_pauses = 0;      // since a thread last wrote, passed a barrier or ended
  std::exception_ptr failure;

  // The thread that is running.
  BlockRun* running_block = nullptr;
  Worker* running_worker = nullptr;
  std::size_t running_step = 0;

  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> idle;

 private:
  void run_blocks();
  void finish_launch();

  StackPool stacks_;
  bool stopping_ = false;
};

/// One block, its shared memory, and where its threads stand. A thread runs until it waits: in `ready` for its next
/// turn, at the barrier, or for the other lanes of its warp. A block is advanced turn by turn; when nobody is left that
/// could take a turn, all must be at one barrier, or have ended.
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
  /// after another number of barriers: steps are distinguished by name.
  void name_step(const char* name, std::int64_t number);
  /// Counts an access to `items` items in a row, and looks for races with it.
  void trace_access(const Array& array, std::int64_t index, int items, bool write, const std::source_location& where);
  void trace_atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where);
  std::byte* shared() const { return shared_.get(); }

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
  void begin_access(const std::source_location& where);
  void look_for_shared_races(std::uint64_t offset, const Array& array, std::int64_t index, int items, bool write,
                             const std::source_location& where);
  void look_for_global_races(const Array& array, std::int64_t index, int items, bool write,
                             const std::source_location& where);
  void report_race(const Shadow::Conflict& conflict, const Array& array, std::int64_t index, bool write,
                   const std::source_location& where);

  EmulatorCore& core_;
  const std::int64_t index_;
  HostArray shared_;
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

  Shadow shared_shadow_;
  std::vector<Access> accesses_;       // of this interval
  std::uint64_t traced_interval_ = 0;  // unlike that of every other block
  Shadow::Accessor by_;                // who makes the access that is traced
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
