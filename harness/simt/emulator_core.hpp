// Inside the emulator: the state that outlives a block, which is the fibers, the launch that is running, and the
// report.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/simt/emulator.hpp"
#include "harness/simt/stack_switch.hpp"
#include "harness/simt/trace.hpp"

namespace scanlab::simt {

class BlockRun;

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
  std::size_t find_step(const char* name, std::int64_t number);
  Worker* take_worker();
  /// Enters the worker's fiber; returns when it waits or has nothing left to run.
  static void run_worker(Worker& worker) {
    switch_stack(worker.stack, [&] { worker.fiber = std::move(worker.fiber).resume(); });
  }

  struct StepData {
    const char* name = nullptr;  // null: not named; `number` is then the barrier interval
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

}  // namespace scanlab::simt
