#include "harness/simt/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <numeric>
#include <random>
#include <unordered_map>

#include "harness/simt/stack_switch.hpp"
#include "harness/simt/trace.hpp"

namespace scanlab::simt {

namespace {
constexpr std::size_t kStackBytes = 256 * 1024;       // reserved, not touched; a guard page ends it
constexpr std::size_t kMostSharedBytes = 227 * 1024;  // a block of compute capability 9.0 can have
constexpr std::int64_t kMostShadowedItems = 1 << 24;  // races in larger global arrays are not looked for
constexpr int kResidentBlocks = 8;                    // blocks in flight when interleaved
constexpr std::size_t kMaxFaults = 100;               // different faults kept a run; more of them say nothing new
constexpr std::byte kPoison{0xA5};                    // what shared memory holds before a block writes it
namespace context = boost::context;
}  // namespace

class BlockRun;

/// A fiber that runs threads of a block one after another; one that waits at a barrier keeps its fiber until the
/// barrier opens, one that ends leaves it to the next thread. A kernel without barriers needs a single fiber.
struct Worker {
  context::fiber fiber;
  context::fiber scheduler;
  StackBounds stack;
  StackBounds scheduler_stack;
  BlockRun* block = nullptr;
  int thread = 0;
  bool waiting = false;
  std::source_location waits_at;
};

/// Thrown in a thread that waits at a barrier of a launch that has failed elsewhere, to clear its stack.
struct Cancelled {};

class ExecutorCore {
 public:
  explicit ExecutorCore(ExecutorOptions given) : options(given), random(given.seed) {}
  ~ExecutorCore();
  ExecutorCore(const ExecutorCore&) = delete;
  ExecutorCore& operator=(const ExecutorCore&) = delete;

  void run(const Grid& grid, const char* name, int max_threads, void (*body)(void*, CpuBlock&), void* closure);
  /// Records a fault, or counts it again if the same one was seen before.
  void fault(FaultKind kind, const std::source_location& where, std::string message);
  [[noreturn]] void fail(FaultKind kind, const std::source_location& where, std::string message);
  Counts& counts() { return launch_steps[running_step].counts; }
  /// The number of the step with this name and number in this launch; new steps are added at the end.
  std::size_t find_step(const char* name, std::int64_t number);
  /// What is known of the accesses to a global array, by where it begins.
  Shadow& global_shadow(const Array& array);
  Worker* take_worker();
  void run_worker(Worker& worker);

  struct StepData {
    const char* name = nullptr;  // null: not named; `number` is then the barrier interval
    std::int64_t number = 0;
    Counts counts;
  };

  ExecutorOptions options;
  std::mt19937_64 random;
  Report report;
  Sites sites;

  // Of the launch that is running.
  const Grid* grid = nullptr;
  const char* kernel_name = "";
  void (*body)(void*, CpuBlock&) = nullptr;
  void* closure = nullptr;
  std::vector<StepData> launch_steps;
  std::int64_t launch_number = 0;
  std::int64_t launch_barriers = 0;  // of the block that passed the most
  std::exception_ptr failure;

  // Of the thread that is running.
  BlockRun* running_block = nullptr;
  Worker* running_worker = nullptr;
  std::size_t running_step = 0;

  context::protected_fixedsize_stack stacks{kStackBytes};
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> idle;
  bool stopping = false;
  std::unordered_map<const void*, Shadow> global_shadows;
};

/// One block: its shared memory and where its threads stand.
class BlockRun {
 public:
  BlockRun(ExecutorCore& core, std::int64_t index) : core_(core), index_(index), order_(core.grid->threads) {
    const std::size_t bytes = core.grid->shared_bytes;
    shared_storage_.assign(bytes + 256, kPoison);
    const auto address = reinterpret_cast<std::uintptr_t>(shared_storage_.data());
    shared_ = shared_storage_.data() + (256 - address % 256) % 256;
    if (core.options.trace) shadow_.reset(bytes);
    std::iota(order_.begin(), order_.end(), 0);
  }
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  /// Threads still waiting belong to a failed launch: they are sent home before what their stacks refer to is gone.
  ~BlockRun() {
    cancelled_ = true;
    for (const auto& worker : core_.workers) {
      if (worker->waiting && worker->block == this) {
        core_.run_worker(*worker);
        core_.idle.push_back(worker.get());
      }
    }
  }

