// The SIMT emulator: runs a kernel's threads as fibers, one block after another or several interleaved, checks every
// access, and, when tracing, counts what the accesses would cost on a GPU.
//
// Model. A thread runs until it waits: at its block's barrier, for the other lanes of its warp, or by a pause. "The
// same instruction" of a warp is the set of accesses of its 32 lanes with the same source position, the same number of
// earlier executions since the last barrier, and the same barrier interval: exact where trip counts are uniform in the
// warp. Nothing orders memory in a warp but barriers and sync_warp; shuffles do not. Atomics take effect in the order
// in which threads execute them: the reordering of two relaxed atomics of one thread is not modelled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <type_traits>

#include "harness/core/monoid.hpp"
#include "harness/simt/report.hpp"
#include "harness/simt/thread_block.hpp"

namespace scanlab::simt {

enum class BlockOrder {
  in_order,     ///< blocks one after another, threads by rank
  interleaved,  ///< several blocks at once, blocks and threads in a seeded random order that may change at any atomic
  /// As many blocks at once as two multiprocessors hold, the last one first, in round-robin order: the worst case for
  /// blocks that wait for others, which are then still running or cannot start.
  reversed,
};

struct EmulatorOptions {
  bool trace = true;  ///< count, and look for races and reads of unwritten shared memory; else only bounds and barriers
  BlockOrder order = BlockOrder::in_order;
  std::uint64_t seed = 1;
  /// Items are chains instead of values, for operators that add: see chain_through. Each output of a run then
  /// shows its chain, which Plan::chain bounds.
  bool chains = false;
  std::int64_t max_barriers = 10'000;      ///< a block that passes more makes no progress
  std::int64_t max_accesses = 50'000'000;  ///< a thread that makes more between two barriers makes no progress
  /// More pauses than this, over all threads, without a write, a passed barrier or an ended thread: no progress.
  std::int64_t max_pauses = 10'000'000;
};

/// Thrown by `Emulator::launch` when a fault ends the launch. The fault is in the report.
struct LaunchFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Space : std::uint8_t { shared, global };

/// An array as the emulator sees it.
struct Array {
  void* data = nullptr;
  std::int64_t count = 0;
  std::uint32_t item_bytes = 0;
  Space space = Space::global;
  const char* name = "";
};

class EmulatorCore;

/// The one thread that is running. The emulator is single-threaded: fibers take turns on one system thread, so one
/// global is enough and an access costs no more than a load to find its thread.
struct CurrentThread {
  EmulatorCore* core = nullptr;
  std::int64_t block = 0;
  int thread = 0;
  std::int64_t accesses = 0;  ///< since the last barrier
  bool trace = false;
};
inline CurrentThread current_thread;

/// Called by every access, to one item or several in a row: throws (ending the launch) if it is out of bounds, or not
/// aligned to all of its items; traces it otherwise.
void check_access(const Array& array, std::int64_t index, int items, bool write, const std::source_location& where);
/// Called by every atomic; may let other threads run first.
void check_atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where);
/// Counts an application of the operator. Returns whether its operands are chains.
bool count_operation();

/// An index that knows where in the source it was written: implicit from any integer, so kernels read `x[i]`.
struct Index {
  std::int64_t value;
  std::source_location where;
  template <std::integral I>
  constexpr Index(I i, std::source_location here = std::source_location::current())  // NOLINT: implicit on purpose
      : value(static_cast<std::int64_t>(i)), where(here) {}
};

/// The result of `x[i]`: reads when converted to T, writes when assigned. Conversion only from a temporary, so that
/// `auto x = memory[i]`, which would defer the read, does not compile.
template <class T>
class Reference {
 public:
  using Value = std::remove_const_t<T>;
  Reference(const Array& array, Index index) : array_(array), index_(index) {}
  Reference(const Reference&) = delete;

