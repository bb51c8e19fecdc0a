// How long small grids take side by side: blocks that all take as long, on a device that holds so many of them at once.
//
// Source  a course of CUDA in Russian, part 7, "Concurrent execution of kernels" (blocks × time of a block over
//         resident slots); the waves and the shared queue are that lecture's pictures of them, counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace scanlab::streams {

/// Streams with kernels one after another, issued depth-first.
struct SmallGrids {
  std::int64_t streams = 1;
  std::int64_t kernels = 1;  ///< a stream
  std::int64_t blocks = 1;   ///< a kernel

  std::int64_t total_blocks() const { return streams * kernels * blocks; }
  friend bool operator==(const SmallGrids&, const SmallGrids&) = default;
};

/// Blocks that the device holds at once: multiprocessors × blocks resident in each.
inline std::int64_t resident_slots(std::int64_t multiprocessors, std::int64_t blocks_per_multiprocessor) {
  return multiprocessors * blocks_per_multiprocessor;
}

/// The lecture's formula: total blocks × time of a block / slots. It knows no tail: up to one block's time too short.
inline double fluid_seconds(const SmallGrids& grids, std::int64_t slots, double block_seconds) {
  return static_cast<double>(grids.total_blocks()) * block_seconds / static_cast<double>(slots);
}

/// Waves of `slots` blocks at a time; the last one, the tail, may be partly empty.
inline std::int64_t waves(std::int64_t blocks, std::int64_t slots) { return (blocks + slots - 1) / slots; }

/// Kernels that one hardware work queue runs one after another. Up to n = ceil(streams / connections) streams share a
/// queue, and overlap only where the last kernel of one meets the first of the next: n · kernels − (n − 1).
inline std::int64_t queue_steps(const SmallGrids& grids, std::int64_t connections) {
  const std::int64_t sharing = waves(grids.streams, connections);
  return sharing * grids.kernels - (sharing - 1);
}

/// From the first block's start to the last one's end, without launches: the longer of all blocks in waves, and a
/// queue's kernels one after another, each in waves. Exact if every stream has one kernel, or if everything fits in one
/// wave; a lower bound otherwise.
inline double makespan_seconds(const SmallGrids& grids, std::int64_t slots, std::int64_t connections,
                               double block_seconds) {
  const std::int64_t by_slots = waves(grids.total_blocks(), slots);
  const std::int64_t by_queue = queue_steps(grids, connections) * waves(grids.blocks, slots);
  return static_cast<double>(std::max(by_slots, by_queue)) * block_seconds;
}

/// All kernels one after another in one stream: each has a tail of its own.
inline double serial_seconds(const SmallGrids& grids, std::int64_t slots, double block_seconds) {
  return static_cast<double>(grids.streams * grids.kernels * waves(grids.blocks, slots)) * block_seconds;
}

/// Dynamic shared memory, in bytes, that makes `blocks` blocks and no more fit a multiprocessor with
/// `shared_per_multiprocessor` bytes, of which each block takes `reserved` for the system.
inline std::size_t shared_bytes_for(std::int64_t blocks, std::size_t shared_per_multiprocessor, std::size_t reserved) {
  constexpr std::size_t kGranularity = 128;
  const std::size_t share = shared_per_multiprocessor / static_cast<std::size_t>(blocks) / kGranularity * kGranularity;
  return share > reserved ? share - reserved : 0;
}

}  // namespace scanlab::streams
