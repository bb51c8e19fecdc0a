// look_ahead: one pass by one persistent block per multiprocessor, with warp specialisation. This is the kernel;
// look_ahead.cu launches it.
//
// Idea    A block obtains one tile after another and passes each through a ring of stages in shared memory. The load
//         warp loads by bulk copies, which cost no registers. The reduce warps compute a tile's aggregate and publish
//         it at once. The look-ahead warp, or two in turns, add the aggregates of all earlier tiles, so that no tile
//         has to wait for another tile's prefix. The scan warps scan in place and store by bulk copies. While one tile
//         is scanned, the next is reduced and others are loading.
//
//             load      | tile 0 | tile 1 | tile 2 | tile 3 |
//             reduce             | tile 0 | tile 1 | tile 2 | tile 3 |      publish each aggregate
//             look ahead             | 0 | |  1 |   |  2 |                  gather those of the tiles before
//             scan                       | tile 0 | tile 1 | tile 2 |       and store
//
// Work    2 n additions, to reduce and to scan; and those of the earlier tiles' aggregates, a few hundred per SM at a
//         time. Operators that compute more than they move have a separate form: see kKeeps.
// Traffic 2 n, and 8 or 16 bytes per tile.
// Bits    Bitwise reproducible: the order of additions depends on n alone, not on which block takes which tile.
// Safe    Tiles are assigned dynamically, so that a block waits only for blocks that have started, and only for
//         earlier tiles. The scan cannot deadlock, whatever else the device runs.
// Needs   Compute capability 9.0. Bulk copies need arrays at multiples of 16 bytes; others take slower, plain copies.
// Source  CUB's look-ahead scan for Blackwell (CCCL 3.4) for aggregates only; Merrill and Garland 2016 for the state
//         words; this form, with run numbers and its shape, is Scanlab's.
#pragma once

#include "variants/scan/look_ahead_ring.cuh"
#include "variants/scan/packed_items.cuh"
#if defined(__CUDACC__)

namespace scanlab::scan {

using cuda::Wait;

/// The items of an array as they are.
template <Associative Op>
struct PlainItems {
  using Item = typename Op::Item;
  __device__ void begin_vector() const {}
  __device__ Item next(const InOf<Op>& item) const { return static_cast<Item>(item); }
  /// The result at an item's place. next: the fold with it; before: without it.
  __device__ OutOf<Op> result(Mode mode, const Before<Op>& before, const Item&, const Item& next) const {
    return static_cast<OutOf<Op>>(mode == Mode::exclusive ? item_of(before) : next);
  }
};

/// Watch: NoWatch, or a class of harness/cuda/watch.cuh. Given: Arguments, or a class that
/// holds them and defines how aggregates of tiles are published and gathered, how items are made of an array's, or, by
/// a Compactor, which results there are.
template <Associative Op, class Watch, class Given = Arguments<Op>>
class LookAheadBlock {
 public:
  using Item = typename Op::Item;
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  using Form = typename Given::Form;
  using OwnRing = Ring<Op, Form>;
  using Vector = typename OwnRing::Vector;

  __device__ LookAheadBlock(const Given& arguments, unsigned char* shared)
      : tiles_(arguments),
        given_(arguments.of_scan()),
        shape_(given_.shape),
        ring_(given_, shared),
        lane_(threadIdx.x % kLanes),
        op_(given_.op) {}

  __device__ void run() {
    const int warp = threadIdx.x / kLanes;
    TileCounter::Drawn first;
    if (warp == 0) {  // the barriers are made while it is on its way
      cuda::wait_for_kernels_before();
      if (lane_ == 0) first = TileCounter::draw(block_, given_.counter);
    }
    make_barriers(warp);
    __syncthreads();  // every barrier is made
    cuda::wait_for_kernels_before();
    if (warp == 0) {
      load(first);
    } else if (warp == 1) {
      look_ahead(0);
    } else if (warp < 2 + shape_.warps) {
      reduce(warp - 2);
    } else if (warp < 2 + 2 * shape_.warps) {
      if constexpr (kCompacts) {
        compact(warp - 2 - shape_.warps);
      } else {
        scan(warp - 2 - shape_.warps);
      }
    } else if (kTells && warp == 2 + 2 * shape_.warps) {
      if constexpr (kTells) tell();
    } else {
      look_ahead(1);
    }
    watch_.save(given_.watched);
  }