  operator Value() const&& {  // NOLINT: implicit on purpose
    check_access(array_, index_.value, 1, false, index_.where);
    return static_cast<const T*>(array_.data)[index_.value];
  }
  void operator=(const Value& value) && {
    check_access(array_, index_.value, 1, true, index_.where);
    static_cast<T*>(array_.data)[index_.value] = value;
  }
  // Moves no reference: `x[i] = x[j]` reads one item and writes another, and either may end the launch.
  void operator=(Reference&& other) && {  // NOLINT(performance-noexcept-move-constructor)
    std::move(*this) = static_cast<Value>(std::move(other));
  }
  void operator+=(const Value& value) && {
    check_access(array_, index_.value, 1, false, index_.where);
    const Value sum = static_cast<const T*>(array_.data)[index_.value] + value;
    std::move(*this) = sum;
  }

 private:
  const Array& array_;
  Index index_;
};

/// A span whose accesses are checked and traced.
template <class T>
class Span {
 public:
  Span() = default;
  explicit Span(const Array& array) : array_(array) {}
  Span(T* data, std::int64_t count, const char* name)
      : array_{const_cast<std::remove_const_t<T>*>(data), count, sizeof(T), Space::global, name} {}
  /// A span of T is a span of const T.
  template <class U>
  requires std::is_same_v<const U, T> Span(const Span<U>& other)
      : array_(other.array()) {}  // NOLINT: implicit on purpose
  Reference<T> operator[](Index index) const { return {array_, index}; }
  explicit operator bool() const { return array_.data != nullptr; }
  const Array& array() const { return array_; }
  T* data() const { return static_cast<T*>(array_.data); }

 private:
  Array array_{};
};

/// A value that lanes of a warp exchange.
using LaneValue = std::array<std::byte, 16>;
using LaneValues = std::array<LaneValue, kWarpLanes>;

/// A thread's view of its block on the emulator. Models ThreadBlock.
class CpuBlock {
 public:
  template <class T>
  using Global = Span<T>;

  CpuBlock(EmulatorCore& core, const Grid& grid) : core_(core), grid_(grid) {}
  int thread_rank() const { return current_thread.thread; }
  int num_threads() const { return grid_.threads; }
  std::int64_t group_index() const { return current_thread.block; }
  void sync(std::source_location where = std::source_location::current());
  /// The block's dynamic shared memory from `offset_bytes` on, as `count` items of T.
  template <class T>
  Span<T> shared(std::int64_t count, std::size_t offset_bytes = 0,
                 std::source_location where = std::source_location::current()) {
    return Span<T>(shared_array(sizeof(T), alignof(T), count, offset_bytes, where));
  }
  template <class T>
  void prefetch(const Span<T>&, std::int64_t, std::int64_t, std::int64_t) const {}  // no cache is emulated
  void step(const char* name, std::int64_t number);
  void tally_swap();

  int lane() const { return thread_rank() % kWarpLanes; }
  int warp() const { return thread_rank() / kWarpLanes; }
  void sync_warp(std::source_location where = std::source_location::current());
  template <Shuffled T>
  T shuffle_up(const T& value, int delta, std::source_location where = std::source_location::current()) {
    return shuffled(value, lane() < delta ? lane() : lane() - delta, where);
  }
  template <Shuffled T>
  T shuffle_down(const T& value, int delta, std::source_location where = std::source_location::current()) {
    return shuffled(value, lane() + delta >= kWarpLanes ? lane() : lane() + delta, where);
  }
  template <Shuffled T>
  T shuffle(const T& value, int source_lane, std::source_location where = std::source_location::current()) {
    return shuffled(value, source_lane & (kWarpLanes - 1), where);  // as on the GPU, also for negative numbers
  }
  bool any(bool predicate, std::source_location where = std::source_location::current()) {
    return ballot(predicate, where) != 0;
  }
  bool all(bool predicate, std::source_location where = std::source_location::current()) {
    return ballot(!predicate, where) == 0;
  }
  std::uint32_t ballot(bool predicate, std::source_location where = std::source_location::current());

