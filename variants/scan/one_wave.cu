// one_wave: a few blocks a multiprocessor scan a tile each, which their registers hold.
//
// Idea    As one_block, on the whole device: up to 128 KiB of items an SM stay in registers between being read and
//         written. A block publishes its tile's aggregate as soon as it has it, scans its rows, and by then those of
//         the blocks before it are there as a rule. Asking for them sooner, by warps that do nothing else, is slower:
//         what asks in vain holds up what publishes. The blocks of an SM read in turns, so that the first ones meet
//         and write while the others read: all at once, every one of them would wait for its last item at the same
//         time, and nothing would be written until everything is read. That is for what L2 holds: read from memory,
//         which is slower than their turns, 2^22 items of 4 bytes take about a tenth longer for it.
// Work    4 n, and 5 shuffles a vector, a warp and a block; 3 n where the order of operands matters.
// Span    about 40 steps, and one way to memory and back.
// Traffic 2 n.
// Bits    Fixed for a device: the tile depends on n and on how many multiprocessors there are.
// Safe    A block waits only for blocks of lower numbers, which the hardware starts first. CUDA does not promise that
//         it does; CUB's scans count on it as well. Tickets, which need no such promise, cost a way to L2.
// Source  Merrill and Garland 2016 for the state words; CUB's look-ahead scan (CCCL 3.4) for aggregates only.
#include "variants/scan/aggregates.cuh"
#include "variants/scan/tile_plan.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/cuda/turns.cuh"

namespace scanlab::scan {
namespace {

constexpr int kWarps = 8;  // of a block at most
constexpr int kMostBlocks = 1024;

/// Blocks that a multiprocessor holds at a time: elements of 1 and 2 bytes take more registers a thread.
constexpr int blocks_at_a_time(std::size_t element_bytes) {
  return element_bytes == 1 ? 2 : element_bytes == 2 ? 3 : 4;
}

/// As many of them as registers are rationed for. Ragged rows of 2-byte elements and of 16-byte items take more of
/// those: then the last blocks start later, and nothing waits for what has not started, since a block waits only for
/// those before it.
template <Monoid Op, bool kWhole>
constexpr int kRationedFor = blocks_at_a_time(sizeof(typename Op::Element)) -
                             (!kWhole && (sizeof(typename Op::Element) == 2 || sizeof(typename Op::Item) == 16) ? 1
                                                                                                                : 0);

/// Waits for the aggregates of the blocks before this one, and folds them, 32 a warp. Every thread has the result.
/// `totals`: shared memory, an item for each 32 blocks, not in use by anything else. One barrier.
template <Monoid Op, class Block>
__device__ typename Op::Item blocks_before(Block& block, const TileStates<Block, typename Op::Item>& states,
                                           std::uint32_t run, typename Op::Item* totals, Op op) {
  using Item = typename Op::Item;
  const auto blocks = static_cast<int>(block.group_index());
  for (int first = block.warp() * kLanes; first < blocks; first += block.num_threads()) {
    Item item = Op::identity();
    if (first + block.lane() < blocks) {
      TileState<Item> state;
      do {
        state = load_state<Item>(block, states, first + block.lane());
      } while (!state.is(run));
      item = state.item();
    }
    __syncwarp();  // lanes wait for blocks of their own
    item = fold_warp(block, item, op);
    if (block.lane() == 0) totals[first / kLanes] = item;
  }
  block.sync();  // the totals are there
  Item before = Op::identity();
  for (int i = 0; i * kLanes < blocks; ++i) before = op(before, totals[i]);
  return before;
}

/// in, out: n items, may be the same array. last_run, states: of AggregateMemory, for a tile a block.
template <Monoid Op, int kRows, bool kWhole>
__global__ void __launch_bounds__(kWarps* kLanes, (kRationedFor<Op, kWhole>))
    one_wave(const typename Op::Item* in, typename Op::Item* out, std::int64_t n, bool aligned, Mode mode,
             int multiprocessors, std::uint32_t* last_run, typename TileState<typename Op::Item>::Word* states, Op op) {
  using Item = typename Op::Item;
  __shared__ __align__(16) unsigned char memory[(kWarps + kMostBlocks / kLanes) * sizeof(Item)];
  __shared__ std::uint32_t this_run;
  Item* const totals = reinterpret_cast<Item*>(memory);
  simt::GpuBlock block;
  cuda::wait_for_kernels_before();
  const int warps = block.num_threads() / kLanes;

  const std::uint32_t run_before = block.thread_rank() == 0 ? block.load_atomic(last_run, 0) : 0;
  RegisterTile<Op, kRows, kWhole> tile;
  const std::int64_t base = block.group_index() * tile.items(block.num_threads());
  cuda::take_turn(multiprocessors, tile.items(block.num_threads()) * static_cast<int>(sizeof(Item)));
  tile.load(block, in, base, n, aligned);
  // The other blocks wait for this one's aggregate. Where the order of operands does not matter, it is had sooner
  // without scanning the rows, which is done while it is on its way.
  Item total;
  if constexpr (Op::kCommutative) {
    total = fold_warp(block, tile.fold(op), op);
  } else {
    total = tile.scan_rows(block, op);
  }
  if (block.lane() == 0) totals[block.warp()] = total;
  if (block.thread_rank() == 0) this_run = run_before + 1;
  block.sync();  // the warps' totals are there, and this_run
  const std::uint32_t run = this_run;
  if (block.warp() == 0) {
    const Item aggregate = fold_warp(block, block.lane() < warps ? totals[block.lane()] : Op::identity(), op);
    if (block.lane() == 0) store_state<Item>(block, states, block.group_index(), aggregate, run);
  }
  tile.place_warp(block, totals, op);
  if constexpr (Op::kCommutative) tile.scan_rows(block, op);
  const Item prefix = blocks_before(block, states, run, totals + kWarps, op);
  tile.store(block, out, base, n, aligned, mode, prefix, op);
  // The last block has seen an aggregate of every other, so each has read the number before it is changed.
  if (block.thread_rank() == 0 && block.group_index() == gridDim.x - 1) block.store_atomic(last_run, 0, run);
}

class OneWave {
 public:
  static Description describe() {
    Description about;
    about.id = "one_wave";
    about.title = "A few tiles a multiprocessor, in registers";
    about.source = "Merrill and Garland 2016; CUB's look-ahead scan";
    about.family = "one launch, one tile";
    about.overview = false;
    about.parameters = {
        {.name = "rows", .values = {"4", "1", "2", "8"}, .meaning = "vectors a thread; 8 of 4-byte elements only"}};
    about.limits = "16 KiB a multiprocessor, times rows; of 2-byte elements 12, of 1-byte ones 8";
    about.in_place = true;
    about.cost = {.work = "about 4n, and 4 a vector", .span = "40 steps", .traffic = "2n"};
    return about;
  }