  /// Runs every thread to its next barrier or its end. False when all have ended.
  bool advance() {
    core_.running_block = this;
    core_.running_step = core_.find_step(nullptr, static_cast<std::int64_t>(interval_));
    step_is_named_ = false;

    std::vector<Worker*> resuming;
    resuming.swap(waiting_);
    if (core_.options.order == BlockOrder::interleaved) {
      if (interval_ == 1) std::ranges::shuffle(order_, core_.random);
      std::ranges::shuffle(resuming, core_.random);
    }
    for (Worker* worker : resuming) resume(*worker);
    while (next_ < static_cast<int>(order_.size())) {
      Worker* worker = core_.take_worker();
      worker->block = this;
      resume(*worker);
    }
    if (core_.options.trace) count_accesses(accesses_, core_.counts());
    if (waiting_.empty()) return false;
    check_barrier();
    core_.launch_barriers = std::max(core_.launch_barriers, static_cast<std::int64_t>(interval_));
    ++interval_;
    return true;
  }

  /// Body of a fiber: starts threads until one is left waiting in it or none is left to start.
  void run_fresh_threads(Worker& worker) {
    CpuBlock block(core_, *core_.grid);
    while (next_ < static_cast<int>(order_.size()) && !core_.failure && !cancelled_) {
      worker.thread = order_[next_++];
      enter(worker);
      try {
        core_.body(core_.closure, block);
      } catch (const Cancelled&) {
        return;
      } catch (const std::exception&) {
        core_.failure = std::current_exception();
      }
      ++finished_;
    }
  }

  void wait(const std::source_location& where) {
    Worker& worker = *core_.running_worker;
    worker.waits_at = where;
    worker.waiting = true;
    waiting_.push_back(&worker);
    switch_stack(worker.scheduler_stack, [&] { worker.scheduler = std::move(worker.scheduler).resume(); });
    worker.waiting = false;
    if (cancelled_) throw Cancelled{};
    enter(worker);
  }

  void trace(const Array& array, std::int64_t index, bool write, const std::source_location& where) {
    const std::uint32_t site = core_.sites.id(where);
    // How often this thread came by here since the barrier: stamps make resetting the counters free.
    if (occurrences_.size() <= site) occurrences_.resize(site + 1);
    const std::uint64_t stamp =
        (static_cast<std::uint64_t>(interval_) << 32) | static_cast<std::uint32_t>(current_thread.thread);
    Occurrences& times = occurrences_[site];
    if (times.stamp != stamp) times = {stamp, 0};
    const std::uint64_t base = array.space == Space::shared
                                   ? static_cast<std::uint64_t>(static_cast<std::byte*>(array.data) - shared_)
                                   : reinterpret_cast<std::uintptr_t>(array.data);
    const std::uint64_t address = base + static_cast<std::uint64_t>(index) * array.item_bytes;
    const int thread = current_thread.thread;
    accesses_.push_back({address, site, times.count++, static_cast<std::uint16_t>(thread / 32),
                         static_cast<std::uint8_t>(thread % 32), static_cast<std::uint8_t>(array.item_bytes),
                         array.space, write});
    if (current_thread.accesses == 1) ++core_.counts().active_threads;
    look_for_races(address, array, index, write, where, site);
  }

  /// Names what the block does from here to its next barrier; the first name counts. Blocks of other shapes may do it
  /// after another number of barriers: steps are told apart by name.
  void name_step(const char* name, std::int64_t number) {
    if (step_is_named_) return;
    step_is_named_ = true;
    core_.running_step = core_.find_step(name, number);
  }

