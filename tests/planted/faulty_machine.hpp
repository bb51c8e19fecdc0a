// A machine that plants a fault while a scan runs on the emulator. The build includes this file before each shipped
// scan, and `portable_scan` then registers the scan on this machine: no fault quotes the source it harms.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/operators.hpp"
#include "harness/simt/registration.hpp"

namespace scanlab::planted {

enum class Fault {
  none,
  // Faults of a run.
  other_mode,      ///< inclusive and exclusive swapped
  item_too_few,    ///< the last item is left out
  item_too_many,   ///< one more item than the arrays hold
  shifted_input,   ///< reads begin one item late
  shifted_output,  ///< writes begin one item late
  no_workspace,    ///< a workspace of one byte
  no_preparation,  ///< the workspace keeps what it held
  // Faults of one launch.
  no_launch,         ///< the launch is left out
  no_last_block,     ///< one block less
  no_shared_memory,  ///< eight bytes less
  all_operands,      ///< every application swaps its operands
  wrong_identity,    ///< the identity changes what it is combined with
  // Faults of one place in a kernel, for each of its threads.
  no_barrier,          ///< a barrier of the block is left out
  wrong_vector_read,   ///< a vector is read one place too far
  wrong_vector_write,  ///< a vector is written one place too far
  no_vector_write,     ///< a vector is not written
  // Faults of one event.
  wrong_lane,      ///< an exchange takes its value from a lane too far
  operands,        ///< one application swaps its operands
  no_counter,      ///< a ticket is drawn twice
  no_publication,  ///< a word for other blocks is not written
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::no_publication) + 1;

/// A place for faults: a run, a launch, or the event of that number in a launch.
struct Place {
  std::string kernel{};  ///< empty: the run
  std::int64_t event = 0;
  auto operator<=>(const Place&) const = default;
};

/// The fault that is planted, where, and the places that a run has for each fault.
struct Plan {
  Fault fault = Fault::none;
  std::size_t launch = 0;
  std::int64_t event = 0;
  std::vector<std::string> kernels{};                       ///< of the launches of this run
  std::array<std::int64_t, kFaults> counts{};               ///< events of this launch
  std::array<std::vector<std::int64_t>, kFaults> events{};  ///< by launch
};
inline Plan plan;

/// Whether event `number` of launch `launch` goes wrong.
inline bool strikes(Fault fault, std::int64_t number, std::size_t launch = plan.kernels.size() - 1) {
  std::vector<std::int64_t>& events = plan.events[static_cast<std::size_t>(fault)];
  events.resize(std::max(events.size(), launch + 1));
  events[launch] = std::max(events[launch], number + 1);
  return fault == plan.fault && launch == plan.launch && number == plan.event;
}
inline bool strikes_next(Fault fault) { return strikes(fault, plan.counts[static_cast<std::size_t>(fault)]++); }
inline bool strikes_run(Fault fault) { return strikes(fault, 0, 0); }

template <class Op>
struct FaultyOp : Op {
  using Item = typename Op::Item;
  static Item identity() {
    if (strikes(Fault::wrong_identity, 0)) {
      Item wrong;
      std::fill_n(reinterpret_cast<unsigned char*>(&wrong), sizeof wrong, static_cast<unsigned char>(3));
      return wrong;
    }
    return Op::identity();
  }
  Item operator()(Item left, Item right) const {
    if constexpr (Op::kCommutative) return Op::operator()(left, right);
    const bool swap = strikes(Fault::all_operands, 0) || strikes_next(Fault::operands);
    return swap ? Op::operator()(right, left) : Op::operator()(left, right);
  }
};

class FaultyBlock : public simt::CpuBlock {
 public:
  using Where = std::source_location;
  explicit FaultyBlock(const simt::CpuBlock& block) : simt::CpuBlock(block) {}

  void sync(Where where = Where::current()) {
    if (!strikes_here(Fault::no_barrier)) CpuBlock::sync(where);
  }
  template <simt::Shuffled T>
  T shuffle_up(const T& value, int delta, Where where = Where::current()) {
    return CpuBlock::shuffle_up(value, delta + strikes_here(Fault::wrong_lane), where);
  }
  template <simt::Shuffled T>
  T shuffle_down(const T& value, int delta, Where where = Where::current()) {
    return CpuBlock::shuffle_down(value, delta + strikes_here(Fault::wrong_lane), where);
  }
  template <simt::Shuffled T>
  T shuffle(const T& value, int lane, Where where = Where::current()) {
    return CpuBlock::shuffle(value, lane + strikes_here(Fault::wrong_lane), where);
  }
  template <int K, class T>
  auto load(const simt::Span<T>& array, simt::Index index) {
    index.value += strikes_here(Fault::wrong_vector_read) ? K : 0;
    return CpuBlock::load<K>(array, index);
  }
  template <int K, class T>
  void store(const simt::Span<T>& array, simt::Index index, const simt::Vector<T, K>& vector) {
    index.value += strikes_here(Fault::wrong_vector_write) ? K : 0;
    if (!strikes_here(Fault::no_vector_write)) CpuBlock::store<K>(array, index, vector);
  }
  template <simt::CounterWord T>
  T fetch_add(const simt::Span<T>& array, simt::Index index, std::type_identity_t<T> value) {
    return CpuBlock::fetch_add(array, index, strikes_next(Fault::no_counter) ? 0 : value);
  }
  template <simt::AtomicWord T>
  void store_atomic(const simt::Span<T>& array, simt::Index index, const std::type_identity_t<T>& value) {
    if (!strikes_next(Fault::no_publication)) CpuBlock::store_atomic(array, index, value);
  }

