// axis_columns: one pass along an axis whose items lie apart, by persistent blocks. This is the kernel;
// axis_columns.cu launches it.
//
// Idea    A tensor (rows, axis, inner) is lines of `inner` items; the scan runs across lines and restarts at every
//         axis-th of them. A tile is many lines of a few neighbouring columns, and has an aggregate for each column.
//         A thread takes a vector of columns in a few lines. While one tile is on its way from memory, the next is
//         reduced and its aggregates are published; and all warps gather what comes before the current one, from the
//         tiles above it, back to the first that has its prefix. A tile in which a row begins has it at once. Each
//         aggregate was published a whole tile earlier than it is needed, so that few wait.
//
//             load           | tile 0 | tile 1 | tile 2 | tile 3 |
//             reduce, publish         | tile 0 | tile 1 | tile 2 |
//             look back, scan, store           | tile 0 | tile 1 |
//
// Work    2 n, and for each vector of columns of a tile the states of 8 to 256 tiles above, by the width of a tile.
// Traffic 2 n. A state has 8 or 16 bytes, and each column of a tile writes two and reads as many as it works on.
// Bits    Not reproducible for floats: how far a tile looks back depends on time.
// Safe    Tiles are assigned dynamically, as those of look_ahead: a block waits for earlier tiles only, which other
//         blocks have begun.
// Source  Merrill and Garland 2016 for the look-back; the form, with vectors of states, is Scanlab's.
#pragma once

#include "variants/scan/tile_state.cuh"
#include "variants/scan_axis/segments.cuh"
#if defined(__CUDACC__)
#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "harness/cuda/launch.cuh"
#include "harness/simt/gpu_block.cuh"

namespace scanlab::scan_axis {

inline constexpr int kLanes = simt::kWarpLanes;
inline constexpr int kColumnWarps = 8;
inline constexpr int kColumnThreads = kLanes * kColumnWarps;
inline constexpr int kColumnBlocks = 2;  ///< a multiprocessor
inline constexpr int kStages = 3;        ///< tiles of a block: one is scanned, one reduced, one on its way

/// Lines that a thread takes of a tile, by the bytes of its vector: at most 32 KiB a tile. An odd number, so that lanes
/// which read lines of their own meet different banks.
constexpr int lines_a_thread(int vector_bytes) {
  return std::min(31, (32 * 1024 / (kColumnThreads * vector_bytes) - 1) | 1);
}

/// How lines are cut into tiles. `across` vectors of a line are taken by neighbouring lanes; a warp has as many such
/// groups as fit.
struct ColumnTiles {
  int across;         ///< vectors of a tile; the last tile of a line has fewer
  int groups_a_warp;  ///< each has neighbouring lines
  int lines_a_warp;
  std::int64_t vectors;    ///< of a line
  std::int64_t in_a_line;  ///< tiles side by side
  std::int64_t tiles;

  SCANLAB_HD int lines() const { return kColumnWarps * lines_a_warp; }
  SCANLAB_HD std::int64_t bands() const { return tiles / in_a_line; }

  ColumnTiles(std::int64_t all_lines, std::int64_t vectors_of_a_line, int vector_bytes) : vectors(vectors_of_a_line) {
    // The wider a tile, the more states are read for each of its items; unless lines are so long that the tile above
    // is an old one, which has its prefix.
    constexpr std::int64_t kManyTiles = 512;
    const bool is_long = vectors * vector_bytes >= kManyTiles * 512;
    const auto most = std::min<std::int64_t>((is_long ? 512 : 128) / vector_bytes, kLanes);
    across = static_cast<int>(ceil_div(vectors, ceil_div(vectors, most)));
    groups_a_warp = kLanes / across;
    lines_a_warp = groups_a_warp * lines_a_thread(vector_bytes);
    in_a_line = ceil_div(vectors, across);
    tiles = ceil_div(all_lines, lines()) * in_a_line;
  }
};

template <Associative Op>
struct ColumnArguments {
  using Item = typename Op::Item;
  const InOf<Op>* in;  ///< lines * inner items
  OutOf<Op>* out;      ///< likewise, may be `in`
  std::int64_t lines;
  std::int64_t inner;
  Rows rows;
  Mode mode;
  ColumnTiles cut;
  std::uint64_t* counter;                        ///< for scan::TileCounter
  typename scan::TileState<Item>::Word* states;  ///< a state for each column of a tile
  Op op{};
};

/// kVector: items of a thread's vector. Both arrays and `inner` are aligned to it.
template <Associative Op, int kVector>
class ColumnBlock {
 public:
  using Item = typename Op::Item;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  using State = scan::TileState<Item>;
  using Vector = simt::Vector<In, kVector>;
  static_assert(sizeof(In) == sizeof(Out), "results take the place of items");
  static constexpr int kLines = lines_a_thread(sizeof(Vector));

