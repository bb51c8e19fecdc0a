#include "harness/simt/emulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <numeric>
#include <string_view>

#include "harness/simt/emulator_core.hpp"

namespace scanlab::simt {

namespace {
constexpr std::size_t kMaxSharedBytes = 227 * 1024;  // a block of compute capability 9.0 can have
constexpr std::size_t kResidentBlocks = 8;           // blocks in flight when interleaved
constexpr std::size_t kResidentThreads = 4096;       // threads in flight when reversed: of two multiprocessors
constexpr std::size_t kMaxFaults = 100;              // different faults kept a run; more of them say nothing new
namespace context = boost::context;
}  // namespace

Worker* EmulatorCore::take_worker() {
  if (!idle.empty()) {
    Worker* worker = idle.back();
    idle.pop_back();
    return worker;
  }
  auto& worker = workers.emplace_back(std::make_unique<Worker>());
  const context::stack_context stack = stacks_.allocate();
  worker->stack = {static_cast<std::byte*>(stack.sp) - stack.size, stack.size};
  worker->fiber = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), stacks_,
                                 [this, self = worker.get()](context::fiber&& scheduler) {
                                   enter_stack(self->scheduler_stack);
                                   self->scheduler = std::move(scheduler);
                                   while (!stopping_) {
                                     self->block->run_fresh_threads(*self);
                                     switch_stack(self->scheduler_stack,
                                                  [&] { self->scheduler = std::move(self->scheduler).resume(); });
                                   }
                                   leave_stack(self->scheduler_stack);
                                   return std::move(self->scheduler);
                                 });
  return worker.get();
}

EmulatorCore::~EmulatorCore() {
  stopping_ = true;
  for (const auto& worker : workers) run_worker(*worker);
}

void EmulatorCore::fault(FaultKind kind, const std::source_location& where, std::string message) {
  const std::string place = Sites::text(where);
  const auto known = std::ranges::find_if(report.faults, [&](const Fault& each) {
    return each.kind == kind && each.where == place && each.kernel == kernel_name;
  });
  if (known != report.faults.end()) {
    ++known->occurrences;
  } else if (report.faults.size() < kMaxFaults) {
    report.faults.push_back({kind, kernel_name, place, std::move(message)});
  }
}

void EmulatorCore::fail(FaultKind kind, const std::source_location& where, std::string message) {
  const std::string text = fmt::format("{}: {} in {}: {}", Sites::text(where), name(kind), kernel_name, message);
  fault(kind, where, std::move(message));
  throw LaunchFailure(text);
}

std::size_t EmulatorCore::find_step(std::string_view name, std::int64_t number) {
  const auto step = std::ranges::find_if(
      launch_steps, [&](const StepData& each) { return each.number == number && each.name == name; });
  if (step != launch_steps.end()) return static_cast<std::size_t>(step - launch_steps.begin());
  launch_steps.push_back({name, number, {}});
  return launch_steps.size() - 1;
}

void EmulatorCore::run(const Grid& launch_grid, const char* name, int max_threads,
                       void (*thread_body)(void*, CpuBlock&), void* thread_closure) {
  if (launch_grid.threads < 1 || launch_grid.threads > max_threads) {
    throw LaunchFailure(
        fmt::format("{} takes 1 to {} threads a block, not {}", name, max_threads, launch_grid.threads));
  }
  if (launch_grid.shared_bytes > kMaxSharedBytes) {
    throw LaunchFailure(fmt::format("{} wants {} bytes of shared memory a block, a device has at most {}", name,
                                    launch_grid.shared_bytes, kMaxSharedBytes));
  }
  grid = &launch_grid;
  kernel_name = name;
  body = thread_body;
  closure = thread_closure;
  launch_steps.clear();
  launch_barriers = 0;
  idle_pauses = 0;
  ++launch_number;
  failure = nullptr;
  try {
    run_blocks();
  } catch (...) {
    finish_launch();
    throw;
  }
  finish_launch();
}