  template <int K, class T>
  Vector<std::remove_const_t<T>, K> load(const Span<T>& array, Index index) const {
    check_access(array.array(), index.value, K, false, index.where);
    Vector<std::remove_const_t<T>, K> vector;
    std::memcpy(&vector, array.data() + index.value, sizeof vector);
    return vector;
  }
  template <int K, class T>
  void store(const Span<T>& array, Index index, const Vector<T, K>& vector) const {
    check_access(array.array(), index.value, K, true, index.where);
    std::memcpy(array.data() + index.value, &vector, sizeof vector);
  }

  template <CounterWord T>
  T fetch_add(const Span<T>& array, Index index, std::type_identity_t<T> value) const {
    check_atomic(array.array(), index.value, true, index.where);
    const T before = array.data()[index.value];
    array.data()[index.value] = before + value;
    return before;
  }
  template <AtomicWord T>
  std::remove_const_t<T> load_atomic(const Span<T>& array, Index index) const {
    check_atomic(array.array(), index.value, false, index.where);
    return array.data()[index.value];
  }
  template <AtomicWord T>
  void store_atomic(const Span<T>& array, Index index, const std::type_identity_t<T>& value) const {
    check_atomic(array.array(), index.value, true, index.where);
    array.data()[index.value] = value;
  }
  void pause(unsigned nanoseconds = 0, std::source_location where = std::source_location::current());

 private:
  /// Waits for all lanes of the warp; returns their values.
  const LaneValues& exchange(const LaneValue& value, const std::source_location& where);
  template <class T>
  T shuffled(const T& value, int source, const std::source_location& where) {
    LaneValue given{};
    std::memcpy(given.data(), &value, sizeof value);
    T taken;
    std::memcpy(&taken, exchange(given, where)[source].data(), sizeof taken);
    return taken;
  }
  Array shared_array(std::size_t item_bytes, std::size_t alignment, std::int64_t count, std::size_t offset,
                     const std::source_location& where);
  EmulatorCore& core_;
  const Grid& grid_;
};

/// An operator whose applications the emulator counts.
template <class M>
struct Counted : M {
  typename M::Item operator()(typename M::Item left, typename M::Item right) const {
    const bool chains = count_operation();
    if constexpr (requires { M::chain_through(left, right); }) {
      if (chains) return M::chain_through(left, right);
    }
    return M::operator()(left, right);
  }
};

/// The backend on which a variant's `run` launches kernels; CudaMachine is its counterpart for the GPU.
class Emulator {
 public:
  using Block = CpuBlock;
  template <class T>
  using Global = Span<T>;

  explicit Emulator(EmulatorOptions options = {});
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  /// Runs every block of the grid to its end. Throws LaunchFailure if a fault stops it.
  template <class Kernel, class... Arguments>
  void launch(const Grid& grid, const Kernel& kernel, const Arguments&... arguments) {
    static_assert((!std::is_pointer_v<Arguments> && ...),
                  "a kernel takes arrays, whose accesses are checked, and no pointers: "
                  "machine.global(pointer, count, \"its name\")");
    auto body = [&](CpuBlock& block) { kernel(block, arguments...); };
    run(
        grid, Kernel::kName, Kernel::kMaxThreads,
        [](void* closure, CpuBlock& block) { (*static_cast<decltype(body)*>(closure))(block); }, &body);
  }

  /// Throws LaunchFailure if memory is missing, as after a workspace that is too small.
  template <class T>
  static Span<T> global(T* data, std::int64_t count, const char* name) {
    if (data == nullptr && count > 0) refuse_no_memory(name, count, sizeof(T));
    return Span<T>(data, count, name);
  }

  /// Whether the array begins at a multiple of this many bytes.
  template <class T>
  static bool aligned(const Span<T>& array, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % bytes == 0;
  }

  const Report& report() const;

 private:
  [[noreturn]] static void refuse_no_memory(const char* name, std::int64_t count, std::size_t item_bytes);
  void run(const Grid& grid, const char* name, int max_threads, void (*body)(void*, CpuBlock&), void* closure);
  std::unique_ptr<EmulatorCore> core_;
};

}  // namespace scanlab::simt
