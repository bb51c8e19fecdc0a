// axis_columns: one pass along an axis whose items lie apart, with warp specialisation. This is the kernel;
// axis_columns.cu launches it.
//
// Idea    A tensor (rows, axis, inner) is lines of `inner` items; the scan runs across lines and restarts at every
//         axis-th of them. Lines are cut into strips of some neighbouring columns, and a strip into tiles, one below
//         the other. Where few strips lie side by side, the rows are cut into stacks. If there are still at most half
//         as many strips as multiprocessors, a team of blocks shares a strip: a block that is free takes the next
//         tile. It holds the fold up to the end of its previous one, and lacks the folds of the tiles between, which
//         the others publish, a vector of columns each. As in look_ahead, a tile passes through a ring of stages from
//         warp to warp, and no tile waits for the scan of another.
//
//             load      | tile 0 | tile 1 | tile 2 | tile 3 |
//             reduce             | tile 0 | tile 1 | tile 2 | tile 3 |      publish each vector of folds
//             look ahead             | 0 | |  1 |   |  2 |                  fold those of the team's tiles between
//             scan                       | tile 0 | tile 1 | tile 2 |       and store
//
// Work    2 n, and for each column of a tile an operation for each tile of the team since the block's last one.
// Traffic 2 n. In a team, each tile writes a state of 8 to 64 bytes for each 16 bytes, or item, of a line.
// Bits    Not reproducible for floats: which tiles a block takes depends on time.
// Step    Strips of large tensors keep in step: a block begins its tile k once all blocks have begun their tile k - 2;
//         in a team, whose tiles are drawn in any order, k - 3. So lines are read and written nearly in the order of
//         memory, which saves 4 % of the time where strips have 256 bytes, and 20 % where they have 128. The wait is
//         bounded: others may have no room on the device.
// Safe    Tiles of a strip are drawn in order: a block waits for earlier ones only, which other blocks have begun.
// Needs   Compute capability 8.0; 9.0 for its speed: before, one warp copies without bulk copies.
// Source  Scanlab: look_ahead, by columns.
#pragma once

#include "variants/scan/look_ahead_ring.cuh"
#include "variants/scan/tile_state.cuh"
#include "variants/scan_axis/segments.cuh"
#if defined(__CUDACC__)
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cmath>

#include "harness/cuda/bulk_copy.cuh"
#include "harness/cuda/launch.cuh"
#include "harness/simt/gpu_block.cuh"

namespace scanlab::scan_axis {

inline constexpr int kLanes = simt::kWarpLanes;
inline constexpr int kColumnWarps = 4;    ///< that reduce, and as many that scan
inline constexpr int kMostLookWarps = 6;  ///< that look ahead
inline constexpr int kColumnStages = 4;
inline constexpr int kLoadingStages = 2;  ///< at a time: more in flight only lengthens the memory's queues

/// How lines are cut into strips and tiles, and how the lanes of a role's warps lie in a tile. A unit is an item, or a
/// vector of 16 bytes: items in neighbouring columns. A stack is some whole rows: its strips need nothing of others.
struct ColumnTiles {
  static constexpr int kTileBytes = 56 << 10;
  static constexpr int kWidest = kColumnWarps * kLanes;
  static constexpr int kBoxWords = 256, kBoxLines = 256;  ///< that a box may have

  int width;          ///< units of a strip's line; the last of a stack has fewer
  int warps_across;   ///< of a tile, if a strip has more units than a warp lanes
  int groups_a_warp;  ///< else: each has lines of its own
  int rows;           ///< of the warps that reduce, or scan, one below the other
  int look_rows;      ///< of those that look ahead
  int lines_a_thread;
  int together_bits = 0;     ///< log2 of the lines that have a multiple of 16 bytes together; 0 where a line has
  int pitch;                 ///< bytes from one line of a tile to the next in shared memory
  int team;                  ///< blocks of a strip
  int look_warps;            ///< of a block
  std::int64_t beside;       ///< strips of a stack
  std::int64_t strips;       ///< of all stacks
  std::int64_t stack_lines;  ///< of a stack; the last has fewer
  std::int64_t bands;        ///< tiles of a strip
  std::int64_t rounds;       ///< strips that a block scans, one behind the other
  bool in_step;              ///< whether blocks wait for each other, so that none is far ahead