 private:
  /// The lanes of a warp call this.
  __device__ void reached(cuda::Point point, std::int64_t tile) {
    if (lane_ == 0) watch_.reached(given_.watched, point, tile);
  }

  /// Calls `role` for each tile of the block, once the barrier `ready` of the tile's stage is complete. All warps but
  /// the load warp use this. kTakesTurns: for every other tile, where two warps look ahead.
  template <bool kTakesTurns = false, class Role>
  __device__ void for_each_tile(Wait what, TransactionBarrier Stage<Op>::*ready, Role role, int turn = 0) {
    Slot slot;
    if (kTakesTurns && turn == 1) slot.advance(shape_.stages);
    for (;; slot.advance(shape_.stages)) {
      Stage<Op>& stage = ring_.stage(slot.stage);
      watch_.during(what, [&] { (stage.*ready).wait(slot.parity); });
      if (stage.tile == kNoTile) return;
      role(stage.tile, stage, slot);
      if (kTakesTurns && shape_.looking == 2) slot.advance(shape_.stages);
    }
  }

  /// The load warp initialises the barriers of the bulk loads; the other warps share the remaining ones.
  __device__ void make_barriers(int warp) {
    if (lane_ != 0) return;  // the lanes of a warp would be serialised
    if (warp == 0) {
      for (int stage = 0; stage < shape_.stages; ++stage) ring_.stage(stage).full.init(kArrivals);
      cuda::make_barriers_visible();
      return;
    }
    for (int stage = warp - 1; stage < shape_.stages; stage += shape_.looking + 2 * shape_.warps + kTells) {
      ring_.stage(stage).reduced.init(shape_.warps * kArrivals);
      ring_.stage(stage).prefixed.init(kArrivals);
      ring_.stage(stage).free.init((shape_.warps + 1 + kTells) * kArrivals);
    }
  }

  /// The load warp. drawn: by lane 0, for the first tile.
  __device__ void load(TileCounter::Drawn drawn) {
    Slot slot;
    Slot oldest;  // the oldest stage that may still be loading
    for (int loading = 1;; ++loading) {
      Stage<Op>& stage = ring_.stage(slot.stage);
      const std::uint32_t number = kDraws ? block_.shuffle(drawn.tile(), 0) : blockIdx.x + (loading - 1) * gridDim.x;
      const std::int64_t tile = number < given_.tiles ? number : kNoTile;
      if (loading > shape_.loading) {
        watch_.during(Wait::data, [&] { ring_.stage(oldest.stage).full.wait(oldest.parity); });
        oldest.advance(shape_.stages);
      }
      watch_.during(Wait::store, [&] { stage.free.wait(slot.parity ^ 1); });
      __syncwarp();  // all lanes have seen these phases before the next ones can complete
      if (lane_ == 0) {
        stage.tile = tile;
        stage.run = drawn.run();
      }
      if (tile == kNoTile) {
        end(stage, drawn);
        if (shape_.looking == 2) end_turn(slot);
        return;
      }
      reached(cuda::Point::begun, tile);
      ring_.load(slot.stage, tile);
      // After the load, which would otherwise wait for the counter.
      if (kDraws && lane_ == 0) drawn = TileCounter::draw(block_, given_.counter);
      slot.advance(shape_.stages);
    }
  }

  /// The load warp calls this when the block has drawn a number past the last tile. Completes the barriers on which the
  /// other warps wait before they read the stage's tile; they may still be busy with earlier tiles.
  __device__ void end(Stage<Op>& stage, TileCounter::Drawn unused) {
    if (!arrives()) return;
    if (lane_ == 0) {
      cuda::trigger_dependent_launch();
      const std::int64_t drawn_tiles = kDraws ? given_.tiles : 0;
      TileCounter{static_cast<std::uint32_t>(drawn_tiles + gridDim.x)}.reset_if_last(block_, given_.counter, unused);
    }
    complete(stage);
  }
  /// The same for the other look-ahead warp, which reads the next stage.
  __device__ void end_turn(Slot slot) {
    slot.advance(shape_.stages);
    Stage<Op>& stage = ring_.stage(slot.stage);
    stage.free.wait(slot.parity ^ 1);
    __syncwarp();
    if (lane_ == 0) stage.tile = kNoTile;
    if (arrives()) complete(stage);
  }
  __device__ void complete(Stage<Op>& stage) {
    stage.full.arrive();
    for (int warp = 0; warp < shape_.warps; ++warp) stage.reduced.arrive();  // for the reduce warps, which end
  }

