// look_ahead: one pass by a persistent block on every multiprocessor, whose warps have roles.
//
// Idea    A block takes every so-many-th tile and passes each through a ring of stages in shared memory. One warp
// loads, by
//         bulk copies that cost no registers. The reduce warps find a tile's aggregate, and publish it at once: so that
//         no tile waits for another's prefix, as in look-back, but only for aggregates, which need nothing but the
//         data. One warp looks ahead: it adds the aggregates of the tiles before its own. The scan warps put it
//         together in place, and store by bulk copies. While a tile is scanned the next is reduced and others are
//         loading.
//
//             load      | tile 0 | tile 1 | tile 2 | tile 3 |
//             reduce             | tile 0 | tile 1 | tile 2 | tile 3 |      publish each aggregate
//             look ahead             | 0 | |  1 |   |  2 |                  gather those of the tiles before
//             scan                       | tile 0 | tile 1 | tile 2 |       and store
//
// Work    3 n: reduce, scan with the prefix; and the aggregates before each tile, a few hundred an SM at a time.
// Traffic 2 n, and 8 or 16 bytes a tile.
// Bits    Fixed: items are folded in an order that depends on n alone, not on which block takes which tile.
// Safe    Blocks wait for each other, and so are launched cooperatively: none starts before all can be resident.
// Needs   Compute capability 9.0. Pointers to multiples of 16 bytes are copied in bulk, others by hand, slowly.
// Source  CUB's look-ahead scan for Blackwell (CCCL 3.4) for aggregates only; Merrill and Garland 2016 for the state
//         words; this form, with run numbers and its shape, is Scanlab's.
#include "variants/scan/tile_state.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/bulk_copy.cuh"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/simt/gpu_block.cuh"
#include "harness/simt/registration.hpp"

namespace scanlab::scan {
namespace {

using cuda::TransactionBarrier;

/// How a block is cut up. A thread's vectors of 16 bytes lie side by side, so their number is odd: eight threads then
/// read eight different groups of four banks.
struct Shape {
  int warps = 4;     ///< that reduce, and as many that scan
  int vectors = 15;  ///< of 16 bytes, a thread
  int stages = 6;
  int loading = 2;  ///< stages that load at a time: more in flight only lengthens the memory's queues

  SCANLAB_HD constexpr int part_bytes() const { return 32 * vectors * cuda::kBulkBytes; }
  SCANLAB_HD constexpr int tile_bytes() const { return warps * part_bytes(); }
  SCANLAB_HD constexpr int threads() const { return 32 * (2 + 2 * warps); }
};
constexpr int kMostWarps = 8;
constexpr int kMaxThreads = Shape{.warps = kMostWarps}.threads();

/// Tiles whose aggregates are folded as one, in one way, whoever does it: a few a lane.
template <class Item>
constexpr int kTilesALane = 64 / sizeof(TileState<Item>);
template <class Item>
constexpr int kGroup = 32 * kTilesALane<Item>;
constexpr int kMostTilesAGroup = 256;

/// Where the state of a tile is: such that lanes that each look after neighbouring tiles read neighbouring states.
template <class Item>
SCANLAB_HD constexpr std::int64_t place_of(std::int64_t tile) {
  return tile / kGroup<Item> * kGroup<Item> + tile % kTilesALane<Item> * 32 + tile % kGroup<Item> / kTilesALane<Item>;
}

template <class Item>
struct Arguments {
  const Item* in;  ///< n items
  Item* out;       ///< n items, may be `in`
  std::int64_t n;
  std::int64_t tiles;
  Mode mode;
  Shape shape;
  bool in_bulk;                            ///< whether both arrays begin at a multiple of 16 bytes
  std::uint32_t* last_run;                 ///< the number of the run before this one
  typename TileState<Item>::Word* states;  ///< `tiles` aggregates
};

/// What a block keeps of the tile in a stage, besides its items.
template <class Item>
struct Stage {
  Item prefix;                      ///< of all items before the tile
  Item warp_aggregate[kMostWarps];  ///< of each warp's part
  Item before[32 * kMostWarps];     ///< of the items before a thread's own, in its warp's part
  std::uint32_t run;
  TransactionBarrier full;      ///< the items are here
  TransactionBarrier reduced;   ///< `before` and `warp_aggregate` are written
  TransactionBarrier prefixed;  ///< `prefix` is written
  TransactionBarrier free;      ///< the results have been read by the stores
};

template <class Item>
constexpr std::size_t shared_bytes(const Shape& shape) {
  return shape.stages * (shape.tile_bytes() + sizeof(Stage<Item>));
}

/// A place in the ring, with the parity of its barriers in this round.
struct Slot {
  int stage = 0;
  int parity = 0;
  __device__ void advance(int stages) {
    if (++stage < stages) return;
    stage = 0;
    parity ^= 1;
  }
};

template <Monoid Op>
class LookAheadBlock {
 public:
  using Item = typename Op::Item;
  static constexpr int kVector = cuda::kBulkBytes / sizeof(Item);
  struct alignas(cuda::kBulkBytes) Vector {
    Item item[kVector];
  };

