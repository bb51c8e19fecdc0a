// one_wave: every multiprocessor scans one tile, which its registers hold.
//
// Idea    As one_block, on the whole device: 64 or 128 KiB of items an SM stay in registers between being read and
// written.
//         A block publishes its tile's aggregate; then each of its threads waits for that of one block before its own.
//         No chain of hand-overs, and nothing in shared memory but a few totals.
// Work    3 n, and 5 shuffles a vector, a warp and a block.
// Span    about 40 steps, and one way to memory and back.
// Traffic 2 n.
// Bits    Fixed for a device: the tile depends on n and on how many multiprocessors there are.
// Source  Merrill and Garland 2016 for the state words; CUB's look-ahead scan (CCCL 3.4) for aggregates only.
#include "variants/scan/register_tile.cuh"
#include "variants/scan/tile_state.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/simt/gpu_block.cuh"

namespace scanlab::scan {
namespace {

/// Threads of a block at most: elements of 1 and 2 bytes take more registers a thread.
constexpr int most_threads(std::size_t element_bytes) { return element_bytes < 4 ? 512 : 1024; }

/// Waits for the aggregates of the blocks before this one, one a thread, and folds them. Every thread has the result.
/// `totals`: shared memory, one item a warp.
template <Monoid Op, class Block>
__device__ typename Op::Item blocks_before(Block& block, const TileStates<Block, typename Op::Item>& states,
                                           std::uint32_t run, typename Op::Item* totals, Op op) {
  using Item = typename Op::Item;
  Item before = Op::identity();
  for (std::int64_t first = 0; first < block.group_index(); first += block.num_threads()) {
    const std::int64_t mine = first + block.thread_rank();
    Item item = Op::identity();
    if (mine < block.group_index()) {
      TileState<Item> state;
      do {
        state = load_state<Item>(block, states, mine);
      } while (!state.is(run));
      item = state.item();
    }
    __syncwarp();
    item = fold_warp(block, item, op);
    block.sync();  // everyone is done with the totals of before
    if (block.lane() == 0) totals[block.warp()] = item;
    block.sync();  // the warps' totals are there
    const int warps = block.num_threads() / kLanes;
    Item total = block.lane() < warps ? totals[block.lane()] : Op::identity();
    before = op(before, block.shuffle(fold_warp(block, total, op), 0));
  }
  return before;
}

/// in, out: n items, may be the same array. last_run: the number of the run before this one. states: one a block.
template <Monoid Op, int kRows>
__global__ void __launch_bounds__(most_threads(sizeof(typename Op::Element)), 1)
    one_wave(const typename Op::Item* in, typename Op::Item* out, std::int64_t n, bool aligned, Mode mode,
             std::uint32_t* last_run, typename TileState<typename Op::Item>::Word* states, Op op) {
  using Item = typename Op::Item;
  __shared__ __align__(16) unsigned char memory[kMostWarps * sizeof(Item)];
  __shared__ std::uint32_t this_run;
  Item* const totals = reinterpret_cast<Item*>(memory);
  simt::GpuBlock block;

  if (block.thread_rank() == 0) this_run = block.load_atomic(last_run, 0) + 1;
  RegisterTile<Op, kRows> tile;
  const std::int64_t base = block.group_index() * tile.items(block.num_threads());
  tile.load(block, in, base, n, aligned);
  const Item aggregate = tile.scan(block, totals, op);  // its barrier also covers this_run
  const std::uint32_t run = this_run;
  if (block.thread_rank() == 0) store_state<Item>(block, states, block.group_index(), aggregate, run);
  const Item prefix = blocks_before(block, states, run, totals, op);
  tile.store(block, out, base, n, aligned, mode, prefix, op);
  // The last block has seen an aggregate of every other, so each has read the number before it is changed.
  if (block.thread_rank() == 0 && block.group_index() == gridDim.x - 1) block.store_atomic(last_run, 0, run);
}

class OneWave {
 public:
  static Description describe() {
    Description about;
    about.id = "one_wave";
    about.title = "One tile a multiprocessor, in registers";
    about.source = "Merrill and Garland 2016; CUB's look-ahead scan";
    about.parameters = {
        {.name = "rows", .values = {"4", "2", "8"}, .meaning = "vectors a thread; 8 of 4-byte items only"}};
    about.limits = "16 KiB a multiprocessor, times rows";
    about.in_place = true;
    about.cost = {.work = "about 3n", .span = "40 steps", .traffic = "2n"};
    return about;
  }