  explicit OneWave(const Problem& problem)
      : problem_(problem),
        rows_(std::stoi(setting(describe(), problem.settings, "rows"))),
        multiprocessors_(cuda::multiprocessors()),
        warps_(warps()) {}

  Plan plan() const {
    if (multiprocessors_ == 0) return Plan::refuse("one_wave asks how many multiprocessors there are: it needs a GPU");
    if (!fits(rows_, element_bytes(problem_.type), item_bytes(problem_.type, problem_.op)))
      return Plan::refuse("one_wave takes 8 vectors a thread of 4-byte elements only, without affine");
    if (blocks() > most_blocks()) {
      return Plan::refuse("one_wave holds " + std::to_string(most_blocks() * kWarps * kLanes * rows_ / 64) +
                          " KiB at most with " + std::to_string(rows_) + " vectors a thread");
    }
    simt::Workspace workspace;
    const AggregateMemory parts(workspace, blocks());
    return {.workspace_bytes = workspace.bytes(), .chain = tile_chain(problem_, rows_, kWarps) + blocks()};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    AggregateMemory(workspace, blocks()).prepare<typename Op::Item>(stream, Tickets::kFirstRun);
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    using Item = typename Op::Item;
    if (problem_.items == 0) return;
    simt::Workspace workspace(memory);
    const AggregateMemory parts(workspace, blocks());
    const simt::Arrays<simt::CudaMachine, Item> arrays{in, out};
    const auto kernel = [&] {
      // With 8 vectors a thread, what waits is memory; the shorter code for whole arrays gains nothing there.
      if constexpr (fits(8, sizeof(typename Op::Element), sizeof(Item))) {
        if (rows_ == 8) return one_wave<Op, 8, false>;
      }
      return by_whole(arrays, problem_.items, [&]<bool kWhole>(std::bool_constant<kWhole>) {
        return rows_ == 1 ? one_wave<Op, 1, kWhole> : rows_ == 2 ? one_wave<Op, 2, kWhole> : one_wave<Op, 4, kWhole>;
      });
    }();
    cuda::launch(kernel, {.blocks = blocks(), .threads = warps_ * kLanes, .early = true}, stream, in, out,
                 problem_.items, aligned(arrays), problem_.mode, multiprocessors_, parts.number<std::uint32_t>(),
                 parts.states<Item>(), op);
  }

 private:
  /// Whether a thread's registers hold so many vectors, and all else, without spilling. Small elements and large items
  /// need more besides.
  static constexpr bool fits(int rows, std::size_t element_bytes, std::size_t item_bytes) {
    return rows < 8 || (element_bytes == 4 && item_bytes == 4);
  }

  std::int64_t rows_of_warps() const {
    return std::max<std::int64_t>(ceil_div(vectors_of(problem_), kLanes * rows_), 1);
  }
  int blocks() const { return static_cast<int>(ceil_div(rows_of_warps(), warps_)); }

  /// As few turns as full blocks take, and no larger blocks than that takes.
  int warps() const {
    const std::int64_t at_a_time = std::max(multiprocessors_, 1);
    const std::int64_t turns = ceil_div(rows_of_warps(), kWarps * at_a_time);
    return turns == 1 ? kWarps : static_cast<int>(ceil_div(rows_of_warps(), turns * at_a_time));
  }
  int most_blocks() const {
    return std::min(blocks_at_a_time(element_bytes(problem_.type)) * multiprocessors_, kMostBlocks);
  }

  Problem problem_;
  int rows_;
  int multiprocessors_;
  int warps_;
};

const Registration kOneWave{cuda::cuda_scan<OneWave>()};

}  // namespace
}  // namespace scanlab::scan
#endif