  /// Lines of a warp, and of a tile.
  SCANLAB_HD int part_lines() const { return groups_a_warp * lines_a_thread; }
  SCANLAB_HD int lines() const { return rows * part_lines(); }
  /// In shared memory, with up to 15 bytes before the first line, at an address for copies of boxes.
  SCANLAB_HD int tile_bytes() const {
    const int by_lines = (lines() * pitch + 16 + 127) / 128 * 128, by_boxes = box_bytes() << together_bits;
    return by_lines > by_boxes ? by_lines : by_boxes;
  }
  /// Lines that are one line of the matrix of boxes, where a line has no multiple of 16 bytes. A box loads one of them,
  /// so many times.
  SCANLAB_HD int together() const { return 1 << together_bits; }
  SCANLAB_HD int box_lines() const { return (lines() + together() - 1) >> together_bits; }
  SCANLAB_HD int box_bytes() const { return (box_lines() * pitch + 127) / 128 * 128; }
  /// Whether a tile is one piece of memory.
  SCANLAB_HD bool contiguous() const { return beside == 1; }
  /// Folds of a stage, a unit wide: of the parts of its warps, as the look-ahead warps found them, and before threads.
  SCANLAB_HD int totals() const { return rows * width; }
  SCANLAB_HD int above() const { return look_rows * width; }
  SCANLAB_HD int before() const { return groups_a_warp > 1 ? kColumnWarps * kLanes : 0; }
  SCANLAB_HD int folds() const { return totals() + above() + before(); }
  static constexpr int kMostFolds = (2 * kColumnWarps + kMostLookWarps) * kLanes;
  std::int64_t blocks(int most) const { return strips < most ? strips * team : most; }
  int threads() const { return kLanes * (2 + look_warps + 2 * kColumnWarps); }
  /// Tiles whose folds are published.
  std::int64_t published() const { return team > 1 ? bands * strips : 0; }
  /// Whether blocks draw their tiles, and count their runs.
  SCANLAB_HD bool draws() const { return team > 1 || in_step; }
  /// Each is a tile of every block. 0: blocks do not wait for each other.
  std::int64_t steps() const { return in_step ? ceil_div(bands, std::int64_t{team}) * rounds : 0; }
  /// The longest chain of operations: a thread's lines in two tiles, groups and warps, and the tiles between.
  std::int64_t chain() const { return 2 * (lines_a_thread + kLanes + kColumnWarps) + bands; }

  /// all_rows, axis: of the tensor, on each device. across: units of a line. aligned: each begins at an address of 16
  /// bytes. most: blocks at a time. stage_bytes: of shared memory, for a tile and its folds, of fold_bytes each. teams:
  /// that tell each other of a strip, on as many devices.
  ColumnTiles(std::int64_t all_rows, std::int64_t axis, std::int64_t across, int unit_bytes, bool aligned, int most,
              int stage_bytes, int fold_bytes, int teams = 1) {
    across = std::max<std::int64_t>(across, 1);
    const Tensor tensor{all_rows, axis, across, unit_bytes};
    width = width_for(tensor, aligned, most, teams);
    const Layout cut(tensor, width, most);
    beside = cut.beside;
    strips = cut.strips;
    stack_lines = cut.stack_rows * axis;
    team = static_cast<int>(cut.team);
    rounds = cut.rounds;
    pitch = width * unit_bytes;
    if (!contiguous() && !aligned) pitch = (pitch + 15) / 16 * 16 + 16;  // a line begins anywhere in 16 bytes
    warps_across = ceil_div(width, kLanes);
    groups_a_warp = std::max(kLanes / width, 1);
    const int tiles_a_lane = teams * team / groups_a_warp;  // to fold, by one warp
    look_warps = !aligned ? kMostLookWarps : tiles_a_lane > 24 ? 4 : tiles_a_lane > 8 ? 3 : tiles_a_lane > 4 ? 2 : 1;
    look_warps = std::max(look_warps, warps_across);
    rows = kColumnWarps / warps_across;
    look_rows = look_warps / warps_across;
    // Several tiles for each block, so that one hides the wait for another; and an odd number of lines a thread, so
    // that groups which read lines of their own meet different banks.
    if (!aligned && !contiguous()) {
      while ((across * unit_bytes << together_bits) % 16 != 0) ++together_bits;
      if (strips != beside && stack_lines % together() != 0) together_bits = 0;
    }
    const int bytes = std::min(kTileBytes, stage_bytes - folds() * fold_bytes) - 128 * (together() - 1);
    const int groups = rows * groups_a_warp;
    std::int64_t fit = bytes / (pitch * groups);
    if (together_bits > 0) fit = std::min<std::int64_t>(fit, (kBoxLines << together_bits) / groups);
    const std::int64_t some = ceil_div(stack_lines, std::int64_t{4} * team * groups);
    lines_a_thread = static_cast<int>(std::max<std::int64_t>(std::min(fit, some), 1));
    if (lines_a_thread >= together()) {
      lines_a_thread = lines_a_thread >> together_bits << together_bits;
    } else {
      together_bits = 0;
    }
    if (lines_a_thread % 2 == 0 && pitch < 128 && together_bits == 0) --lines_a_thread;
    bands = ceil_div(stack_lines, std::int64_t{lines()});
    // Steps pay after some whole tiles. Large teams would wait too often, unless strips are narrow, or share cache
    // lines.
    constexpr int kCacheLine = 128, kFewSteps = 12, kLargeTeam = 4;
    const bool needs = pitch <= kCacheLine || across * unit_bytes % kCacheLine != 0;
    const bool busy = blocks(most) * 4 >= std::int64_t{3} * most;
    in_step = aligned && !contiguous() && some >= fit && busy && (needs || teams * team <= kLargeTeam);
    if (steps() < kFewSteps) in_step = false;
  }

 private:
  struct Tensor {
    std::int64_t rows, axis, across;  ///< units of a line
    int unit_bytes;
  };
  /// The strips of some width, and the blocks that share one.
  struct Layout {
    std::int64_t beside, stack_rows, strips, team, rounds;