  /// A reduce warp: computes the aggregate of its part, and the prefix of each thread within the part.
  __device__ void reduce(int warp) {
    for_each_tile(Wait::data, &Stage<Op>::full, [&](std::int64_t tile, Stage<Op>& stage, Slot slot) {
      if (warp == 0) reached(cuda::Point::items, tile);
      Before<Op> folded = nothing<Op>();
      if constexpr (kCompacts) folded = tiles_.fold(ring_, slot.stage, tile, warp, lane_);
      auto items = items_from<true>(slot.stage, tile, warp);
      if constexpr (!kCompacts)
        for_each_vector(slot.stage, tile, warp, [&](Vector& in_place) {
          if constexpr (kPacked<decltype(items)>) {
            folded = packed(in_place).fold(folded);
          } else {
            Vector vector = in_place;
            items.begin_vector();
            if constexpr (kKeeps) {
              for (int i = 1; i < kItems; ++i) vector.items[i] = op_(vector.items[i - 1], vector.items[i]);
              in_place = vector;
              folded = op_(folded, vector.items[kItems - 1]);
            } else {
              for (const In& item : vector.items) folded = op_(folded, items.next(item));
            }
          }
        });
      if constexpr (Form::kHeadBits) ring_.clear_head_bits(tile, warp);
      const Item total = scan_warp(block_, item_of(folded), op_);
      const Item before = block_.shuffle_up(total, 1);
      stage.before[kLanes * warp + lane_] = item_of(if_any<Op>(lane_ != 0, before));
      if (lane_ == 31) stage.warp_aggregate[warp] = total;
      __syncwarp();  // all of the warp's results are covered by lane 0's arrival
      if (arrives()) stage.reduced.arrive();
      if (kKeeps || warp != 0) return;
      watch_.during(Wait::reduced, [&] { stage.reduced.wait(slot.parity); });
      __syncwarp();  // lane 0's arrival covers what all lanes read
      if (!arrives()) return;
      if (lane_ == 0) tiles_.aggregates().publish(tile, item_of(warp_prefix(stage, shape_.warps)), stage.run);
      reached(cuda::Point::told, tile);
      stage.free.arrive();
    });
  }

  /// A look-ahead warp: computes the prefix of each tile of the block, or of every other one.
  __device__ void look_ahead(int turn) {
    auto aggregates = tiles_.aggregates();
    const auto find_prefix = [&](std::int64_t tile, Stage<Op>& stage, Slot) {
      Before<Op> warps_before;  // the aggregate of the warps numbered below the lane
      if constexpr (kKeeps) warps_before = publish_by_lanes(tile, stage, aggregates);
      Before<Op> prefix;
      watch_.during(Wait::prefix, [&] { prefix = aggregates.before(tile, stage.run); });
      if constexpr (kKeeps) {
        prefix = shuffle(block_, prefix, 0);
        if (lane_ < shape_.warps) stage.warp_aggregate[lane_] = item_of(op_(prefix, warps_before));
        __syncwarp();  // all of them are covered by lane 0's arrival
      }
      if (!arrives()) return;
      if (lane_ == 0) stage.prefix = item_of(prefix);
      reached(cuda::Point::prefix, tile);
      stage.prefixed.arrive();
    };
    for_each_tile<true>(Wait::reduced, &Stage<Op>::reduced, find_prefix, turn);
  }