  struct alignas(sizeof(Item) * kVector <= 16 ? sizeof(Item) * kVector : 16) Items {
    Item item[kVector];
  };
  /// The folds of neighbouring lines in a vector of columns, each since the last head, and whether there is one.
  struct Fold {
    Items items;
    bool head;
  };

  struct Tile {
    std::int64_t number;
    std::int64_t line;
    std::int64_t vector;
    std::int64_t to_head;  ///< lines until the first that begins a row
    std::uint32_t run;
    int lines;  ///< 0: no tile was left
    int across;
  };
  static constexpr int kTiles = 8;  ///< a power of two, more than are in use at a time
  static_assert(kTiles > kStages + 2);

  struct alignas(16) Shared {
    Vector vectors[kStages][kColumnWarps][kLines * kLanes];  ///< line by line
    Tile tiles[kTiles];
    Items totals[2][kColumnWarps][kLanes];  ///< of the warps, in the columns of a tile; of the two latest tiles
    Items above[2][kColumnWarps][kLanes];   ///< of the tiles above, as each warp has found them; likewise
    bool above_heads[2][kColumnWarps][kLanes];
    bool above_all[2][kColumnWarps];  ///< whether all columns have a head there
    bool total_heads[2][kColumnWarps];
  };

  __device__ ColumnBlock(const ColumnArguments<Op>& given, unsigned char* shared)
      : given_(given),
        cut_(given.cut),
        shared_(*reinterpret_cast<Shared*>(shared)),
        op_(given.op),
        lane_(threadIdx.x % kLanes),
        warp_(threadIdx.x / kLanes),
        group_(lane_ / cut_.across),
        vector_(lane_ % cut_.across),
        first_line_(warp_ * cut_.lines_a_warp) {}

  __device__ void run() {
    cuda::wait_for_kernels_before();
    if (threadIdx.x == 0) {
      drawn_ = scan::TileCounter::draw(block_, given_.counter);
      for (int k = 0; k < kStages; ++k) draw(k);
    }
    __syncthreads();  // the first tiles are drawn
    for (int k = 0; k < kStages - 1; ++k) load(k, k);
    reduce(0, 0);
    __syncthreads();  // its totals are there
    place(0);
    int stage = 0;
    for (int k = 0; tile(k).lines != 0; ++k) {
      const int next = stage == kStages - 1 ? 0 : stage + 1;
      const Fold before = before_, aggregate = aggregate_;
      States asked = ask(tile(k), 1);
      load(k + kStages - 1, stage == 0 ? kStages - 1 : stage - 1);
      if (threadIdx.x == 0) draw(k + kStages);
      reduce(k + 1, next);
      if (tile(k).to_head != 0) gather(tile(k), k % 2, asked);
      __syncthreads();  // the totals of the next tile are there, and states of tiles above this one
      place(k + 1);
      const Fold above = look_back(tile(k), k % 2);
      if (!aggregate.head) publish(tile(k), join(above, aggregate), true);
      scan(k, stage, join(above, before).items);
      stage = next;
    }
    if (threadIdx.x == 0) {
      const auto draws = static_cast<std::uint32_t>(cut_.tiles + gridDim.x);
      scan::TileCounter{draws}.reset_if_last(block_, given_.counter, drawn_);
    }
  }

 private:
  /// The k-th tile of the block.
  __device__ Tile& tile(int k) const { return shared_.tiles[k % kTiles]; }
  __device__ std::int64_t state_of(std::int64_t tile) const { return (tile * cut_.across + vector_) * kVector; }
  /// A state's tag: the number of the run, and whether the state is a prefix.
  __device__ static std::uint32_t tag(std::uint32_t run, bool is_prefix) { return run << 1 | is_prefix; }