  explicit OneWave(const Problem& problem)
      : problem_(problem),
        rows_(std::stoi(setting(describe(), problem.settings, "rows"))),
        multiprocessors_(cuda::multiprocessors()),
        shape_(shape()) {}

  Plan plan() const {
    if (multiprocessors_ == 0) return Plan::refuse("one_wave asks how many multiprocessors there are: it needs a GPU");
    const std::size_t bytes = item_bytes(problem_.type, problem_.op);
    if (!fits(rows_, bytes)) return Plan::refuse("one_wave takes 8 vectors a thread of 4-byte items only");
    if (shape_.blocks > multiprocessors_) {
      return Plan::refuse("one_wave holds one tile a multiprocessor, of " +
                          std::to_string(most_threads(element_bytes(problem_.type)) * rows_ / 64) +
                          " KiB at most with " + std::to_string(rows_) + " vectors a thread");
    }
    simt::Workspace workspace;
    take(workspace);
    return {.workspace_bytes = workspace.bytes(), .chain = kTileChain + shape_.blocks};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    simt::CudaMachine machine(stream);
    const auto [last_run, words] = take(workspace);
    using Word = typename TileState<typename Op::Item>::Word;
    prepare_tiles<Word>(machine, last_run, static_cast<std::uint32_t>(Tickets::kFirstRun), static_cast<Word*>(words),
                        shape_.blocks * TileState<typename Op::Item>::kWords);
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    if (problem_.items == 0) return;
    simt::Workspace workspace(memory);
    const auto [last_run, words] = take(workspace);
    const bool aligned = simt::CudaMachine::aligned(in, 16) && simt::CudaMachine::aligned(out, 16);
    const auto kernel = [&] {
      if constexpr (fits(8, sizeof(typename Op::Item))) {
        if (rows_ == 8) return one_wave<Op, 8>;
      }
      return rows_ == 2 ? one_wave<Op, 2> : one_wave<Op, 4>;
    }();
    cuda::launch(kernel, shape_, stream, in, out, problem_.items, aligned, problem_.mode, last_run,
                 static_cast<typename TileState<typename Op::Item>::Word*>(words), op);
  }

 private:
  /// Whether the registers of a full block hold so many vectors a thread, and all else, without spilling. Small items
  /// and large ones need more besides.
  static constexpr bool fits(int rows, std::size_t item_bytes) { return rows < 8 || item_bytes == 4; }

  struct Memory {
    std::uint32_t* last_run;
    void* states;
  };
  Memory take(simt::Workspace& workspace) const {
    std::uint32_t* const last_run = workspace.take<std::uint32_t>(1);
    return {last_run, workspace.take<LongWord>(2 * shape_.blocks)};
  }

  /// Few blocks have few aggregates to wait for, small blocks start and meet sooner; both give way to a single wave.
  /// All blocks are resident, since they wait for each other.
  cuda::LaunchShape shape() const {
    const std::int64_t rows = std::max<std::int64_t>(ceil_div(vectors_of(problem_), kLanes * rows_), 1);  // of warps
    std::int64_t warps = 8;
    while (warps < 16 && ceil_div(rows, warps) > kFewBlocks) warps *= 2;
    if (ceil_div(rows, warps) > kFewBlocks) {
      warps = std::clamp<std::int64_t>(ceil_div(rows, std::max(multiprocessors_, 1)), 8,
                                       most_threads(element_bytes(problem_.type)) / kLanes);
    }
    return {.blocks = static_cast<int>(ceil_div(rows, warps)),
            .threads = static_cast<int>(warps) * kLanes,
            .cooperative = true};
  }
  static constexpr int kFewBlocks = 64;

  Problem problem_;
  int rows_;
  int multiprocessors_;
  cuda::LaunchShape shape_;
};

const Registration kOneWave{cuda::cuda_scan<OneWave>()};

}  // namespace
}  // namespace scanlab::scan
#endif