    Layout(const Tensor& tensor, int width, int most)
        : beside(ceil_div(tensor.across, std::int64_t{width})), stack_rows(tensor.rows) {
      // Where a tile has several rows, its team hardly waits, and reads memory nearly in order.
      const std::int64_t tile_lines = kTileBytes / (width * tensor.unit_bytes);
      // As many stacks as there is room for, such that the last has nearly as many rows.
      std::int64_t stacks = 2 * tensor.axis < tile_lines ? 1 : std::min(most / beside, tensor.rows);
      for (; stacks > 1; --stacks) {
        stack_rows = ceil_div(tensor.rows, stacks);
        if ((stack_rows * stacks - tensor.rows) * 16 <= tensor.rows) break;
        stack_rows = tensor.rows;
      }
      strips = beside * (stack_rows > 0 ? ceil_div(tensor.rows, stack_rows) : 1);
      team = std::max<std::int64_t>(most / strips, 1);
      rounds = ceil_div(strips, std::int64_t{most});
    }
  };
  /// Units of a strip. Of lines that begin anywhere, wide ones have fewer bytes that no strip needs. Else such that
  /// many blocks are busy, and few share a strip: 128 to 1024 bytes, and on several devices at least 256, since
  /// narrower strips have more folds to cross the links. The constants fit the share of a copy, measured on an H200.
  static int width_for(const Tensor& tensor, bool aligned, int most, int teams) {
    const std::int64_t across = tensor.across;
    const int unit_bytes = tensor.unit_bytes;
    if (!aligned) {
      const std::int64_t widest = std::min<std::int64_t>(kWidest, (kBoxWords * 4 - 16) / unit_bytes);
      return static_cast<int>(ceil_div(across, ceil_div(across, widest)));
    }
    constexpr int kNarrow = 128, kUsual = 256, kWide = 512, kMost = 1024;  // bytes
    const int step = std::max(kNarrow / unit_bytes, 1), least = teams > 1 ? kUsual / unit_bytes : step;
    if (across <= least) return static_cast<int>(across);
    int best = 1;
    double best_share = 0;
    for (int w = least; w <= std::min(kMost / unit_bytes, kWidest) && w < across + step; w += step) {
      const auto width = static_cast<int>(std::min<std::int64_t>(w, across));
      const auto [beside, stack_rows, strips, team, rounds] = Layout(tensor, width, most);
      const int bytes = width * unit_bytes;
      const double filled = static_cast<double>(across) / static_cast<double>(width * beside);
      const double busy = filled * static_cast<double>(strips * team) / static_cast<double>(most * rounds);
      double share = std::pow(busy, team == 1 ? 0.5 : 0.25);
      share /= 1 + static_cast<double>(teams * teams * team * bytes) / 65536;  // reading what each team tells all
      if (team == 1) share *= 1.03 / (1 + 0.01 * static_cast<double>(rounds - 1));
      if (bytes < kUsual) share *= team <= 12 ? 0.985 : 0.82;
      if (bytes > kWide) share *= 0.98;
      if (share > best_share) {
        best_share = share;
        best = width;
      }
    }
    return best;
  }
};

/// The form in which columns are scanned: here those of one array, by one device. A form says
///   static constexpr bool kTells;   // whether other devices have tiles of the array between those of this one
///   static constexpr bool kStarts;  // whether the columns of a row begin with items in memory, and not all alike
/// and has what these need: see StartedColumns, and PeerColumns in variants/distributed.
struct UsualColumns {
  static constexpr bool kTells = false;
  static constexpr bool kStarts = false;
};

/// Columns that begin with items in memory, if there are any.
template <class Item>
struct StartedColumns {
  static constexpr bool kTells = false;
  static constexpr bool kStarts = true;
  const Item* starts = nullptr;  ///< before each item of a row's first line, row by row; null: all as the operator says
};

template <Associative Op, class Form = UsualColumns>
struct ColumnArguments {
  CUtensorMap boxes;   ///< of `in`, as words of 4 bytes; a box has a warp's lines, or one in together()
  const InOf<Op>* in;  ///< lines * inner items
  OutOf<Op>* out;      ///< likewise, may be `in`
  std::int64_t lines;
  std::int64_t inner;
  Rows rows;
  std::uint64_t* counters;  ///< for scan::TileCounter, one a strip
  std::uint32_t* begun;     ///< tiles of each step, in all runs
  std::uint32_t* flags;     ///< of each tile: the run whose folds are on their way
  void* states;             ///< of each unit of a tile, a TileState of its folds
  ColumnTiles cut;
  Mode mode;
  bool has_boxes;
  Op op{};
  Form form{};
};

/// kAligned: every line of both arrays begins at an address of 16 bytes, and units are vectors; else items.
template <Associative Op, bool kAligned, class Form = UsualColumns>
class ColumnBlock {
 public:
  using Item = typename Op::Item;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  using Barrier = cuda::TransactionBarrier;
  static_assert(sizeof(In) == sizeof(Out), "results take the place of items");
  static constexpr int kVector = kAligned ? std::max<int>(16 / sizeof(In), 1) : 1;  ///< items of a unit
  static constexpr int kUnit = kVector * static_cast<int>(sizeof(In));