 private:
  bool strikes_here(Fault fault) { return strikes(fault, counts_[static_cast<std::size_t>(fault)]++); }
  std::array<std::int64_t, kFaults> counts_{};  ///< events of this thread
};

template <class Kernel>
struct FaultyKernel {
  static constexpr const char* kName = Kernel::kName;
  static constexpr int kMaxThreads = Kernel::kMaxThreads;
  Kernel kernel;
  template <class... Arguments>
  void operator()(simt::CpuBlock& block, const Arguments&... arguments) const {
    FaultyBlock faulty(block);
    kernel(faulty, arguments...);
  }
};

class FaultyMachine {
 public:
  using Block = FaultyBlock;
  template <class T>
  using Global = simt::Span<T>;

  explicit FaultyMachine(simt::Emulator& emulator) : emulator_(emulator) {}

  template <class Kernel, class... Arguments>
  void launch(simt::Grid grid, const Kernel& kernel, const Arguments&... arguments) {
    plan.kernels.emplace_back(Kernel::kName);
    plan.counts = {};
    if (strikes(Fault::no_launch, 0)) return;
    if (strikes(Fault::no_last_block, 0) && --grid.blocks == 0) return;
    if (grid.shared_bytes > 0 && strikes(Fault::no_shared_memory, 0)) grid.shared_bytes -= 8;
    emulator_.launch(grid, FaultyKernel<Kernel>{kernel}, arguments...);
  }
  template <class T>
  static simt::Span<T> global(T* data, std::int64_t count, const char* name) {
    return simt::Emulator::global(data, count, name);
  }
  template <class T>
  static bool aligned(const simt::Span<T>& array, std::size_t bytes) {
    return simt::Emulator::aligned(array, bytes);
  }

 private:
  simt::Emulator& emulator_;
};

/// Gives `bound` the functions of `scan` on the faulty machine.
template <class Op, class Scan>
void add_emulator(const std::shared_ptr<const Scan>& scan, std::int64_t items, BoundScan& bound) {
  using Item = typename Op::Item;
  const std::size_t bytes = bound.plan.workspace_bytes;
  if constexpr (requires(FaultyMachine & machine) { scan->prepare(machine, FaultyOp<Op>{}, simt::Workspace()); }) {
    bound.prepare_simt = [scan, bytes](void* workspace, simt::Emulator& emulator) {
      if (strikes_run(Fault::no_preparation)) return;
      const Plan kept = std::exchange(plan, {});  // the faults are those of the run
      FaultyMachine machine(emulator);
      scan->prepare(machine, FaultyOp<Op>{}, simt::Workspace(workspace, bytes));
      plan = kept;
    };
  }
  bound.simt = [scan, bytes, items](const Buffers& buffers, simt::Emulator& emulator) {
    plan.kernels.clear();
    FaultyMachine machine(emulator);
    const auto shift = [](Fault fault) { return strikes_run(fault) ? 1 : 0; };
    const auto* in = static_cast<const Item*>(buffers.in) + shift(Fault::shifted_input);
    auto* out = static_cast<Item*>(buffers.out) + shift(Fault::shifted_output);
    scan->run(machine, FaultyOp<Op>{},
              simt::Arrays<FaultyMachine, Item>{machine.global(in, items, "in"), machine.global(out, items, "out"),
                                                buffers.entries, buffers.count, buffers.unique},
              simt::Workspace(buffers.workspace, bytes > 0 && strikes_run(Fault::no_workspace) ? 1 : bytes));
  };
}

template <class Scan>
Variant faulty_scan() {
  Variant variant;
  variant.about = Scan::describe();
  variant.backends.simt = true;
  variant.bind = [](Problem problem) {
    BoundScan bound;
    bound.plan = Scan(problem).plan();
    if (!bound.plan.possible()) return bound;
    const std::int64_t items = problem.items;
    if (strikes_run(Fault::other_mode)) {
      problem.mode = problem.mode == Mode::inclusive ? Mode::exclusive : Mode::inclusive;
    }
    problem.items += (strikes_run(Fault::item_too_many) ? 1 : 0) - (strikes_run(Fault::item_too_few) ? 1 : 0);
    const auto scan = std::make_shared<const Scan>(problem);
    if (problem.op == Operator::affine) {
      add_emulator<Affine<std::int32_t>>(scan, items, bound);
    } else {
      add_emulator<Plus<std::int32_t>>(scan, items, bound);
    }
    return bound;
  };
  return variant;
}

}  // namespace scanlab::planted

namespace scanlab::simt {
using planted::faulty_scan;
}
#define portable_scan faulty_scan