  std::byte* shared() const { return shared_; }

 private:
  struct Occurrences {
    std::uint64_t stamp = 0;
    std::uint32_t count = 0;
  };

  void enter(Worker& worker) {
    core_.running_worker = &worker;
    current_thread = {&core_, index_, worker.thread, 0, core_.options.trace};
  }

  void resume(Worker& worker) {
    core_.run_worker(worker);
    if (!worker.waiting) core_.idle.push_back(&worker);
    if (core_.failure) std::rethrow_exception(core_.failure);
  }

  void check_barrier() {
    const Worker& first = *waiting_.front();
    if (finished_ > 0) {
      core_.fail(FaultKind::barrier_divergence, first.waits_at,
                 fmt::format("{} threads of block {} wait at this barrier, {} have returned and never reach it",
                             waiting_.size(), index_, finished_));
    }
    for (const Worker* other : waiting_) {
      if (core_.sites.id(other->waits_at) != core_.sites.id(first.waits_at)) {
        core_.fail(FaultKind::barrier_divergence, first.waits_at,
                   fmt::format("thread {} of block {} waits at this barrier, thread {} at the one of {}", first.thread,
                               index_, other->thread, Sites::text(other->waits_at)));
      }
    }
    if (static_cast<std::int64_t>(interval_) > core_.options.max_barriers) {
      core_.fail(FaultKind::no_progress, first.waits_at,
                 fmt::format("block {} has passed {} barriers without ending: does the loop around this one advance?",
                             index_, core_.options.max_barriers));
    }
  }

  /// Words of 4 bytes are told apart, in shared memory smaller items too; of global arrays, items.
  void look_for_races(std::uint64_t address, const Array& array, std::int64_t index, bool write,
                      const std::source_location& where, std::uint32_t site) {
    const Shadow::Accessor by{core_.launch_number, index_, static_cast<std::int64_t>(interval_), current_thread.thread,
                              site};
    if (array.space == Space::global) {
      if (array.count > kMostShadowedItems) return;
      const auto conflict = core_.global_shadow(array).access(static_cast<std::size_t>(index), write, by);
      if (conflict.what == Shadow::Conflict::What::race) report_race(conflict, array, index, write, where);
      return;
    }
    for (std::uint64_t byte = address; byte < address + array.item_bytes; byte += 4) {
      const auto conflict = shadow_.access(byte, write, by);
      if (conflict.what == Shadow::Conflict::What::race) {
        report_race(conflict, array, index, write, where);
      } else if (conflict.what == Shadow::Conflict::What::never_written) {
        core_.fault(FaultKind::never_written, where,
                    fmt::format("thread {} of block {} reads {}[{}], which no thread of the block has written",
                                by.thread, index_, array.name, index));
      }
    }
  }

  void report_race(const Shadow::Conflict& conflict, const Array& array, std::int64_t index, bool write,
                   const std::source_location& where) {
    const bool other_block = conflict.other.block != index_;
    core_.fault(FaultKind::race, where,
                fmt::format("thread {} of block {} {} {}[{}], which thread {} of block {} {} at {} with no {} between",
                            current_thread.thread, index_, write ? "writes" : "reads", array.name, index,
                            conflict.other.thread, conflict.other.block, conflict.other_wrote ? "writes" : "reads",
                            core_.sites.text(conflict.other.site), other_block ? "end of a launch" : "barrier"));
  }

