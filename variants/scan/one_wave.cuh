// one_wave: a few blocks a multiprocessor scan a tile each, which their registers hold. The kernel; one_wave.cu
// launches it, and scanlab::DeviceScan does.
//
// Idea    As one_block, on the whole device: up to 192 KiB of items an SM stay in registers between being read and
//         written. A block publishes its tile's aggregate as soon as it has it, scans its rows, and by then those of
//         the blocks before it are there as a rule. Asking for them sooner, by warps that do nothing else, is slower:
//         what asks in vain holds up what publishes. The blocks of an SM read in turns, so that the first ones meet
//         and write while the others read: all at once, every one of them would wait for its last item at the same
//         time, and nothing would be written until everything is read. Turns are for data that L2 holds: read from
//         memory, which is slower than their turns, 2^22 items of 4 bytes take about a tenth longer for it.
// Work    4 n, and 5 shuffles a vector, a warp and a block; 3 n where the order of operands matters.
// Span    about 40 steps, and one way to memory and back.
// Traffic 2 n.
// Bits    Fixed for a device: the tile depends on n and on how many multiprocessors there are.
// Safe    A block waits only for blocks of lower numbers, which the hardware starts first. CUDA does not promise that
//         it does; CUB's scans count on it as well. TileCounter, which need no such promise, cost a way to L2.
// Source  Merrill and Garland 2016 for the state words; CUB's look-ahead scan (CCCL 3.4) for aggregates only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>

#include "harness/core/ceil.hpp"
#include "variants/scan/aggregates.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"
#include "harness/cuda/turns.cuh"
#include "harness/cuda/watch.cuh"

namespace scanlab::scan {

inline constexpr int kWaveWarps = 8;  // of a block at most
inline constexpr int kMaxWaveBlocks = 1024;

/// Blocks that a multiprocessor holds at a time: elements of 1 and 2 bytes take more registers a thread, and so do more
/// than 16 rows.
constexpr int wave_blocks_at_a_time(std::size_t element_bytes, int rows = 1) {
  if (rows > 16) return 2;
  return element_bytes == 1 ? 2 : element_bytes == 2 ? 3 : 4;
}

/// The bytes of an element of an item, which may have several; a function's items are not known to.
template <Associative Op>
inline constexpr std::size_t kElementBytes = [] {
  if constexpr (requires { typename Op::Element; }) {
    return sizeof(typename Op::Element);
  } else {
    return std::min(sizeof(InOf<Op>), sizeof(OutOf<Op>));
  }
}();

/// Blocks per multiprocessor that the limit of registers guarantees. There are fewer for ragged rows of 2-byte elements
/// or 16-byte items, and for operators without identity unless items have 4 bytes. The last blocks then start later; no
/// block waits for one that has not started, since it waits only for earlier blocks. More than 8 rows leave room for
/// two.
template <Associative Op, int kRows, bool kAligned>
inline constexpr int kWaveRationedFor = [] {
  if (kRows > 8) return 2;
  constexpr std::size_t kItem = sizeof(typename Op::Item);
  const bool ragged = !kAligned && (kItem == 16 || (kElementBytes<Op> == 2 && !kPacksOnDevice<Op>));
  const bool more = ragged || (!HasIdentity<Op> && kItem != 4);
  return wave_blocks_at_a_time(kElementBytes<Op>) - (more ? 1 : 0);
}();

/// How a number of vectors is dealt out to blocks.
struct Wave {
  int warps;   ///< of a block
  int blocks;  ///< more than most(): too many for one wave

  /// rows: vectors a thread. As few turns as full blocks take, and no larger blocks than that takes.
  Wave(std::int64_t vectors, int rows, int multiprocessors) {
    const std::int64_t rows_of_warps = std::max<std::int64_t>(ceil_div(vectors, kLanes * rows), 1);
    const std::int64_t at_a_time = std::max(multiprocessors, 1);
    const std::int64_t turns = ceil_div(rows_of_warps, kWaveWarps * at_a_time);
    warps = turns == 1 ? kWaveWarps : static_cast<int>(ceil_div(rows_of_warps, turns * at_a_time));
    blocks = static_cast<int>(std::min<std::int64_t>(ceil_div(rows_of_warps, warps), kMaxWaveBlocks + 1));
  }
  static int most(std::size_t element_bytes, int multiprocessors, int rows = 1) {
    return std::min(wave_blocks_at_a_time(element_bytes, rows) * multiprocessors, kMaxWaveBlocks);
  }
};

/// States are tagged with the number of their run. In device memory is that of the run before, and each run advances
/// it, so that a captured run can be replayed.
struct CountedRuns {
  using Tag = std::uint32_t;
  template <class Item>
  using Word = typename TileState<Item>::Word;
  std::uint32_t* last;
};
/// The number is an argument, another in each launch, of so many bits that memory needs no preparation.
struct NumberedRun {
  using Tag = std::uint64_t;
  template <class Item>
  using Word = LongWord;
  std::uint64_t number;