  /// An additional warp that tells other GPUs of tiles as soon as these are reduced, without waiting for the look-ahead
  /// warp.
  __device__ void tell() {
    auto aggregates = tiles_.aggregates();
    for_each_tile(Wait::reduced, &Stage<Op>::reduced, [&](std::int64_t tile, Stage<Op>& stage, Slot) {
      const Item aggregate = item_of(warp_prefix(stage, shape_.warps));
      watch_.during(Wait::prefix, [&] { aggregates.tell(tile, aggregate, stage.run); });
      __syncwarp();  // all lanes have read the stage
      if (arrives()) stage.free.arrive();
    });
  }

  /// A scan warp: writes the results of its part over the items, and stores them.
  __device__ void scan(int warp) {
    Stage<Op>* stored = nullptr;  // the stage whose results the latest store reads
    for_each_tile(Wait::reduced, &Stage<Op>::reduced, [&](std::int64_t tile, Stage<Op>& stage, Slot slot) {
      Before<Op> before = read_back<Op>(lane_ != 0, stage.before[kLanes * warp + lane_]);
      if constexpr (!kKeeps) before = op_(warp_prefix(stage, warp), before);
      if (stored != nullptr) release(*stored);  // the load warp needs it, and the prefix may arrive much later
      watch_.during(Wait::prefix, [&] { stage.prefixed.wait(slot.parity); });
      const bool has_prefix = kHasInitialValue<Op> || tile != 0 || (kKeeps && warp != 0);
      const Before<Op> prefix = read_back<Op>(has_prefix, kKeeps ? stage.warp_aggregate[warp] : stage.prefix);
      Before<Op> running = op_(prefix, before);
      auto items = items_from<false>(slot.stage, tile, warp);
      for_each_vector(slot.stage, tile, warp, [&](Vector& in_place) {
        if constexpr (kPacked<decltype(items)>) {
          running = packed(in_place).scan(running, given_.mode == Mode::exclusive);
        } else {
          Vector vector = in_place;
          items.begin_vector();
          const Before<Op> before_vector = running;
          for (In& item : vector.items) {
            const Item own = items.next(item);
            const Item next = op_(kKeeps ? before_vector : running, own);
            item = scanlab::bit_cast<In>(items.result(given_.mode, running, own, next));
            running = next;
          }
          in_place = vector;
        }
      });
      cuda::show_to_bulk_copies();
      __syncwarp();  // the whole part is written, and shown, before a lane stores it
      ring_.store_part(slot.stage, tile, warp);
      if (warp == 0) reached(cuda::Point::stored, tile);
      stored = &stage;
    });
    cuda::wait_until_stores_have_read<0>();  // shared memory lives as long as the block
  }

  /// A scan warp that compacts: puts the results of its part together, and stores them to where the scan says.
  __device__ void compact(int warp) {
    typename Given::Compactor compactor(tiles_, ring_, warp, lane_);
    for_each_tile(Wait::reduced, &Stage<Op>::reduced, [&](std::int64_t tile, Stage<Op>& stage, Slot slot) {
      const Item in_part = stage.before[kLanes * warp + lane_], of_part = stage.warp_aggregate[warp];
      const Item in_tile = item_of(warp_prefix(stage, warp));
      watch_.during(Wait::prefix, [&] { stage.prefixed.wait(slot.parity); });
      compactor.take(slot.stage, tile, tile == 0 ? Op::identity() : stage.prefix, in_tile, in_part, of_part);
      __syncwarp();  // all lanes have read the stage, and written their results
      if (arrives()) stage.free.arrive();
      compactor.store();
    });
    cuda::wait_until_stores_have_read<0>();  // shared memory lives as long as the block
  }

  /// Calls f with each of the thread's vectors, in order. Skips an empty part of the last tile if the operator has an
  /// identity.
  template <class F>
  __device__ void for_each_vector(int slot, std::int64_t tile, int warp, F f) {
    Vector* const mine = ring_.vectors(slot, warp, lane_);
    if (HasIdentity<Op> && ring_.items_of_part(tile, warp) == 0) return;
#pragma unroll 3
    for (int v = 0; v < shape_.vectors; ++v) f(mine[v]);
  }