void EmulatorCore::run_blocks() {
  const bool interleaved = options.order == BlockOrder::interleaved;
  const bool reversed = options.order == BlockOrder::reversed;
  std::vector<std::int64_t> order(static_cast<std::size_t>(grid->blocks));
  std::iota(order.begin(), order.end(), 0);
  // A device starts blocks in whatever order: one that waits for a lower block may keep it from ever starting.
  if (interleaved) std::ranges::shuffle(order, random);
  if (reversed) std::ranges::reverse(order);
  const std::size_t most = interleaved ? kResidentBlocks
                           : reversed  ? std::max<std::size_t>(kResidentThreads / grid->threads, 2)
                                       : 1;

  std::vector<std::unique_ptr<BlockRun>> resident;
  std::size_t next = 0;
  std::size_t chosen = 0;
  while (next < order.size() || !resident.empty()) {
    while (next < order.size() && resident.size() < most) {
      resident.push_back(std::make_unique<BlockRun>(*this, order[next++]));
    }
    chosen = interleaved ? random() % resident.size() : chosen % resident.size();
    if (resident[chosen]->advance()) {
      ++chosen;
    } else {
      resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
}

void EmulatorCore::finish_launch() {
  current_thread = {};
  Launch& launch = report.launches.emplace_back(
      Launch{kernel_name, grid->blocks, grid->threads, grid->shared_bytes, launch_barriers, {}});
  for (const StepData& step : launch_steps) {
    if (step.name.empty() && step.counts == Counts{}) continue;  // an interval that got its name later
    launch.steps.push_back({step.name.empty() ? "interval" : std::string(step.name), step.number, step.counts});
  }
}

namespace {

[[noreturn, gnu::noinline]] void fail_out_of_bounds(const Array& array, std::int64_t index, int items, bool write,
                                                    const std::source_location& where) {
  const CurrentThread& thread = current_thread;
  const std::string range = items == 1 ? fmt::format("{}", index) : fmt::format("{} … {}", index, index + items - 1);
  const std::string message = fmt::format("thread {} of block {} {} {}[{}], which has {} items", thread.thread,
                                          thread.block, write ? "writes" : "reads", array.name, range, array.count);
  if (thread.core == nullptr) throw LaunchFailure(fmt::format("{}: {}", Sites::text(where), message));
  thread.core->fail(FaultKind::out_of_bounds, where, message);
}

[[noreturn, gnu::noinline]] void fail_endless(const std::source_location& where) {
  const CurrentThread& thread = current_thread;
  thread.core->fail(FaultKind::no_progress, where,
                    fmt::format("thread {} of block {} made {} accesses since the last barrier: does its loop advance?",
                                thread.thread, thread.block, thread.accesses));
}

/// Ends the launch if an access is out of bounds, or is one of too many. False for host code that looks at an array
/// between launches: nothing more is asked of it.
bool admit(const Array& array, std::int64_t index, int items, bool write, const std::source_location& where) {
  if (index < 0 || index > array.count - items) fail_out_of_bounds(array, index, items, write, where);
  CurrentThread& thread = current_thread;
  if (thread.core == nullptr) return false;
  if (++thread.accesses > thread.core->options.max_accesses) fail_endless(where);
  if (write) thread.core->idle_pauses = 0;
  return true;
}

void check_alignment(const Array& array, std::int64_t index, std::size_t bytes, bool write,
                     const std::source_location& where) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(array.data) + static_cast<std::uintptr_t>(index) * array.item_bytes;
  if (address % bytes == 0) return;
  current_thread.core->fail(
      FaultKind::misaligned, where,
      fmt::format("thread {} of block {} {} {} bytes from {}[{}] on, {} bytes past a multiple of {}",
                  current_thread.thread, current_thread.block, write ? "writes" : "reads", bytes, array.name, index,
                  address % bytes, bytes));
}

}  // namespace

void check_access(const Array& array, std::int64_t index, int items, bool write, const std::source_location& where) {
  if (!admit(array, index, items, write, where)) return;
  if (items > 1) check_alignment(array, index, static_cast<std::size_t>(items) * array.item_bytes, write, where);
  if (current_thread.trace) current_thread.core->running_block->trace_access(array, index, items, write, where);
}

void check_atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where) {
  EmulatorCore& core = *current_thread.core;
  core.running_block->before_atomic(where);
  if (array.space != Space::global) {
    core.fail(FaultKind::out_of_bounds, where,
              fmt::format("an atomic of {}[{}]: atomics at device scope are on global arrays", array.name, index));
  }
  admit(array, index, 1, write, where);
  check_alignment(array, index, array.item_bytes, write, where);
  if (current_thread.trace) core.running_block->trace_atomic(array, index, write, where);
}

bool count_operation() {
  if (current_thread.core == nullptr) return false;
  ++current_thread.core->counts().operations;
  return current_thread.core->options.chains;
}

void CpuBlock::sync(std::source_location where) { core_.running_block->sync(where); }

void CpuBlock::sync_warp(std::source_location where) { core_.running_block->sync_warp(where); }

const LaneValues& CpuBlock::exchange(const LaneValue& value, const std::source_location& where) {
  return core_.running_block->exchange(value, where);
}

std::uint32_t CpuBlock::ballot(bool predicate, std::source_location where) {
  const LaneValues& votes = exchange({static_cast<std::byte>(predicate)}, where);
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) lanes |= std::to_integer<std::uint32_t>(votes[lane][0]) << lane;
  return lanes;
}

void CpuBlock::pause(unsigned /*nanoseconds*/, std::source_location where) { core_.running_block->pause(where); }

void CpuBlock::step(const char* name, std::int64_t number) { core_.running_block->name_step(name, number); }

void CpuBlock::tally_swap() { ++core_.counts().swaps; }

Array CpuBlock::shared_array(std::size_t item_bytes, std::size_t alignment, std::int64_t count, std::size_t offset,
                             const std::source_location& where) {
  if (offset % alignment != 0) {
    core_.fail(FaultKind::out_of_bounds, where,
               fmt::format("the kernel takes items at offset {} of shared memory, which is no multiple of {} bytes",
                           offset, alignment));
  }
  if (count < 0 || offset > grid_.shared_bytes ||
      static_cast<std::size_t>(count) > (grid_.shared_bytes - offset) / item_bytes) {
    core_.fail(
        FaultKind::out_of_bounds, where,
        fmt::format("the kernel takes {} items of {} bytes at offset {} of shared memory, the launch gave {} bytes",
                    count, item_bytes, offset, grid_.shared_bytes));
  }
  return {core_.running_block->shared() + offset, count, static_cast<std::uint32_t>(item_bytes), Space::shared,
          "shared"};
}

Emulator::Emulator(EmulatorOptions options) : core_(std::make_unique<EmulatorCore>(options)) {}
Emulator::~Emulator() = default;
const Report& Emulator::report() const { return core_->report; }

void Emulator::refuse_no_memory(const char* name, std::int64_t count, std::size_t item_bytes) {
  throw LaunchFailure(
      fmt::format("the workspace has no room for '{}', {} items of {} bytes: plan() asks for too few .workspace_bytes",
                  name, count, item_bytes));
}

void Emulator::run(const Grid& grid, const char* name, int max_threads, void (*body)(void*, CpuBlock&), void* closure) {
  if (grid.blocks > 0) core_->run(grid, name, max_threads, body, closure);
}

}  // namespace scanlab::simt