  struct alignas(sizeof(Item) * kVector % 16 == 0 ? 16 : alignof(Item)) Items {
    Item item[kVector];
  };
  static constexpr bool kTells = Form::kTells;
  /// Other devices write words of 8 bytes whole.
  using State = std::conditional_t<kTells, scan::TileState<Items, scan::ShortWord>, scan::TileState<Items>>;
  /// The folds of neighbouring lines since the last head, in the columns of a unit, and whether there is one.
  struct Fold {
    Items items;
    bool head;
  };
  /// A tile in the ring, besides its items and folds.
  struct alignas(128) Stage {
    int heads[kColumnWarps * kLanes];  ///< lines of a thread before the first that begins a row
    bool before_heads[kColumnWarps * kLanes];
    bool total_heads[kColumnWarps];
    std::int64_t band;
    std::int64_t strip;
    std::int64_t line;  ///< the tile's first, in this device's arrays
    std::int64_t unit;  ///< the tile's first
    std::uint32_t run;  ///< its number, which is not that of memory that was set to zeros
    int lines;          ///< -1: no tile was left
    int across;         ///< units
    int to_head;        ///< lines before the first that begins a row
    int to_fold;        ///< tiles of the team since the block's last one, from the last with a head on
    bool carries;       ///< whether what came before the block's last tile counts
    Barrier full;       ///< the items are here, and what the tile is
    Barrier reduced;    ///< `before`, `totals` and `heads` are written
    Barrier looked;     ///< `above` is written
    Barrier free;       ///< the results are stored, and the folds published
    bool announces;     ///< whether it is the first of this device
    bool boxed;         ///< whether boxes load it
  };

  __device__ ColumnBlock(const ColumnArguments<Op, Form>& given, unsigned char* shared)
      : given_(given),
        cut_(given.cut),
        tiles_(shared),
        stages_(reinterpret_cast<Stage*>(shared + kColumnStages * cut_.tile_bytes())),
        folds_(reinterpret_cast<Items*>(stages_ + kColumnStages)),
        op_(given.op),
        lane_(threadIdx.x % kLanes),
        strip_(blockIdx.x % static_cast<unsigned>(cut_.strips)),
        counter_(given.counters + strip_) {}

  __device__ void run() {
    if (threadIdx.x < kColumnStages) {
      Stage& stage = stages_[threadIdx.x];
      stage.full.init(1);
      stage.reduced.init(kColumnWarps);
      stage.looked.init(cut_.look_warps);
      stage.free.init(kColumnWarps + 1);
      cuda::make_barriers_visible();
    }
    __syncthreads();  // every barrier is made
    cuda::wait_for_kernels_before();
    int warp = threadIdx.x / kLanes;
    if (warp == 0) return load();
    if (warp == 1) return publish();
    warp -= 2;
    if (warp < cut_.look_warps) {
      find_place(warp);
      return look_ahead();
    }
    warp -= cut_.look_warps;
    find_place(warp % kColumnWarps);
    if (warp < kColumnWarps) {
      reduce();
    } else {
      scan();
    }
  }

 private:
  using Slot = scan::Slot;

  /// Where a warp of a role lies in each tile.
  __device__ void find_place(int warp) {
    const bool wide = cut_.warps_across > 1;
    warp_ = warp;
    row_ = warp / cut_.warps_across;
    part_ = wide ? 0 : lane_ / cut_.width;
    group_ = row_ * cut_.groups_a_warp + part_;
    const int unit = wide ? warp % cut_.warps_across * kLanes + lane_ : lane_ % cut_.width;
    has_units_ = part_ < cut_.groups_a_warp && unit < cut_.width;
    unit_ = min(unit, cut_.width - 1);
  }

  /// Calls `role` for each tile of the block, once the barrier `ready` of its stage has opened.
  template <class Role>
  __device__ void for_each_tile(Barrier Stage::*ready, Role role) {
    for (Slot slot;; slot.advance(kColumnStages)) {
      Stage& stage = stages_[slot.stage];
      (stage.*ready).wait(slot.parity);
      if (stage.lines < 0) return;
      role(stage, slot);
    }
  }