  /// Each launch has its own. Numbers follow a random one, so that a word in memory of any content is equal with a
  /// probability of 2^-63. They are odd, and so never 0, as memory often is.
  static NumberedRun next() {
    static std::atomic<std::uint64_t> next = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}() | 1;
    return {next.fetch_add(2, std::memory_order_relaxed)};
  }
};
/// Whether launches are captured, as far as it can be known: then they are replayed with the same number.
inline bool may_be_replayed(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

/// Waits for the aggregates of the blocks before this one, and folds them, 32 a warp. Every thread has the result.
/// `totals`: shared memory, an item for each 32 blocks, not in use by anything else. One barrier.
template <Associative Op, class Word = typename TileState<typename Op::Item>::Word, class Block>
__device__ Before<Op> blocks_before(Block& block, const TileStates<Block, typename Op::Item, Word>& states,
                                    decltype(Word::tag) run, typename Op::Item* totals, Op op) {
  using Item = typename Op::Item;
  const auto blocks = static_cast<int>(block.group_index());
  for (int first = block.warp() * kLanes; first < blocks; first += block.num_threads()) {
    Item item{};
    if (first + block.lane() < blocks) {
      TileState<Item, Word> state;
      do {
        state = load_state<Item, Word>(block, states, first + block.lane());
      } while (!state.is(run));
      item = state.item();
    }
    __syncwarp();  // lanes wait for blocks of their own
    const Before<Op> total = fold_lanes(block, item, min(blocks - first, kLanes), op);
    if (block.lane() == 0) totals[first / kLanes] = item_of(total);
  }
  block.sync();  // the totals are there
  Before<Op> before = before_all(op);
  for (int i = 0; i * kLanes < blocks; ++i) before = op(before, totals[i]);
  return before;
}

/// in, out: n items, may be the same array. states: of AggregateMemory, for a tile a block. watched: memory of a Watch.
template <Associative Op, int kRows, bool kAligned, class Runs, class Watch>
__global__ void __launch_bounds__(kWaveWarps* kLanes, (kWaveRationedFor<Op, kRows, kAligned>))
    one_wave(const InOf<Op>* in, OutOf<Op>* out, std::int64_t n, bool aligned, Mode mode, int multiprocessors,
             Runs runs, typename Runs::template Word<typename Op::Item>* states, void* watched, Op op) {
  using Item = typename Op::Item;
  using Word = typename Runs::template Word<Item>;
  constexpr bool kCounts = std::is_same_v<Runs, CountedRuns>;
  __shared__ __align__(16) unsigned char memory[(kWaveWarps + kMaxWaveBlocks / kLanes) * sizeof(Item)];
  __shared__ typename Runs::Tag this_run;
  Item* const totals = reinterpret_cast<Item*>(memory);
  simt::GpuBlock block;
  const auto reached = [&](cuda::Point point) {
    if (block.thread_rank() == 0) Watch().reached(watched, point, block.group_index());
  };
  cuda::wait_for_kernels_before();
  reached(cuda::Point::begun);
  const int warps = block.num_threads() / kLanes;

  typename Runs::Tag run = 0;
  if constexpr (kCounts) {
    if (block.thread_rank() == 0) run = block.load_atomic(runs.last, 0) + 1;
  }
  RegisterTile<Op, kRows, kAligned> tile;
  const std::int64_t base = block.group_index() * tile.items(block.num_threads());
  cuda::stagger_load(multiprocessors, tile.items(block.num_threads()) * static_cast<int>(sizeof(Item)));
  tile.load(block, in, base, n, aligned);
  // The other blocks wait for this one's aggregate. Where the order of operands does not matter, it is had sooner
  // without scanning the rows, which is done while it is on its way.
  constexpr bool kFoldsFirst = Op::kCommutative && HasIdentity<Op>;
  Item total;
  if constexpr (kFoldsFirst) {
    total = fold_warp(block, tile.fold(op), op);
  } else {
    total = tile.scan_rows(block, op);
  }
  if (block.lane() == 0) totals[block.warp()] = total;
  if (kCounts && block.thread_rank() == 0) this_run = run;
  block.sync();  // the warps' totals are there, and this_run
  reached(cuda::Point::items);
  if constexpr (kCounts) {
    run = this_run;
  } else {
    run = runs.number;
  }
  if (block.warp() == 0) {
    Item own{};
    if (block.lane() < warps) own = totals[block.lane()];
    const Before<Op> aggregate = fold_lanes(block, own, warps, op);
    if (block.lane() == 0) store_state<Item, Word>(block, states, block.group_index(), item_of(aggregate), run);
    reached(cuda::Point::told);
  }
  tile.place_warp(block, totals, op);
  if constexpr (kFoldsFirst) tile.scan_rows(block, op);
  const Before<Op> prefix = blocks_before<Op, Word>(block, states, run, totals + kWaveWarps, op);
  reached(cuda::Point::prefix);
  tile.store(block, out, base, n, aligned, mode, prefix, op);
  reached(cuda::Point::stored);
  // The last block has seen an aggregate of every other, so each has read the number before it is changed.
  if constexpr (kCounts) {
    if (block.thread_rank() == 0 && block.group_index() == gridDim.x - 1) block.store_atomic(runs.last, 0, run);
  }
}

}  // namespace scanlab::scan
#endif