  /// The items of a lane: as the operator takes them, one after another. kFirst: for the reduce warps, which see them
  /// first.
  template <bool kFirst>
  __device__ auto items_from(int slot, std::int64_t tile, int warp) const {
    if constexpr (requires { tiles_.heads; }) {
      return tiles_.template items_from<kFirst>(ring_, slot, tile, warp, lane_);
    } else {
      return PlainItems<Op>{};
    }
  }

  /// The words of a vector where they lie: a compiler that sees items first unpacks them, and packs the results.
  static __device__ PackedItems<Vector, sizeof(In)>& packed(Vector& in_place) {
    return reinterpret_cast<PackedItems<Vector, sizeof(In)>&>(in_place);
  }

  /// Whether this lane arrives at barriers: lane 0 does so for its warp, after a __syncwarp().
  __device__ bool arrives() const { return Form::kEveryLaneArrives || lane_ == 0; }

  /// Releases a stage once all stores have read it.
  __device__ void release(Stage<Op>& stage) {
    watch_.during(Wait::store, [&] {
      if (lane_ == 0) cuda::wait_until_stores_have_read<0>();
    });
    __syncwarp();  // the other lanes' own reads of the stage are complete
    if (arrives()) stage.free.arrive();
  }

  /// The look-ahead warp calls this: publishes a tile's aggregate. Each lane gets the aggregate of the warps numbered
  /// below it.
  __device__ Before<Op> publish_by_lanes(std::int64_t tile, Stage<Op>& stage, auto& aggregates) {
    const Item own = stage.warp_aggregate[min(lane_, shape_.warps - 1)];
    const Item with_own = scan_warp(block_, own, op_);
    const Item all = block_.shuffle(with_own, shape_.warps - 1);
    const Item before = block_.shuffle_up(with_own, 1);
    if (lane_ == 0) {
      aggregates.publish(tile, all, stage.run);
      stage.free.arrive();
    } else if (Form::kEveryLaneArrives) {
      stage.free.arrive();
    }
    return if_any<Op>(lane_ != 0, before);
  }

  /// Returns the aggregate of the parts of all warps before `warp`.
  __device__ Before<Op> warp_prefix(const Stage<Op>& stage, int warp) const {
    Before<Op> prefix = nothing<Op>();
#pragma unroll
    for (int w = 0; w < kMaxReduceWarps<Op>; ++w) {
      if (w < warp) prefix = op_(prefix, stage.warp_aggregate[w]);
    }
    return prefix;
  }

  static constexpr int kItems = sizeof(Vector) / sizeof(In);
  /// Whether items are added as they lie in the array, several at a time.
  template <class Items>
  static constexpr bool kPacked = kPacks<Op>&& std::is_same_v<Items, PlainItems<Op>>;
  static constexpr int kTells = Form::kTells;
  static constexpr bool kDraws = Form::kDraws;
  static constexpr bool kCompacts = requires { typename Given::Compactor; };
  static constexpr int kArrivals = Form::kEveryLaneArrives ? kLanes : 1;  ///< of a warp at a barrier
  /// A separate form for operators that compute more than they move: it shortens the chains of dependent applications.
  /// The reduce warps leave the prefixes within each vector in place, so that the scan warps can process several items
  /// at a time. The lanes of the look-ahead warp combine the warps' aggregates once, instead of every warp by itself:
  /// this warp publishes, and gives each warp its prefix. Other operators are slower in this form: a tile is then
  /// published only after all tiles before the block's previous tile are.
  static constexpr bool kKeeps = Form::kKeeps && Op::kHeavy && kSameTypes<Op>;

  const Given& tiles_;  ///< defines how aggregates are published and gathered
  const Arguments<Op>& given_;
  const Shape shape_;
  const OwnRing ring_;
  const int lane_;
  simt::GpuBlock block_;
  Op op_;
  Watch watch_;
};

template <Associative Op, class Watch>
__global__ void __launch_bounds__(Shape{.warps = kMaxReduceWarps<Op>}.threads(), 1)
    look_ahead(const __grid_constant__ Arguments<Op> arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  LookAheadBlock<Op, Watch>(arguments, shared).run();
#else
  __trap();  // rather than leave the output unwritten
#endif
}

}  // namespace scanlab::scan
#endif