  /// The load warp.
  __device__ void load() {
    scan::TileCounter::Drawn drawn;  // by lane 0; in a team of one, counted
    const auto draw = [&] {
      if (lane_ != 0) return;
      drawn = draws() ? scan::TileCounter::draw(block_, counter_) : scan::TileCounter::Drawn{drawn.number + 1};
    };
    draw();
    std::int64_t last = -1;
    Slot slot;
    Slot oldest;  // that may still be loading
    for (int loading = 1;; ++loading) {
      Stage& stage = stages_[slot.stage];
      if (loading > kLoadingStages) {
        stages_[oldest.stage].full.wait(oldest.parity);
        oldest.advance(kColumnStages);
      }
      stage.free.wait(slot.parity ^ 1);
      __syncwarp();  // all lanes have seen these phases before the next ones can complete
      if (lane_ == 0) write_down(stage, drawn, last);
      __syncwarp();  // what the tile is is written
      if (stage.lines < 0) return end(stage, drawn);
      const int bytes = stage.boxed ? copy_boxes(stage, slot.stage) : copy_lines(stage, slot.stage);
      const int all = __reduce_add_sync(~0U, bytes);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
      __pipeline_commit();
      __pipeline_wait_prior(0);
#endif
      __syncwarp();  // what was written by hand is covered by lane 0's arrival
      if (lane_ == 0) stage.full.arrive_expecting(all);
      __syncwarp();
      draw();  // after the load, which would otherwise wait for the counter
      slot.advance(kColumnStages);
    }
  }
  __device__ bool draws() const { return kTells || cut_.draws(); }
  /// Writes down which tile lane 0 has drawn. last: the band of the one before.
  __device__ void write_down(Stage& stage, scan::TileCounter::Drawn drawn, std::int64_t& last) {
    std::int64_t strip = strip_, own = drawn.tile();
    if (cut_.team == 1) {  // strips from top to bottom
      const auto number = draws() ? own : static_cast<std::int64_t>(drawn.number) - 1;
      strip = blockIdx.x + number / cut_.bands * gridDim.x;
      own = number % cut_.bands;
    }
    stage.lines = -1;
    if (own >= cut_.bands || strip >= cut_.strips) return;
    if (cut_.in_step) keep_in_step(drawn);
    std::int64_t band = own;
    if constexpr (kTells) {
      band = given_.form.band(own);
      if (own == 0) last = -1;  // the first of a strip has no carry, though others have bands above it
    }
    constexpr std::int64_t kFar = 1 << 30;
    const std::int64_t lines = cut_.lines(), stack = strip / cut_.beside * cut_.stack_lines;
    stage.line = stack + own * lines;
    const std::int64_t line = kTells ? band * lines : stage.line;  // in the tensor
    const std::int64_t before = given_.rows.column(line);          // lines of its row
    const std::int64_t between = max(band - last - 1, std::int64_t{0});
    const std::int64_t end = min(given_.lines, stack + cut_.stack_lines);  // of the stack
    stage.band = band;
    if constexpr (kTells) stage.announces = own == 0 && strip == 0;
    stage.strip = strip;
    stage.unit = strip % cut_.beside * cut_.width;
    stage.run = drawn.run() + scan::TileCounter::kFirstRun;
    stage.lines = static_cast<int>(max(min(end - stage.line, lines), std::int64_t{0}));
    stage.boxed = given_.has_boxes;
    if constexpr (!kAligned)
      stage.boxed &= stage.line + stage.lines <= given_.lines >> cut_.together_bits << cut_.together_bits;
    stage.across = static_cast<int>(min(given_.inner / kVector - stage.unit, std::int64_t{cut_.width}));
    stage.to_head = static_cast<int>(min(before == 0 ? 0 : given_.rows.axis - before, kFar));
    stage.carries = before > between * lines;
    stage.to_fold = static_cast<int>(stage.carries ? between : (before + lines - 1) / lines);
    last = band;
  }
  /// Waits until all tiles of a step shortly before this one have been begun, and counts this one.
  __device__ void keep_in_step(scan::TileCounter::Drawn drawn) {
    constexpr int kMostPolls = 100;  // below 0.1 ms
    const std::int64_t step = drawn.tile() / static_cast<unsigned>(cut_.team),
                       awaited = step - (cut_.team == 1 ? 2 : 3);
    if (alone_ || awaited < 0) return count(step);
    const std::int64_t blocks = min(cut_.strips, std::int64_t{gridDim.x}), whole_rounds = cut_.rounds - 1;
    const bool of_all = awaited < cut_.bands * whole_rounds;  // else of the last round, or of the only one
    const auto tiles = static_cast<std::uint32_t>((of_all ? blocks : cut_.strips - blocks * whole_rounds) * cut_.team);
    alone_ = true;
    for (int i = 0; i < kMostPolls && alone_; ++i) {
      alone_ = block_.load_atomic(given_.begun, awaited) - drawn.run() * tiles < tiles;  // numbers wrap
    }
    count(step);
  }
  __device__ void count(std::int64_t step) { block_.fetch_add(given_.begun, step, 1U); }
  /// Completes the barriers on which the other warps wait before they read that no tile was left.
  __device__ void end(Stage& stage, scan::TileCounter::Drawn unused) {
    if (lane_ != 0) return;
    cuda::trigger_dependent_launch();
    if (draws()) {
      const std::int64_t strips = cut_.team > 1 ? 1 : (cut_.strips - blockIdx.x - 1) / gridDim.x + 1;  // of a counter
      const auto draws = static_cast<std::uint32_t>(cut_.bands * strips + cut_.team);
      scan::TileCounter{draws}.reset_if_last(block_, counter_, unused);
    }
    stage.full.arrive();
    for (int warp = 0; warp < kColumnWarps; ++warp) stage.reduced.arrive();  // for the reduce warps, which end
  }

  __device__ unsigned char* tile(int stage) const { return tiles_ + stage * cut_.tile_bytes(); }
  /// The folds of the parts of a tile's warps.
  __device__ Items* totals(int stage) const { return folds_ + stage * cut_.folds(); }
  /// The folds of the team's tiles since the block's last one, as each look-ahead warp found them.
  __device__ Items* above(int stage) const { return totals(stage) + cut_.totals(); }
  /// The folds of the lines before a thread's own, in its warp's part, if other groups have any.
  __device__ Items* before(int stage) const { return above(stage) + cut_.above(); }
  /// The place in the arrays of a tile's first item.
  __device__ std::int64_t place_of(const Stage& of) const { return of.line * given_.inner + of.unit * kVector; }

