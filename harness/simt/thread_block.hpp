// The thread block as a kernel sees it. Two models of it exist: GpuBlock (gpu_block.cuh) and CpuBlock
// (emulator.hpp). Names are those of CUDA's cooperative groups where it has one.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "harness/core/portable.hpp"

namespace scanlab::simt {

inline constexpr int kWarpLanes = 32;

/// An array in device memory, as the machine of `Block` addresses it: a raw pointer on the GPU, a checked and traced
/// span on the emulator. Both read `x[i]`, with any integer i.
template <class Block, class T>
using Global = typename Block::template Global<T>;

/// K items that are read or written by one access.
template <class T, int K>
struct alignas(K * sizeof(T)) Vector {
  static_assert(std::has_single_bit(K * sizeof(T)) && K * sizeof(T) <= 16, "one access moves 1, 2, 4, 8 or 16 bytes");
  static constexpr int kItems = K;
  T item[K];
  SCANLAB_HD T& operator[](int i) { return item[i]; }
  SCANLAB_HD const T& operator[](int i) const { return item[i]; }
};

/// A type that lanes can exchange.
template <class T>
concept Shuffled = std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

/// A type that a device reads and writes whole: no thread ever sees half of it.
template <class T>
concept AtomicWord = std::is_trivially_copyable_v<T> && alignof(T) == sizeof(T) &&
                     (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);

/// A counter that can be incremented atomically.
template <class T>
concept CounterWord = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// A kernel is a function object: `kernel(block, arguments…)`, run once by each thread of each block, with
///   static constexpr const char* kName;    // for messages and reports
///   static constexpr int kMaxThreads;      // launch bound, threads a block
template <class B>
concept ThreadBlock = requires(B& block, float value, bool predicate, Global<B, float> items, Vector<float, 4> vector,
                               Global<B, std::uint32_t> words, std::uint32_t word) {
  { block.thread_rank() } -> std::same_as<int>;  // 0 … num_threads() - 1
  { block.num_threads() } -> std::same_as<int>;
  { block.group_index() } -> std::same_as<std::int64_t>;  // this block's number in the grid
  block.sync();                                           // barrier of the block's threads
  block.template shared<int>(1);                          // dynamic shared memory, as an array of a type
  block.step("name", 1);                                  // names what follows, for `explain`; nothing on the GPU
  block.tally_swap();                                     // counts an exchange of two items; nothing on the GPU

  // Warps of 32 lanes, in blocks of a multiple of 32 threads. All lanes of a warp take part in each of these, at the
  // same place of the kernel. Only sync_warp orders memory.
  { block.lane() } -> std::same_as<int>;  // 0 … 31
  { block.warp() } -> std::same_as<int>;  // this warp's number in the block
  block.sync_warp();
  { block.shuffle_up(value, 1) } -> std::same_as<float>;    // the value of lane - 1; lane 0 gets its own
  { block.shuffle_down(value, 1) } -> std::same_as<float>;  // the value of lane + 1; lane 31 gets its own
  { block.shuffle(value, 5) } -> std::same_as<float>;       // the value of lane 5
  { block.any(predicate) } -> std::same_as<bool>;
  { block.all(predicate) } -> std::same_as<bool>;
  { block.ballot(predicate) } -> std::same_as<std::uint32_t>;  // bit i: what lane i says

  // K items at once from items[i] on, which must be aligned to all of them. The array is global or shared.
  { block.template load<4>(items, 0) } -> std::same_as<Vector<float, 4>>;
  block.template store<4>(items, 0, vector);
  block.prefetch(items, 0, 4, 8);  // asks the cache for items 0 … 3 of an array of 8; changes nothing else

  // Atomics at device scope, on global arrays: what blocks of one launch tell each other. All are relaxed: they order
  // nothing else, so that what is handed over must be inside the word itself.
  { block.fetch_add(words, 0, word) } -> std::same_as<std::uint32_t>;  // gives what was there before
  { block.load_atomic(words, 0) } -> std::same_as<std::uint32_t>;
  block.store_atomic(words, 0, word);
  block.pause();  // in every loop that waits for another thread: lets it get on
};

/// Shape of a launch.
struct Grid {
  std::int64_t blocks = 1;
  int threads = 1;               ///< threads a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory a block
};

}  // namespace scanlab::simt