  ExecutorCore& core_;
  std::int64_t index_;
  std::vector<int> order_;  // of starting the threads
  int next_ = 0;            // into order_
  int finished_ = 0;
  std::size_t interval_ = 1;
  bool cancelled_ = false;
  std::vector<Worker*> waiting_;
  std::vector<std::byte> shared_storage_;
  std::byte* shared_ = nullptr;
  bool step_is_named_ = false;
  Shadow shadow_;
  std::vector<Access> accesses_;
  std::vector<Occurrences> occurrences_;
};

Worker* ExecutorCore::take_worker() {
  if (!idle.empty()) {
    Worker* worker = idle.back();
    idle.pop_back();
    return worker;
  }
  auto& worker = workers.emplace_back(std::make_unique<Worker>());
  const context::stack_context stack = stacks.allocate();
  worker->stack = {static_cast<std::byte*>(stack.sp) - stack.size, stack.size};
  worker->fiber = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), stacks,
                                 [this, self = worker.get()](context::fiber&& scheduler) {
                                   enter_stack(self->scheduler_stack);
                                   self->scheduler = std::move(scheduler);
                                   while (!stopping) {
                                     self->block->run_fresh_threads(*self);
                                     switch_stack(self->scheduler_stack,
                                                  [&] { self->scheduler = std::move(self->scheduler).resume(); });
                                   }
                                   leave_stack(self->scheduler_stack);
                                   return std::move(self->scheduler);
                                 });
  return worker.get();
}

/// Enters the worker's fiber; returns when it waits at a barrier or has nothing left to run.
void ExecutorCore::run_worker(Worker& worker) {
  switch_stack(worker.stack, [&] { worker.fiber = std::move(worker.fiber).resume(); });
}

ExecutorCore::~ExecutorCore() {
  stopping = true;
  for (const auto& worker : workers) run_worker(*worker);
}

void ExecutorCore::fault(FaultKind kind, const std::source_location& where, std::string message) {
  const std::string place = Sites::text(where);
  for (Fault& known : report.faults) {
    if (known.kind == kind && known.where == place && known.kernel == kernel_name) {
      ++known.occurrences;
      return;
    }
  }
  if (report.faults.size() < kMaxFaults) report.faults.push_back({kind, kernel_name, place, std::move(message)});
}

void ExecutorCore::fail(FaultKind kind, const std::source_location& where, std::string message) {
  const std::string text = fmt::format("{}: {} in {}: {}", Sites::text(where), name(kind), kernel_name, message);
  fault(kind, where, std::move(message));
  throw LaunchFailure(text);
}

std::size_t ExecutorCore::find_step(const char* name, std::int64_t number) {
  const auto same = [&](const StepData& step) {
    return step.number == number && (step.name == name || (step.name != nullptr && name != nullptr &&
                                                           std::string_view(step.name) == std::string_view(name)));
  };
  const auto found = std::ranges::find_if(launch_steps, same);
  if (found != launch_steps.end()) return static_cast<std::size_t>(found - launch_steps.begin());
  launch_steps.push_back({name, number, {}});
  return launch_steps.size() - 1;
}

Shadow& ExecutorCore::global_shadow(const Array& array) {
  Shadow& shadow = global_shadows[array.data];
  shadow.resize(static_cast<std::size_t>(array.count));
  return shadow;
}