  __device__ static Fold nothing() {
    Fold fold;
    for (Item& item : fold.items.item) item = Op::identity();
    fold.head = false;
    return fold;
  }
  /// Returns what comes before the first line of a row.
  __device__ Fold start() const {
    Fold fold;
    for (Item& item : fold.items.item) item = before_all(op_);
    fold.head = true;
    return fold;
  }
  /// left, right: of lines one behind the other.
  __device__ Fold join(const Fold& left, const Fold& right) const {
    Fold both = right;
    if (!right.head) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) both.items.item[v] = op_(left.items.item[v], right.items.item[v]);
    }
    both.head |= left.head;
    return both;
  }
  __device__ Fold shuffle_up(const Fold& fold, int lanes) {
    Fold up;
#pragma unroll
    for (int v = 0; v < kVector; ++v) up.items.item[v] = block_.shuffle_up(fold.items.item[v], lanes);
    up.head = block_.shuffle_up(fold.head, lanes);
    return up;
  }
  /// Folds each group with those of its warp before it.
  __device__ Fold scan_groups(Fold fold) {
    for (int distance = 1; distance < cut_.groups_a_warp; distance *= 2) {
      const Fold left = shuffle_up(fold, distance * cut_.across);
      if (group_ >= distance) fold = join(left, fold);
    }
    return fold;
  }

  /// Thread 0 writes down what it drew as the k-th tile, and draws again: the answer is on its way for a whole tile.
  __device__ void draw(int k) {
    const std::int64_t number = drawn_.tile();
    Tile& drawn = tile(k);
    drawn.lines = 0;
    if (number >= cut_.tiles) return;
    const std::int64_t band = number / cut_.in_a_line;
    drawn.number = number;
    drawn.line = band * cut_.lines();
    drawn.vector = (number - band * cut_.in_a_line) * cut_.across;
    drawn.to_head = given_.rows.to_head(drawn.line);
    drawn.run = drawn_.run();
    drawn.lines = static_cast<int>(min(given_.lines - drawn.line, std::int64_t{cut_.lines()}));
    drawn.across = static_cast<int>(min(cut_.vectors - drawn.vector, std::int64_t{cut_.across}));
    drawn_ = scan::TileCounter::draw(block_, given_.counter);
  }

  /// Whether this lane has the last lines of the tile's warp, and so what the warp has found out.
  __device__ bool is_last_group() const { return group_ == cut_.groups_a_warp - 1; }
  /// Lines of a tile that are this thread's.
  __device__ int lines_of(const Tile& of) const {
    return of.lines != 0 && takes_part(of) ? min(kLines, of.lines - first_line_ - group_ * kLines) : 0;
  }
  /// Whether groups of lanes move whole pieces of memory. Otherwise lanes load and store for others of their warp.
  __device__ bool is_wide() const { return cut_.across * static_cast<int>(sizeof(Vector)) >= 64; }
  /// The place in the array of the thread's first item.
  __device__ std::int64_t place_of(const Tile& of) const {
    return (of.line + first_line_ + group_ * kLines) * given_.inner + (of.vector + vector_) * kVector;
  }
  /// The thread's vector in the i-th of its lines.
  __device__ Vector& vector_of(int stage, int i) const {
    return shared_.vectors[stage][warp_][(group_ * kLines + i) * cut_.across + vector_];
  }
  /// Lines of this thread before the first that begins a row.
  __device__ int to_head(const Tile& of) const {
    return static_cast<int>(min(given_.rows.to_head(of.line + first_line_ + group_ * kLines), std::int64_t{kLines}));
  }
  /// Lines from one head to the next, if a thread has both.
  __device__ int period() const { return static_cast<int>(min(given_.rows.axis, std::int64_t{kLines})); }

  /// Calls f(vector in shared memory, place of its first item in the array) for the warp's vectors of a tile, each lane
  /// for every 32nd of them in the order of memory.
  template <class F>
  __device__ void for_each_vector(const Tile& of, int stage, F f) const {
    const int lines = min(cut_.lines_a_warp, of.lines - first_line_);
    const int down = kLanes / cut_.across, right = kLanes % cut_.across;
    std::int64_t place = (of.line + first_line_ + group_) * given_.inner + (of.vector + vector_) * kVector;
    int line = group_, vector = vector_;
    const std::int64_t step = down * given_.inner + right * kVector, wrap = given_.inner - cut_.across * kVector;
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      if (line < lines && vector < of.across) f(shared_.vectors[stage][warp_][i * kLanes + lane_], place);
      line += down;
      vector += right;
      place += step;
      if (vector >= cut_.across) {
        vector -= cut_.across;
        ++line;
        place += wrap;
      }
    }
  }

  __device__ void load(int k, int stage) {
    const auto copy = [&](Vector& to, std::int64_t place) {
      if constexpr (sizeof(Vector) >= 4) {
        __pipeline_memcpy_async(&to, given_.in + place, sizeof(Vector));
      } else {
        to.item[0] = given_.in[place];
      }
    };
    const Tile& from = tile(k);
    if (is_wide()) {
      const int lines = lines_of(from);
      std::int64_t place = place_of(from);
#pragma unroll
      for (int i = 0; i < kLines; ++i, place += given_.inner) {
        if (i < lines) copy(vector_of(stage, i), place);
      }
    } else if (from.lines != 0) {
      __syncwarp();  // the lanes are done with the stage
      for_each_vector(from, stage, copy);
    }
    __pipeline_commit();
  }

  /// Folds the lines of the k-th tile: before_ becomes what comes before the thread's own in its warp.
  __device__ void reduce(int k, int stage) {
    const Tile& of = tile(k);
    __pipeline_wait_prior(kStages - 2);
    if (!is_wide()) __syncwarp();  // what the other lanes load is there
    Fold fold = nothing();
    const int lines = lines_of(of);
    int head = to_head(of);
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      if (i >= lines) break;
      const Vector vector = vector_of(stage, i);
      if (i == head) {
        head += period();
        fold = start();
      }
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        fold.items.item[v] = op_(fold.items.item[v], static_cast<Item>(vector.item[v]));
      }
    }
    reduced_ = scan_groups(fold);
    if (!is_last_group()) return;
    shared_.totals[k % 2][warp_][vector_] = reduced_.items;
    if (vector_ == 0) shared_.total_heads[k % 2][warp_] = reduced_.head;
  }

  /// Finds what comes before the thread's lines in the k-th tile, and publishes the aggregates of its columns. The
  /// totals of the warps are behind a barrier.
  __device__ void place(int k) {
    const Tile& of = tile(k);
    Fold warps = nothing();
    for (int w = 0; w < warp_; ++w) {
      warps = join(warps, {shared_.totals[k % 2][w][vector_], shared_.total_heads[k % 2][w]});
    }
    const Fold left = shuffle_up(reduced_, cut_.across);
    before_ = group_ == 0 ? warps : join(warps, left);
    aggregate_ = join(warps, reduced_);
    if (of.lines != 0) publish(of, aggregate_, aggregate_.head);
  }

  /// The last lanes of the last warp publish the states of a tile.
  __device__ void publish(const Tile& of, const Fold& fold, bool is_prefix) {
    if (warp_ != kColumnWarps - 1 || !is_last_group() || vector_ >= of.across) return;
    if (cut_.tiles == cut_.in_a_line) return;  // there is no tile below
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      scan::store_state<Item>(block_, given_.states, state_of(of.number) + v, fold.items.item[v],
                              tag(of.run, is_prefix));
    }
  }

  /// Writes the results of the k-th tile. running: what comes before the thread's lines.
  __device__ void scan(int k, int stage, Items running) {
    const Tile& of = tile(k);
    const int lines = lines_of(of);
    int head = to_head(of);
    Out* line = given_.out + place_of(of);
#pragma unroll
    for (int i = 0; i < kLines; ++i, line += given_.inner) {
      if (i >= lines) break;
      Vector& vector = vector_of(stage, i);
      if (i == head) {
        head += period();
        running = start().items;
      }
      simt::Vector<Out, kVector> results;
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        const Item next = op_(running.item[v], static_cast<Item>(vector.item[v]));
        results.item[v] = static_cast<Out>(given_.mode == Mode::exclusive ? running.item[v] : next);
        running.item[v] = next;
      }
      if (is_wide()) {
        block_.template store<kVector>(line, 0, results);
      } else {
        vector = scanlab::bit_cast<Vector>(results);
      }
    }
    if (is_wide()) return;
    __syncwarp();  // the results are there
    for_each_vector(of, stage, [&](const Vector& results, std::int64_t place) {
      block_.template store<kVector>(given_.out, place, scanlab::bit_cast<simt::Vector<Out, kVector>>(results));
    });
  }

  /// The states of a tile in the thread's columns, as last read.
  struct States {
    std::int64_t tile;  ///< negative: there is none
    State state[kVector];
  };

  /// Asks for the states of tiles above, each group for those of one: the later groups for the nearer tiles, so that
  /// all folds run from left to right.
  __device__ States ask(const Tile& of, int nearest) {
    const int groups = kColumnWarps * cut_.groups_a_warp, group = warp_ * cut_.groups_a_warp + group_;
    States states;
    states.tile = takes_part(of) ? of.number - (nearest + groups - 1 - group) * cut_.in_a_line : -1;
    load_states(states);
    return states;
  }
  __device__ void load_states(States& states) {
    if (states.tile < 0) return;
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      states.state[v] = scan::load_state<Item>(block_, given_.states, state_of(states.tile) + v);
    }
  }
  /// Waits until all are there, and all of one kind. A prefix is a head.
  __device__ Fold wait_for(States& states, std::uint32_t run) {
    if (states.tile < 0) return nothing();
    while (true) {
      bool aggregates = true, prefixes = true;
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        aggregates = aggregates && states.state[v].is(tag(run, false));
        prefixes = prefixes && states.state[v].is(tag(run, true));
      }
      if (aggregates || prefixes) {
        Fold fold;
#pragma unroll
        for (int v = 0; v < kVector; ++v) fold.items.item[v] = states.state[v].item();
        fold.head = prefixes;
        return fold;
      }
      load_states(states);
    }
  }
  __device__ bool takes_part(const Tile& of) const { return group_ < cut_.groups_a_warp && vector_ < of.across; }

  /// Waits for what was asked for, and folds what the groups of a warp have.
  __device__ void gather(const Tile& of, int parity, States& asked) {
    const Fold scanned = scan_groups(wait_for(asked, of.run));
    const bool writes = is_last_group() && vector_ < of.across;
    if (writes) {
      shared_.above[parity][warp_][vector_] = scanned.items;
      shared_.above_heads[parity][warp_][vector_] = scanned.head;
    }
    const bool all = block_.all(!writes || scanned.head);
    if (lane_ == 0) shared_.above_all[parity][warp_] = all;
  }

  /// Returns what comes before a tile in the thread's columns, since the last head. The states of the nearest tiles are
  /// gathered, behind a barrier.
  __device__ Fold look_back(const Tile& of, int parity) {
    Fold found = nothing();
    if (of.to_head == 0) return found;
    const int groups = kColumnWarps * cut_.groups_a_warp;
    for (int nearest = 1 + groups;; nearest += groups) {
      for (int w = kColumnWarps - 1; w >= 0; --w) {
        found = join({shared_.above[parity][w][vector_], shared_.above_heads[parity][w][vector_]}, found);
        if (shared_.above_all[parity][w]) return found;
      }
      States asked = ask(of, nearest);
      __syncthreads();  // all have read what was gathered
      gather(of, parity, asked);
      __syncthreads();  // more is gathered
    }
  }

  const ColumnArguments<Op>& given_;
  const ColumnTiles& cut_;
  Shared& shared_;
  Op op_;
  const int lane_;
  const int warp_;
  const int group_;       ///< in the warp
  const int vector_;      ///< in the tile
  const int first_line_;  ///< of the warp, in the tile
  simt::GpuBlock block_;
  scan::TileCounter::Drawn drawn_;
  Fold reduced_;    ///< of the groups of the warp up to the thread's own, in the tile that was reduced last
  Fold before_;     ///< of what comes before the thread's lines in that tile
  Fold aggregate_;  ///< of that tile, in the threads that publish
};

template <Associative Op, int kVector>
__global__ void __launch_bounds__(kColumnThreads, kColumnBlocks)
    axis_columns(const __grid_constant__ ColumnArguments<Op> arguments) {
  extern __shared__ __align__(128) unsigned char shared[];
  ColumnBlock<Op, kVector>(arguments, shared).run();
}

}  // namespace scanlab::scan_axis
#endif