  __device__ LookAheadBlock(const Arguments<Item>& arguments, unsigned char* shared)
      : given_(arguments),
        shape_(arguments.shape),
        tiles_(shared),
        stages_(reinterpret_cast<Stage<Item>*>(shared + shape_.stages * shape_.tile_bytes())),
        lane_(threadIdx.x % 32) {}

  __device__ void run() {
    const int warp = threadIdx.x / 32;
    if (warp == 0) return load();
    for (int stage = warp - 1; stage < shape_.stages; stage += 1 + 2 * shape_.warps) {
      if (lane_ == 0) {  // a warp's lanes would do it one after another
        stages_[stage].reduced.init(shape_.warps);
        stages_[stage].prefixed.init(1);
        stages_[stage].free.init(shape_.warps);
      }
    }
    __syncthreads();  // every barrier is made
    if (warp == 1) return look_ahead();
    if (warp < 2 + shape_.warps) return reduce(warp - 2);
    scan(warp - 2 - shape_.warps);
  }

 private:
  /// Every role does this with each of the block's tiles, in order, with the stages of the ring in turn.
  template <class Role>
  __device__ void for_each_tile(Role role) {
    Slot slot;
    for (std::int64_t tile = blockIdx.x; tile < given_.tiles; tile += gridDim.x) {
      role(tile, stages_[slot.stage], slot);
      slot.advance(shape_.stages);
    }
  }

  /// The load warp. Its first tile is under way before the other warps are.
  __device__ void load() {
    if (lane_ == 0) {
      for (int stage = 0; stage < shape_.stages; ++stage) stages_[stage].full.init(1);
      cuda::make_barriers_visible();
    }
    Slot oldest;  // that may still be loading
    int loading = 0;
    for_each_tile([&](std::int64_t tile, Stage<Item>& stage, Slot slot) {
      if (tile != blockIdx.x) stage.free.wait(slot.parity ^ 1);
      if (++loading > shape_.loading) {
        stages_[oldest.stage].full.wait(oldest.parity);
        oldest.advance(shape_.stages);
      }
      load_tile(slot.stage, tile);
      if (tile == blockIdx.x) __syncthreads();  // the other warps' barriers are made
    });
  }

  __device__ void load_tile(int slot, std::int64_t tile) {
    const int items = items_in(tile, 0, tile_items());
    const int in_bulk = bulk_items(items);
    const int bytes = in_bulk * static_cast<int>(sizeof(Item));
    const Item* const from = given_.in + tile * tile_items();
    Item* const to = items_of(slot);
    TransactionBarrier& full = stages_[slot].full;
    if (lane_ == 0 && bytes > 0) cuda::bulk_load(to, from, bytes, full);
    if (in_bulk < tile_items()) {  // the last tile, or all of them if not aligned
      const int whole_parts = (items + part_items() - 1) / part_items() * part_items();
      for (int i = in_bulk + lane_; i < whole_parts; i += 32) to[i] = i < items ? from[i] : Op::identity();
      __syncwarp();  // what was written by hand is covered by lane 0's arrival
    }
    if (lane_ == 0) full.arrive_expecting(bytes);
  }

  /// A reduce warp: its part's aggregate, and what comes before each thread in it.
  __device__ void reduce(int warp) {
    const std::uint32_t run = block_.load_atomic(given_.last_run, 0) + 1;
    for_each_tile([&](std::int64_t tile, Stage<Item>& stage, Slot slot) {
      stage.full.wait(slot.parity);
      const Vector* const mine = vectors_of(slot.stage, warp);
      Item total = Op::identity();
      for_each_vector(mine, tile, warp, [&](const Vector& vector, int) {
        for (int k = 0; k < kVector; ++k) total = op_(total, vector.item[k]);
      });
      for (int distance = 1; distance < 32; distance *= 2) {
        const Item left = block_.shuffle_up(total, distance);
        if (lane_ >= distance) total = op_(left, total);
      }
      const Item before = block_.shuffle_up(total, 1);
      stage.before[32 * warp + lane_] = lane_ == 0 ? Op::identity() : before;
      if (lane_ == 31) stage.warp_aggregate[warp] = total;
      if (warp == 0) stage.run = run;
      __syncwarp();  // all of the warp's results are covered by lane 0's arrival
      if (lane_ == 0) stage.reduced.arrive();
      if (warp == 0) {
        stage.reduced.wait(slot.parity);
        if (lane_ == 0)
          store_state<Item>(block_, given_.states, place_of<Item>(tile), warp_prefix(stage, shape_.warps), run);
      }
    });
  }