void ExecutorCore::run(const Grid& launch_grid, const char* name, int max_threads,
                       void (*thread_body)(void*, CpuBlock&), void* thread_closure) {
  if (launch_grid.threads < 1 || launch_grid.threads > max_threads) {
    throw LaunchFailure(
        fmt::format("{} takes 1 to {} threads a block, not {}", name, max_threads, launch_grid.threads));
  }
  if (launch_grid.shared_bytes > kMostSharedBytes) {
    throw LaunchFailure(fmt::format("{} wants {} bytes of shared memory a block, a device has at most {}", name,
                                    launch_grid.shared_bytes, kMostSharedBytes));
  }
  grid = &launch_grid;
  kernel_name = name;
  body = thread_body;
  closure = thread_closure;
  launch_steps.clear();
  launch_barriers = 0;
  ++launch_number;
  failure = nullptr;

  const auto finish = [&] {
    Launch& launch = report.launches.emplace_back();
    launch.kernel = name;
    launch.blocks = launch_grid.blocks;
    launch.threads = launch_grid.threads;
    launch.shared_bytes = launch_grid.shared_bytes;
    launch.barriers = launch_barriers;
    for (const StepData& step : launch_steps) {
      if (step.name == nullptr && step.counts.is_zero()) continue;  // an interval that got its name later
      std::string label = step.name == nullptr ? fmt::format("interval {}", step.number)
                          : step.number == 0   ? std::string(step.name)
                                               : fmt::format("{} {}", step.name, step.number);
      launch.steps.push_back({std::move(label), step.counts});
    }
  };

  try {
    if (options.order == BlockOrder::in_order) {
      for (std::int64_t index = 0; index < launch_grid.blocks; ++index) {
        BlockRun block(*this, index);
        while (block.advance()) {
        }
      }
    } else {
      std::vector<std::unique_ptr<BlockRun>> resident;
      std::int64_t next = 0;
      while (next < launch_grid.blocks || !resident.empty()) {
        while (next < launch_grid.blocks && resident.size() < kResidentBlocks) {
          resident.push_back(std::make_unique<BlockRun>(*this, next++));
        }
        const std::size_t chosen = random() % resident.size();
        if (!resident[chosen]->advance()) resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
    }
  } catch (...) {
    current_thread = {};
    finish();
    throw;
  }
  current_thread = {};
  finish();
}

void check_access(const Array& array, std::int64_t index, bool write, const std::source_location& where) {
  CurrentThread& thread = current_thread;
  if (index < 0 || index >= array.count) {
    const std::string message = fmt::format("thread {} of block {} {} {}[{}], which has {} items", thread.thread,
                                            thread.block, write ? "writes" : "reads", array.name, index, array.count);
    if (thread.core == nullptr) throw LaunchFailure(fmt::format("{}: {}", Sites::text(where), message));
    thread.core->fail(FaultKind::out_of_bounds, where, message);
  }
  if (thread.core == nullptr) return;  // host code that looks at an array between launches
  if (++thread.accesses > thread.core->options.max_accesses) {
    thread.core->fail(
        FaultKind::no_progress, where,
        fmt::format("thread {} of block {} made {} accesses since the last barrier: does its loop advance?",
                    thread.thread, thread.block, thread.accesses));
  }
  if (thread.trace) thread.core->running_block->trace(array, index, write, where);
}

void count_operation() {
  if (current_thread.core != nullptr) ++current_thread.core->counts().operations;
}

void CpuBlock::sync(std::source_location where) { core_.running_block->wait(where); }

void CpuBlock::step(const char* name, std::int64_t number) { core_.running_block->name_step(name, number); }

void CpuBlock::tally_swap() { ++core_.counts().swaps; }

Array CpuBlock::shared_array(std::size_t item_bytes, std::int64_t count, std::size_t offset,
                             const std::source_location& where) {
  if (count < 0 || offset % item_bytes != 0 || offset > grid_.shared_bytes ||
      static_cast<std::size_t>(count) > (grid_.shared_bytes - offset) / item_bytes) {
    core_.fail(
        FaultKind::out_of_bounds, where,
        fmt::format("the kernel takes {} items of {} bytes at offset {} of shared memory, the launch gave {} bytes",
                    count, item_bytes, offset, grid_.shared_bytes));
  }
  return {core_.running_block->shared() + offset, count, static_cast<std::uint32_t>(item_bytes), Space::shared,
          "shared"};
}

Executor::Executor(ExecutorOptions options) : core_(std::make_unique<ExecutorCore>(options)) {}
Executor::~Executor() = default;
const Report& Executor::report() const { return core_->report; }

void Executor::run(const Grid& grid, const char* name, int max_threads, void (*body)(void*, CpuBlock&), void* closure) {
  if (grid.blocks > 0) core_->run(grid, name, max_threads, body, closure);
}

}  // namespace scanlab::simt
