// The thread block as a kernel sees it. Two models of it exist: GpuBlock (gpu_block.cuh) and CpuBlock
// (executor.hpp). Names are those of CUDA's cooperative groups where it has one.
#pragma once

#include <concepts>
#include <cstdint>

#include "harness/model/portable.hpp"

namespace scanlab::simt {

/// A kernel is a function object: `kernel(block, arguments…)`, run once by each thread of each block, with
///   static constexpr const char* kName;    // for messages and reports
///   static constexpr int kMaxThreads;      // launch bound, threads a block
template <class B>
concept ThreadBlock = requires(B& block) {
  { block.thread_rank() } -> std::same_as<int>;  // 0 … num_threads() - 1
  { block.num_threads() } -> std::same_as<int>;
  { block.group_index() } -> std::same_as<std::int64_t>;  // this block's number in the grid
  block.sync();                                           // barrier of the block's threads
  block.template shared<int>(1);                          // dynamic shared memory, as an array of a type
  block.step("name", 1);                                  // names what follows, for `explain`; nothing on the GPU
  block.tally_swap();                                     // counts an exchange of two items; nothing on the GPU
};

/// An array in device memory, as the machine of `Block` addresses it: a raw pointer on the GPU, a checked and traced
/// span on the executor. Both read `x[i]`, with any integer i.
template <class Block, class T>
using Global = typename Block::template Global<T>;

/// Shape of a launch.
struct Grid {
  std::int64_t blocks = 1;
  int threads = 1;               ///< threads a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory a block
};

}  // namespace scanlab::simt