  /// The look-ahead warp: the prefix of each of the block's tiles, from the aggregates of those since the one before.
  __device__ void look_ahead() {
    Item carry = Op::identity();  // of the groups before `group`
    std::int64_t group = 0;
    for_each_tile([&](std::int64_t tile, Stage<Item>& stage, Slot slot) {
      stage.reduced.wait(slot.parity);
      // The tile's own group, and as a rule one before it: both are asked for before either is waited for.
      States own = ask(tile / kGroup<Item>, static_cast<int>(tile % kGroup<Item>));
      for (; group < tile / kGroup<Item>; ++group) {
        States all = ask(group, kGroup<Item>);
        carry = op_(carry, fold(all, stage.run));
      }
      const Item prefix = op_(carry, fold(own, stage.run));
      if (lane_ == 0) {
        stage.prefix = prefix;
        stage.prefixed.arrive();
        if (tile == given_.tiles - 1) block_.store_atomic(given_.last_run, 0, stage.run);
      }
    });
  }

  /// What a lane has last seen of its tiles of a group.
  struct States {
    std::int64_t first;  ///< place of the first
    int tiles;           ///< that count
    TileState<Item> of[kTilesALane<Item>];
  };

  __device__ void load_states(States& states, unsigned which) {
#pragma unroll
    for (int i = 0; i < kTilesALane<Item>; ++i) {
      if (which >> i & 1) states.of[i] = load_state<Item>(block_, given_.states, states.first + i * 32);
    }
  }

  /// Asks for the first `tiles` tiles of a group.
  __device__ States ask(std::int64_t group, int tiles) {
    States states;
    states.first = place_of<Item>(group * kGroup<Item> + lane_ * kTilesALane<Item>);
    states.tiles = max(0, min(tiles - lane_ * kTilesALane<Item>, kTilesALane<Item>));
    load_states(states, (1u << states.tiles) - 1);
    return states;
  }

  /// Waits for the tiles that were asked for, and folds their aggregates. Lane 0 has the result.
  __device__ Item fold(States& states, std::uint32_t run) {
    unsigned missing = (1u << states.tiles) - 1;
    while (true) {
#pragma unroll
      for (int i = 0; i < kTilesALane<Item>; ++i) {
        if ((missing >> i & 1) && states.of[i].is(run)) missing ^= 1u << i;
      }
      if (missing == 0) break;
      load_states(states, missing);
    }
    __syncwarp();
    Item total = Op::identity();
#pragma unroll
    for (int i = 0; i < kTilesALane<Item>; ++i) {
      if (i < states.tiles) total = op_(total, states.of[i].item());
    }
    for (int distance = 1; distance < 32; distance *= 2) {  // lane 0 takes in those to its right, in order
      const Item right = block_.shuffle_down(total, distance);
      total = op_(total, right);
    }
    return total;
  }

  /// A scan warp: its part's results, in place of the items, and out.
  __device__ void scan(int warp) {
    Stage<Item>* stored = nullptr;  // the stage whose results the latest store reads
    for_each_tile([&](std::int64_t tile, Stage<Item>& stage, Slot slot) {
      stage.reduced.wait(slot.parity);
      const Item before = op_(warp_prefix(stage, warp), stage.before[32 * warp + lane_]);
      stage.prefixed.wait(slot.parity);
      Item running = op_(stage.prefix, before);
      Vector* const mine = vectors_of(slot.stage, warp);
      for_each_vector(mine, tile, warp, [&](Vector vector, int v) {
        for (int k = 0; k < kVector; ++k) {
          const Item next = op_(running, vector.item[k]);
          vector.item[k] = given_.mode == Mode::exclusive ? running : next;
          running = next;
        }
        mine[v] = vector;
      });
      cuda::show_to_bulk_stores();
      __syncwarp();  // the whole part is written, and shown, before a lane stores it
      store_part(slot.stage, tile, warp);
      if (stored != nullptr) release<1>(*stored);
      stored = &stage;
    });
    cuda::wait_until_stores_have_read<0>();  // shared memory goes with the block
  }