  /// Loads a tile by boxes: of aligned lines, each those of a warp. Bytes beyond the array come as zeros. Returns the
  /// bytes that this lane loads.
  __device__ int copy_boxes(const Stage& of, int stage) const {
    if constexpr (!kAligned) {
      // The lines of the matrix begin at multiples of 16 bytes, and so does each box, which loads one of those
      // together.
      if (lane_ >= cut_.together()) return 0;
      const auto first = (lane_ * given_.inner + of.unit) * static_cast<std::int64_t>(sizeof(In));
      cuda::load_box(tile(stage) + lane_ * cut_.box_bytes(), given_.boxes, static_cast<int>(first / 16 * 4),
                     static_cast<int>(of.line >> cut_.together_bits), stages_[stage].full);
      return cut_.box_lines() * cut_.pitch;
    }
    const int lines = cut_.part_lines();
    if (lane_ * lines >= of.lines) return 0;
    cuda::load_box(tile(stage) + lane_ * lines * cut_.pitch, given_.boxes, static_cast<int>(of.unit * (kUnit / 4)),
                   static_cast<int>(of.line) + lane_ * lines, stages_[stage].full);
    return lines * cut_.pitch;
  }
  /// Loads a tile line by line, each from the last address of 16 bytes on, or as one piece.
  __device__ int copy_lines(const Stage& of, int stage) const {
    constexpr int kPiece = 4096;
    using Address = std::uintptr_t;
    const auto down = [](Address address) { return address / 16 * 16; };
    const auto up = [](Address address) { return (address + 15) / 16 * 16; };
    const std::int64_t stride = given_.inner * static_cast<std::int64_t>(sizeof(In));
    const bool one = cut_.contiguous();
    const auto first = reinterpret_cast<Address>(given_.in + place_of(of)),
               begin = reinterpret_cast<Address>(given_.in);
    const Address end = begin + static_cast<Address>(given_.lines * stride);
    const int bytes = one ? of.lines * cut_.pitch : of.across * kUnit;
    const int count = one ? (bytes + 15 + kPiece - 1) / kPiece : of.lines;
    int loaded = 0;
    for (int i = lane_; i < count; i += kLanes) {
      const Address row = first + (one ? 0 : i * stride), source = down(row) + (one ? i * kPiece : 0);
      const Address stop = one ? min(source + kPiece, up(row + bytes)) : up(row + bytes);
      unsigned char* const target = tile(stage) + (one ? i * kPiece : i * cut_.pitch);
      const Address there = max(source, begin), gone = min(stop, end);
      Address low = source, high = stop;
      if constexpr (!kAligned) {  // the array begins and ends anywhere: there by hand
        low = max(source, up(begin));
        high = min(stop, down(end));
        const auto by_hand = [&](Address from, Address to) {
          for (; from < to; ++from) target[from - source] = *reinterpret_cast<const unsigned char*>(from);
        };
        by_hand(there, min(low, gone));
        by_hand(max(high, there), gone);
      }
      if (high <= low) continue;
      const auto size = static_cast<int>(high - low);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
      if (there < low || high < gone) cuda::show_to_bulk_copies();
      cuda::bulk_load(target + (low - source), reinterpret_cast<const void*>(low), size, stages_[stage].full);
#else
      for (int at = 0; at < size; at += 16) {
        __pipeline_memcpy_async(target + (low - source) + at, reinterpret_cast<const unsigned char*>(low) + at, 16);
      }
#endif
      loaded += size;
    }
    return loaded;
  }

  /// Calls start(line) where a row begins, and f(unit) for each of the thread's lines. head: lines before the first.
  template <class Start, class F>
  __device__ void for_each_line(const Stage& of, int stage, int head, Start start, F f) const {
    const int first = group_ * cut_.lines_a_thread, lines = min(cut_.lines_a_thread, of.lines - first);
    if (!has_units_ || unit_ >= of.across || row_ >= cut_.rows) return;
    const bool boxed = !kAligned && of.boxed;
    const int bits = boxed ? cut_.together_bits : 0, mask = (1 << bits) - 1, box_bytes = boxed ? cut_.box_bytes() : 0;
    const unsigned char* at = tile(stage) + (first >> bits) * cut_.pitch + unit_ * kUnit;
    unsigned shift = 0, step = 0;  // of a line within 16 bytes
    if constexpr (!kAligned) {
      step = cut_.contiguous() ? 0 : static_cast<unsigned>(given_.inner * sizeof(In)) % 16;
      shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(given_.in + place_of(of))) % 16 + first * step;
    }
    for (int i = 0; i < lines;) {
      if (i == head) {
        start(first + i);
        head += period();
      }
      const int end = min(lines, head);
#pragma unroll 8
      for (; i < end; ++i) {
        const unsigned char* from = at + shift % 16;
        if constexpr (kAligned) {
          at += cut_.pitch;
        } else {
          from += (i & mask) * box_bytes;
          if ((i & mask) == mask) at += cut_.pitch;
        }
        f(block_.template load<kVector>(reinterpret_cast<const In*>(from), 0));
        shift += step;
      }
    }
  }
  /// Lines from one that begins a row to the next, or more than a tile has.
  __device__ int period() const { return static_cast<int>(min(given_.rows.axis, std::int64_t{1} << 30)); }
  /// Lines of this thread before the first that begins a row.
  __device__ int to_head(const Stage& of) const {
    const int head = of.to_head - group_ * cut_.lines_a_thread, lines = period();
    if (head >= 0) return head;
    return lines >= cut_.lines() ? head + lines : (lines - -head % lines) % lines;
  }