  /// Calls f with each of a thread's vectors, in order. A part that holds nothing, in the last tile, is left out.
  template <class F>
  __device__ void for_each_vector(const Vector* mine, std::int64_t tile, int warp, F f) {
    if (items_in(tile, warp * part_items(), part_items()) == 0) return;
#pragma unroll 3
    for (int v = 0; v < shape_.vectors; ++v) f(mine[v], v);
  }

  __device__ void store_part(int slot, std::int64_t tile, int warp) {
    const int items = items_in(tile, warp * part_items(), part_items());
    const int in_bulk = bulk_items(items);
    const Item* const from = items_of(slot) + warp * part_items();
    Item* const to = given_.out + tile * tile_items() + warp * part_items();
    if (lane_ == 0 && in_bulk > 0) cuda::bulk_store(to, from, in_bulk * static_cast<int>(sizeof(Item)));
    for (int i = in_bulk + lane_; i < items; i += 32) to[i] = from[i];
  }

  /// Gives a stage back once the stores before the latest `kPending` have read it.
  template <int kPending>
  __device__ void release(Stage<Item>& stage) {
    if (lane_ == 0) cuda::wait_until_stores_have_read<kPending>();
    __syncwarp();  // what other lanes read by hand is read
    if (lane_ == 0) stage.free.arrive();
  }

  /// Of the parts of the warps before `warp`.
  __device__ Item warp_prefix(const Stage<Item>& stage, int warp) const {
    Item prefix = Op::identity();
#pragma unroll
    for (int w = 0; w < kMostWarps; ++w) {
      if (w < warp) prefix = op_(prefix, stage.warp_aggregate[w]);
    }
    return prefix;
  }

  __device__ int part_items() const { return shape_.part_bytes() / static_cast<int>(sizeof(Item)); }
  __device__ int tile_items() const { return shape_.tile_bytes() / static_cast<int>(sizeof(Item)); }
  /// How many of the `most` items from `offset` on of a tile there are.
  __device__ int items_in(std::int64_t tile, int offset, int most) const {
    const std::int64_t left = given_.n - tile * tile_items() - offset;
    return static_cast<int>(max(std::int64_t{0}, min(left, std::int64_t{most})));
  }
  __device__ int bulk_items(int items) const { return given_.in_bulk ? items / kVector * kVector : 0; }
  __device__ Item* items_of(int slot) const { return reinterpret_cast<Item*>(tiles_ + slot * shape_.tile_bytes()); }
  __device__ Vector* vectors_of(int slot, int warp) const {
    return reinterpret_cast<Vector*>(items_of(slot)) + (32 * warp + lane_) * shape_.vectors;
  }

  const Arguments<Item>& given_;
  const Shape shape_;
  unsigned char* const tiles_;
  Stage<Item>* const stages_;
  const int lane_;
  simt::GpuBlock block_;
  Op op_;
};

template <Monoid Op>
__global__ void __launch_bounds__(kMaxThreads, 1)
    look_ahead(const __grid_constant__ Arguments<typename Op::Item> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  LookAheadBlock<Op>(arguments, shared).run();
#endif
}

/// By the size of its tile in KiB, and the shape that gives it. Fewer, larger tiles cost less; more, smaller ones fill
/// the device sooner.
struct NamedShape {
  const char* tile;
  Shape shape;
};
constexpr NamedShape kShapes[] = {
    {"30", {.warps = 4, .vectors = 15, .loading = 2}}, {"36", {.warps = 8, .vectors = 9, .loading = 2}},
    {"28", {.warps = 8, .vectors = 7, .loading = 2}},  {"26", {.warps = 4, .vectors = 13, .loading = 2}},
    {"22", {.warps = 4, .vectors = 11, .loading = 3}}, {"18", {.warps = 4, .vectors = 9, .loading = 3}},
    {"12", {.warps = 8, .vectors = 3, .loading = 3}},  {"10", {.warps = 4, .vectors = 5, .loading = 4}},
};

class LookAhead {
 public:
  static Description describe() {
    Description about;
    about.id = "look_ahead";
    about.title = "Persistent blocks, bulk copies, warps with roles";
    about.source = "CUB's look-ahead scan for Blackwell (CCCL 3.4), in a form of its own";
    Parameter tile{.name = "tile", .meaning = "KiB of a tile, and with it how a block is cut up"};
    for (const NamedShape& each : kShapes) tile.values.emplace_back(each.tile);
    about.parameters = {tile};
    about.limits = "any n; compute capability 9.0 and later";
    about.in_place = true;
    about.cost = {.work = "about 3n", .span = "the tiles of a block", .traffic = "2n"};
    return about;
  }