  static __device__ Fold nothing() {
    Fold fold;
    for (Item& item : fold.items.item) item = Op::identity();
    fold.head = false;
    return fold;
  }
  /// Returns what comes before the first line of a row, which is that line of the tile.
  __device__ Items start(const Stage& of, int line) const {
    Items items;
    for (Item& item : items.item) item = before_all(op_);
    if constexpr (Form::kStarts) {
      if (given_.form.starts == nullptr) return items;
      const std::int64_t row = given_.rows.row(of.line + line);
      const Item* const starts = given_.form.starts + row * given_.inner + (of.unit + unit_) * kVector;
#pragma unroll
      for (int v = 0; v < kVector; ++v) items.item[v] = op_(items.item[v], starts[v]);
    }
    return items;
  }
  /// left, right: of lines one behind the other.
  __device__ Items join(const Items& left, const Items& right) const {
    Items both;
#pragma unroll
    for (int v = 0; v < kVector; ++v) both.item[v] = op_(left.item[v], right.item[v]);
    return both;
  }
  __device__ Fold join(const Fold& left, const Fold& right) const {
    return {right.head ? right.items : join(left.items, right.items), left.head || right.head};
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
      const Fold left = shuffle_up(fold, distance * cut_.width);
      if (part_ >= distance) fold = join(left, fold);
    }
    return fold;
  }
  __device__ bool is_last_group() const { return has_units_ && part_ == cut_.groups_a_warp - 1; }

  /// A reduce warp: folds its part, and finds what comes before each thread's lines in it.
  __device__ void reduce() {
    for_each_tile(&Stage::full, [&](Stage& stage, Slot slot) {
      const int place = warp_ * kLanes + lane_, head = to_head(stage);
      Fold fold = nothing();
      for_each_line(
          stage, slot.stage, head,
          [&](int line) {
            fold = {start(stage, line), true};
          },
          [&](const auto& unit) {
#pragma unroll
            for (int v = 0; v < kVector; ++v) fold.items.item[v] = op_(fold.items.item[v], static_cast<Item>(unit[v]));
          });
      fold = scan_groups(fold);
      if (is_last_group() && row_ < cut_.rows) {
        totals(slot.stage)[row_ * cut_.width + unit_] = fold.items;
        if (unit_ == 0) stage.total_heads[row_] = fold.head;  // of all units alike, but those beyond the array
      }
      if (cut_.groups_a_warp > 1) {
        Fold left = shuffle_up(fold, cut_.width);
        if (part_ == 0) left = nothing();
        before(slot.stage)[place] = left.items;
        stage.before_heads[place] = left.head;
      }
      stage.heads[place] = head;
      __syncwarp();  // all of the warp's results are covered by lane 0's arrival
      if (lane_ == 0) stage.reduced.arrive();
    });
  }
  /// The fold of a unit's lines in the warps' parts; of all, or of those before a row of warps.
  __device__ Fold fold_parts(int stage, int unit, int before = kColumnWarps) const {
    Fold fold = nothing();
#pragma unroll
    for (int w = 0; w < kColumnWarps; ++w) {
      if (w < min(before, cut_.rows)) {
        fold = join(fold, {totals(stage)[w * cut_.width + unit], stages_[stage].total_heads[w]});
      }
    }
    return fold;
  }

  /// The publish warp: tells the team the folds of a tile. It writes the states, and a flag that says when to read
  /// them; whether they are there, their tags say.
  __device__ void publish() {
    bool first = true;
    for_each_tile(&Stage::reduced, [&](Stage& stage, Slot slot) {
      const std::int64_t tile = stage.band * cut_.strips + stage.strip;
      if constexpr (kTells) {
        if (first) given_.form.begin(stage.run, stage.announces);
        first = false;
        for (int unit = lane_; unit < stage.across; unit += kLanes) {
          given_.form.store_folds(tile * cut_.width + unit,
                                  State::tagged(fold_parts(slot.stage, unit).items, stage.run));
        }
        if (lane_ == 0) given_.form.set_flag(tile, stage.run);
      } else if (cut_.team > 1) {
        for (int unit = lane_; unit < stage.across; unit += kLanes) {
          scan::store_state<Items>(block_, states(), tile * cut_.width + unit, fold_parts(slot.stage, unit).items,
                                   stage.run);
        }
        if (lane_ == 0) block_.store_atomic(given_.flags, flag(stage, stage.band), stage.run);
      }
      __syncwarp();  // lane 0's arrival covers what all lanes read
      if (lane_ == 0) stage.free.arrive();
    });
  }
  __device__ typename State::Word* states() const { return static_cast<typename State::Word*>(given_.states); }
  __device__ std::int64_t flag(const Stage& of, std::int64_t band) const { return of.strip * cut_.bands + band; }
  __device__ bool is_told(const Stage& of, std::int64_t band) {
    if constexpr (kTells) return given_.form.flag_is_set(band * cut_.strips + of.strip, of.run);
    return block_.load_atomic(given_.flags, flag(of, band)) == of.run;
  }
  __device__ State state(const Stage& of, std::int64_t place) {
    if constexpr (kTells) {
      return given_.form.template state<State>(place, of.run);
    } else {
      return scan::load_state<Items>(block_, states(), place);
    }
  }

  /// A look-ahead warp: folds some of the team's tiles since the block's last one, each group a few.
  __device__ void look_ahead() {
    constexpr int kAsked = sizeof(State) < 128 ? 128 / sizeof(State) : 1;  // at a time
    for_each_tile(&Stage::reduced, [&](Stage& stage, Slot slot) {
      if (stage.to_fold > 0 && row_ < cut_.look_rows) {
        const int groups = cut_.look_rows * cut_.groups_a_warp, each = (stage.to_fold + groups - 1) / groups;
        const std::int64_t of_warp = stage.band - stage.to_fold + row_ * cut_.groups_a_warp * each;
        for (int i = lane_; i < cut_.groups_a_warp * each && of_warp + i < stage.band; i += kLanes) {
          while (!is_told(stage, of_warp + i)) {
          }
        }
        __syncwarp();  // the flags of all tiles of the warp are there
        const std::int64_t first = of_warp + part_ * each, step = cut_.strips * cut_.width;
        const std::int64_t at = (first * cut_.strips + stage.strip) * cut_.width + unit_;
        const bool folds = has_units_ && unit_ < stage.across;
        const int count = folds ? static_cast<int>(min(stage.band - first, std::int64_t{each})) : 0;
        Fold fold = nothing();
        for (int begin = 0; begin < count; begin += kAsked) {
          State asked[kAsked];
#pragma unroll
          for (int j = 0; j < kAsked; ++j) {
            if (begin + j < count) asked[j] = state(stage, at + (begin + j) * step);
          }
#pragma unroll
          for (int j = 0; j < kAsked; ++j) {
            // For items an end of the loop is faster, by 0.06 of a copy; for vectors a branch each, by 0.05.
            if (!kAligned && begin + j >= count) break;
            if (begin + j < count) {
              while (!asked[j].is(stage.run)) {
                asked[j] = state(stage, at + (begin + j) * step);
              }
              fold.items = join(fold.items, asked[j].item());
            }
          }
        }
        __syncwarp();
        fold = scan_groups(fold);
        if (is_last_group()) above(slot.stage)[row_ * cut_.width + unit_] = fold.items;
      }
      __syncwarp();  // all of the warp's results are covered by lane 0's arrival
      if (lane_ == 0) stage.looked.arrive();
    });
  }

  /// A scan warp: writes the results of its part.
  __device__ void scan() {
    Items carry = nothing().items;  // the fold up to the end of the block's last tile, since the last head
    for_each_tile(&Stage::reduced, [&](Stage& stage, Slot slot) {
      const int place = warp_ * kLanes + lane_;
      const Fold total = fold_parts(slot.stage, unit_);
      Fold own = fold_parts(slot.stage, unit_, row_);  // of the tile, before the thread's lines
      if (cut_.groups_a_warp > 1) own = join(own, {before(slot.stage)[place], stage.before_heads[place]});
      stage.looked.wait(slot.parity);
      Items all = stage.carries ? carry : nothing().items;  // before the tile
      if (stage.to_fold > 0) {
        for (int w = 0; w < cut_.look_rows; ++w) all = join(all, above(slot.stage)[w * cut_.width + unit_]);
      }
      carry = total.head ? total.items : join(all, total.items);
      Items running = own.head ? own.items : join(all, own.items);
      Out* line = given_.out + place_of(stage) + group_ * cut_.lines_a_thread * given_.inner + unit_ * kVector;
      for_each_line(
          stage, slot.stage, stage.heads[place], [&](int line) { running = start(stage, line); },
          [&](const auto& unit) {
            simt::Vector<Out, kVector> results;
#pragma unroll
            for (int v = 0; v < kVector; ++v) {
              const Item next = op_(running.item[v], static_cast<Item>(unit[v]));
              results[v] = static_cast<Out>(given_.mode == Mode::exclusive ? running.item[v] : next);
              running.item[v] = next;
            }
            block_.template store<kVector>(line, 0, results);
            line += given_.inner;
          });
      __syncwarp();  // all lanes have read the stage
      if (lane_ == 0) stage.free.arrive();
    });
  }

  const ColumnArguments<Op, Form>& given_;
  const ColumnTiles& cut_;
  unsigned char* const tiles_;
  Stage* const stages_;
  Items* const folds_;
  Op op_;
  const int lane_;
  const std::int64_t strip_;
  std::uint64_t* const counter_;
  bool alone_ = false;  ///< whether this block no longer keeps in step with the others
  int warp_;            ///< of its role
  int row_;             ///< of the warp in the tile
  int unit_;            ///< in the tile's lines
  int part_;            ///< which group of the warp
  int group_;           ///< of those of the tile
  bool has_units_;      ///< whether the lane has any
  simt::GpuBlock block_;
};

template <Associative Op, bool kAligned, class Form = UsualColumns>
__global__ void __launch_bounds__(kLanes*(2 + kMostLookWarps + 2 * kColumnWarps), 1)
    axis_columns(const __grid_constant__ ColumnArguments<Op, Form> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) unsigned char shared[];
  ColumnBlock<Op, kAligned, Form>(arguments, shared).run();
#else
  __trap();  // rather than leave the output unwritten
#endif
}

}  // namespace scanlab::scan_axis
#endif