  explicit LookAhead(const Problem& problem)
      : problem_(problem),
        multiprocessors_(cuda::multiprocessors()),
        shape_(find_shape(setting(describe(), problem.settings, "tile"))),
        item_bytes_(static_cast<std::int64_t>(item_bytes(problem.type, problem.op))),
        tiles_(ceil_div(problem.items * item_bytes_, shape_.tile_bytes())) {
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      const std::size_t a_stage = shape_.tile_bytes() + sizeof(Stage<typename Op::Item>);
      const auto most = static_cast<int>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / a_stage);
      // A stage is given back when the next tile is stored: a ring of one would wait for itself.
      shape_.stages = std::clamp<std::int64_t>(tiles_a_block(), 2, std::max(most, 2));
      shape_.loading = std::min(shape_.loading, shape_.stages);
    });
  }

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse("look_ahead needs compute capability 9.0: it copies in bulk");
    with_monoid(problem_.type, problem_.op,
                [&]<class Op>(Op) { cuda::allow(look_ahead<Op>, launch_shape<typename Op::Item>()); });
    simt::Workspace workspace;
    take(workspace);
    // A thread's items, lanes and warps; a group's tiles, and the groups.
    const std::int64_t in_a_tile = shape_.vectors * cuda::kBulkBytes / item_bytes_ + 5 + kMostWarps;
    return {.workspace_bytes = workspace.bytes(), .chain = in_a_tile + kMostTilesAGroup / 32 + 5 + tiles_ / 64 + 4};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    using State = TileState<typename Op::Item>;
    using Word = typename State::Word;
    simt::Workspace workspace(memory);
    simt::CudaMachine machine(stream);
    const Memory parts = take(workspace);
    prepare_tiles<Word>(machine, parts.last_run, static_cast<std::uint32_t>(Tickets::kFirstRun),
                        static_cast<Word*>(parts.states), places() * State::kWords);
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    using Item = typename Op::Item;
    if (tiles_ == 0) return;
    simt::Workspace workspace(memory);
    const Memory parts = take(workspace);
    const auto in_bulk =
        simt::CudaMachine::aligned(in, cuda::kBulkBytes) && simt::CudaMachine::aligned(out, cuda::kBulkBytes);
    cuda::launch(look_ahead<Op>, launch_shape<Item>(), stream,
                 Arguments<Item>{.in = in,
                                 .out = out,
                                 .n = problem_.items,
                                 .tiles = tiles_,
                                 .mode = problem_.mode,
                                 .shape = shape_,
                                 .in_bulk = in_bulk,
                                 .last_run = parts.last_run,
                                 .states = static_cast<typename TileState<Item>::Word*>(parts.states)});
  }

 private:
  static Shape find_shape(const std::string& tile) {
    for (const NamedShape& each : kShapes) {
      if (tile == each.tile) return each.shape;
    }
    return kShapes[0].shape;
  }

  std::int64_t tiles_a_block() const { return ceil_div(tiles_, std::max(multiprocessors_, 1)); }
  std::int64_t places() const { return ceil_div(tiles_, kMostTilesAGroup) * kMostTilesAGroup; }

  /// A block an SM, all resident: they wait for each other.
  template <class Item>
  cuda::LaunchShape launch_shape() const {
    return {.blocks = static_cast<int>(std::min<std::int64_t>(tiles_, multiprocessors_)),
            .threads = shape_.threads(),
            .shared_bytes = shared_bytes<Item>(shape_),
            .cooperative = true};
  }

  struct Memory {
    std::uint32_t* last_run;
    void* states;
  };
  Memory take(simt::Workspace& workspace) const {
    std::uint32_t* const last_run = workspace.take<std::uint32_t>(1);
    return {last_run, workspace.take<LongWord>(2 * places())};  // as many words as the largest item takes
  }

  Problem problem_;
  int multiprocessors_;
  Shape shape_;
  std::int64_t item_bytes_;
  std::int64_t tiles_;
};

const Registration kLookAhead{cuda::cuda_scan<LookAhead>()};

}  // namespace
}  // namespace scanlab::scan
#endif
