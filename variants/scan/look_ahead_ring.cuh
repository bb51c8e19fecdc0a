// The ring of stages in the shared memory of a look_ahead block: how an array is cut up, and how its tiles come and go.
//
// A tile has a part for each warp that reduces, and for each that scans; a part, a run of vectors for each lane.
#pragma once

#include <algorithm>

#include "variants/scan/aggregates.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/bulk_copy.cuh"
#include "harness/cuda/watch.cuh"

namespace scanlab::scan {

using cuda::TransactionBarrier;

/// How a block is cut up. A thread's vectors of 16 bytes lie side by side, so their number is odd: eight threads then
/// read eight different groups of four banks.
struct Shape {
  int warps = 4;     ///< that reduce, and as many that scan
  int vectors = 15;  ///< of 16 bytes, a thread
  int stages = 6;
  int loading = 2;         ///< stages that load at a time: more in flight only lengthens the memory's queues
  int looking = 1;         ///< warps that look ahead, and take turns: 1 or 2
  int piece_bytes = 4096;  ///< of a bulk load; a tile takes several
  int head_bytes = 0;      ///< of a tile's heads, for a form that has them
  int key_bytes = 0;       ///< of its keys, and a vector before them, for a form that loads keys

  SCANLAB_HD constexpr int part_bytes() const { return kLanes * vectors * cuda::kBulkBytes; }
  SCANLAB_HD constexpr int tile_bytes() const { return warps * part_bytes(); }
  SCANLAB_HD constexpr int threads() const { return kLanes * (1 + looking + 2 * warps); }

  /// The same with so many stages. At the end each of the warps that look ahead takes one, and the stage of the last
  /// tile is not given back: with two stages, the second end would wait for it.
  constexpr Shape of_stages(int number) const {
    Shape shape = *this;
    shape.stages = number;
    if (number < 3) shape.looking = 1;
    return shape;
  }

  /// The longest chain of operations from an item to a result, in a scan of so many tiles: a thread's items, once in
  /// their own tile and once in that of the result; lanes and warps; a group's tiles, and the groups.
  constexpr std::int64_t chain(std::int64_t item_bytes, std::int64_t tiles) const {
    const std::int64_t in_a_tile = 2 * vectors * cuda::kBulkBytes / item_bytes + 5 + warps;
    return in_a_tile + AggregateMemory::kMaxPerGroup / kLanes + 5 + tiles / 64 + 4;
  }
};

/// The warps that reduce. Heavy operators are bound by the chains of them in each thread: more warps have shorter ones.
template <Associative Op>
inline constexpr int kMaxReduceWarps = Op::kHeavy ? 14 : 8;

/// The warps that look ahead in plain scans by blocks with so many warps that reduce. States of items of 8 bytes take
/// 16, twice as many to read; a second warp makes scans of them 1 to 2 % faster on an H200, and those of other items
/// slower. So it does with 8 warps, whose threads had fewer registers for it: arg_max by 18 %.
template <Associative Op>
constexpr int looking_beside(int warps) {
  return sizeof(InOf<Op>) == 8 && !Op::kHeavy && warps <= 4 ? 2 : 1;
}

/// Tiles that a lane asks for. For 1-byte items groups are half as large: on an H200 that is 1 % faster. Why is not
/// known.
template <Associative Op, class States = DeviceStates<typename Op::Item>>
using TileAggregates = Aggregates<Op, States, std::max(1, kTilesPerLane<Op, States> / (sizeof(InOf<Op>) == 1 ? 2 : 1))>;

/// The tiles from which an array is bound by memory; in shorter ones blocks wait for each other.
constexpr std::int64_t kManyTiles = 2048;

/// The differences between the kernels that are made of LookAheadBlock: here as look_ahead has them.
struct UsualForm {
  static constexpr int kTells = 0;                  ///< warps of a block that tell other GPUs of its tiles
  static constexpr bool kDraws = true;              ///< tiles by tickets
  static constexpr bool kKeeps = true;              ///< of heavy operators, what the reduce warps folded
  static constexpr bool kEveryLaneArrives = false;  ///< at a barrier, or lane 0 for its warp
  static constexpr bool kHeadBits = false;          ///< a bit an item comes with the items
  static constexpr bool kItemBefore = false;        ///< the item before a tile comes with it
  using Key = void;                                 ///< a key an item comes with them, of which heads are made
};

template <Associative Op>
struct Arguments {
  using Item = typename Op::Item;
  using Form = UsualForm;
  const InOf<Op>* in;  ///< n items
  OutOf<Op>* out;      ///< n items of the same size, may be `in`
  std::int64_t n;
  std::int64_t tiles;
  Mode mode;
  Shape shape;
  bool in_bulk;                            ///< whether both arrays begin at a multiple of 16 bytes
  std::uint64_t* counter;                  ///< of AggregateMemory, for TileCounter
  typename TileState<Item>::Word* states;  ///< likewise, for `tiles`
  void* watched = nullptr;                 ///< memory of a Watch
  std::uint32_t* head_bits = nullptr;      ///< with kHeadBits: one an item, in whole tiles
  const void* keys = nullptr;              ///< with a Key: n keys
  bool keys_in_bulk = false;               ///< whether these begin at a multiple of 16 bytes
  Op op{};  // not [[no_unique_address]]: host and device differ over the size of a class with such a member (nvcc 13.0)

  __device__ const Arguments& of_scan() const { return *this; }
  __device__ TileAggregates<Op> aggregates() const { return {states, op, tiles >= kManyTiles}; }
};

/// Stands in a stage for the end: no tile was left for the block.
constexpr std::int64_t kNoTile = -1;

/// The state of the tile in a stage, besides its items.
template <Associative Op>
struct Stage {
  using Item = typename Op::Item;
  static constexpr int kWarps = kMaxReduceWarps<Op>;

  std::int64_t tile;             ///< its number, or kNoTile
  Item prefix;                   ///< of all items before the tile
  Item warp_aggregate[kWarps];   ///< of each warp's part; of heavy operators then the prefix of the part
  Item before[kLanes * kWarps];  ///< of the items before a thread's own, in its warp's part
  std::uint32_t run;             ///< the number of this run
  TransactionBarrier full;       ///< the items are here, and `tile` and `run` are written
  TransactionBarrier reduced;    ///< `before` and `warp_aggregate` are written
  TransactionBarrier prefixed;   ///< `prefix` is written, and of heavy operators those of the warps' parts
  TransactionBarrier free;       ///< the results have been read by the stores, and the tile's aggregate is published
};

template <Associative Op>
constexpr std::size_t stage_bytes(const Shape& shape) {
  return shape.tile_bytes() + shape.head_bytes + shape.key_bytes + sizeof(Stage<Op>);
}
template <Associative Op>
constexpr std::size_t shared_bytes(const Shape& shape) {
  return shape.stages * stage_bytes<Op>(shape);
}

/// With as many stages as the `tiles` of a block need, or as `memory` bytes hold: one for each tile, if all blocks get
/// as many, and for the end. A stage is given back when the next tile is reduced: a ring of one would wait for itself.
template <Associative Op>
constexpr Shape with_stages(Shape shape, std::int64_t tiles, std::size_t memory) {
  const auto most = static_cast<std::int64_t>(memory / stage_bytes<Op>(shape));
  shape = shape.of_stages(static_cast<int>(std::clamp<std::int64_t>(tiles + 1, 2, std::max<std::int64_t>(most, 2))));
  shape.loading = std::min(shape.loading, shape.stages);
  return shape;
}

/// The shape for the bytes of a result and their number in all, as tuned by `scanlab tune` on an H200 for sums. Fewer
/// bytes than fill the multiprocessors once: tiles such that each of them gets one. Up to `few` of 36 KiB each: fewer,
/// larger ones. shared_bytes: that a block may ask for.
template <Associative Op>
constexpr Shape shape_for(std::int64_t bytes, int multiprocessors, std::size_t shared_bytes,
                          int few = sizeof(InOf<Op>) == 8 ? 0 : 4) {
  constexpr Shape kSmall[] = {{.warps = 4, .vectors = 5, .loading = 4},
                              {.warps = 8, .vectors = 3, .loading = 3},
                              {.warps = 4, .vectors = 9, .loading = 3},
                              {.warps = 4, .vectors = 11, .loading = 3}};
  constexpr Shape k28KiB{.warps = 8, .vectors = 7, .loading = 2};
  constexpr Shape k30KiB{.warps = 4, .vectors = 15, .loading = 2};
  constexpr Shape k36KiB{.warps = 8, .vectors = 9, .loading = 2};
  constexpr Shape k49KiB{.warps = 14, .vectors = 7, .loading = 2};
  const std::int64_t share = bytes / std::max(multiprocessors, 1);
  if constexpr (Op::kHeavy) {
    const bool two_fit = 2 * (k49KiB.tile_bytes() + sizeof(Stage<Op>)) <= shared_bytes;
    return share > k49KiB.tile_bytes() && two_fit ? k49KiB : Shape{.warps = 14, .vectors = 5};
  } else {
    for (const Shape& shape : kSmall) {
      if (share <= shape.tile_bytes()) return shape;
    }
    const bool two_fit = 2 * (k36KiB.tile_bytes() + sizeof(Stage<Op>)) <= shared_bytes;
    if (share <= few * k36KiB.tile_bytes() && two_fit) return k36KiB;
    return sizeof(InOf<Op>) <= 4 ? k28KiB : k30KiB;
  }
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

/// The stages, as a thread sees them. Methods that copy are called by whole warps.
template <Associative Op, class Form = UsualForm>
class Ring {
 public:
  using In = InOf<Op>;
  using Out = OutOf<Op>;
  static_assert(sizeof(In) == sizeof(Out), "results take the place of items");
  struct alignas(cuda::kBulkBytes) Vector {
    In items[cuda::kBulkBytes / sizeof(In)];
  };

  __device__ Ring(const Arguments<Op>& arguments, unsigned char* shared)
      : given_(arguments),
        shape_(arguments.shape),
        tiles_(shared),
        heads_(shared + shape_.stages * shape_.tile_bytes()),
        keys_(heads_ + shape_.stages * shape_.head_bytes),
        stages_(reinterpret_cast<Stage<Op>*>(keys_ + shape_.stages * shape_.key_bytes)) {}

  __device__ Stage<Op>& stage(int slot) const { return stages_[slot]; }

  /// The vectors of a lane, in the part of a warp: shape.vectors of them.
  __device__ Vector* vectors(int slot, int warp, int lane) const {
    return reinterpret_cast<Vector*>(items(slot)) + (kLanes * warp + lane) * shape_.vectors;
  }

  /// The heads of a tile: bits, or the bits of each vector, as the form has them.
  __device__ unsigned char* heads(int slot) const { return heads_ + slot * shape_.head_bytes; }
  /// The key of a tile's first item; behind those of other tiles, there is one before it.
  __device__ const typename Form::Key* keys(int slot) const {
    return reinterpret_cast<const typename Form::Key*>(keys_ + slot * shape_.key_bytes + cuda::kBulkBytes);
  }

  /// With kItemBefore: the item before a tile, unless it is the first one, in the vector at `heads`.
  __device__ const In& item_before(int slot) const {
    return reinterpret_cast<const In*>(heads(slot) + cuda::kBulkBytes)[-1];
  }

  /// Shared memory that a block has asked for beyond the ring.
  __device__ unsigned char* behind() const { return reinterpret_cast<unsigned char*>(stages_ + shape_.stages); }

  /// Clears the head bits of a part in global memory, whose tile is loaded: they are set anew for the next run.
  __device__ void clear_head_bits(std::int64_t tile, int warp) const {
    const int words = part_items() / 32, lane = threadIdx.x % kLanes;
    std::uint32_t* const of_part = given_.head_bits + (tile * shape_.warps + warp) * words;
    for (int i = lane; i < words; i += kLanes) of_part[i] = 0;
  }

  /// The number of a lane's first item in its tile.
  __device__ int place_in_tile(int warp, int lane) const {
    return warp * part_items() + lane * (part_items() / kLanes);
  }
  /// The place in the array of a lane's first item.
  __device__ std::int64_t place(std::int64_t tile, int warp, int lane) const {
    return tile * tile_items() + place_in_tile(warp, lane);
  }

  /// How many items of a warp's part there are: fewer than it holds, or none, in the last tile.
  __device__ int items_of_part(std::int64_t tile, int warp) const {
    return items_from(tile * tile_items() + warp * part_items(), part_items());
  }

  /// Loads a tile, and fills its last part up with what no result depends on. Opens the stage's `full` when all is
  /// there.
  __device__ void load(int slot, std::int64_t tile) const {
    const int lane = threadIdx.x % kLanes;
    const int count = items_from(tile * tile_items(), tile_items());
    const int in_bulk = bulk_items(count);
    const In* const from = given_.in + tile * tile_items();
    In* const to = items(slot);
    TransactionBarrier& full = stages_[slot].full;
    const int piece = shape_.piece_bytes / static_cast<int>(sizeof(In));
    for (int i = lane * piece; i < in_bulk; i += kLanes * piece) {
      cuda::bulk_load(to + i, from + i, min(piece, in_bulk - i) * static_cast<int>(sizeof(In)), full);
    }
    if (in_bulk < tile_items()) {  // the last tile, or all of them if not aligned
      // Where there is no identity, a part without items is folded like any other.
      const int parts = HasIdentity<Op> ? (count + part_items() - 1) / part_items() : shape_.warps;
      for (int i = in_bulk + lane; i < parts * part_items(); i += kLanes) to[i] = i < count ? from[i] : padding();
    }
    int more_bytes = 0;
    if constexpr (Form::kHeadBits) {
      more_bytes = shape_.head_bytes;
      if (lane == 0) {
        cuda::bulk_load(heads(slot), reinterpret_cast<const unsigned char*>(given_.head_bits) + tile * more_bytes,
                        more_bytes, full);
      }
    }
    if constexpr (!std::is_void_v<typename Form::Key>) more_bytes = load_keys(slot, tile, count);
    if constexpr (Form::kItemBefore) {
      if (tile > 0 && given_.in_bulk) {
        more_bytes = cuda::kBulkBytes;
        if (lane == 0) cuda::bulk_load(heads(slot), reinterpret_cast<const Vector*>(from) - 1, more_bytes, full);
      } else if (tile > 0 && lane == 0) {
        const_cast<In&>(item_before(slot)) = from[-1];
      }
    }
    __syncwarp();  // what was written by hand is covered by lane 0's arrival
    if (lane == 0) {
      full.arrive_expecting(in_bulk * static_cast<int>(sizeof(In)) + more_bytes);
    } else if (Form::kEveryLaneArrives) {
      full.arrive();
    }
    __syncwarp();  // lanes go on together: the caller's next wait is for all of them
  }

  /// Starts to store a warp's part; what it wrote there has been shown to bulk stores.
  __device__ void store_part(int slot, std::int64_t tile, int warp) const {
    const int lane = threadIdx.x % kLanes;
    const int count = items_of_part(tile, warp);
    const int in_bulk = bulk_items(count);
    const Out* const from = reinterpret_cast<const Out*>(items(slot)) + warp * part_items();
    Out* const to = given_.out + tile * tile_items() + warp * part_items();
    if (lane == 0 && in_bulk > 0) cuda::bulk_store(to, from, in_bulk * static_cast<int>(sizeof(Out)));
    for (int i = in_bulk + lane; i < count; i += kLanes) to[i] = from[i];
  }

 private:
  /// Loads the keys of a tile, and the one before. Returns the bytes that come in bulk.
  __device__ int load_keys(int slot, std::int64_t tile, int count) const {
    using Key = typename Form::Key;
    constexpr int kVector = cuda::kBulkBytes / sizeof(Key);
    const int lane = threadIdx.x % kLanes, before = tile == 0 ? 0 : kVector;
    const int in_bulk = given_.keys_in_bulk ? (count + before) / kVector * kVector : 0;
    const Key* const from = static_cast<const Key*>(given_.keys) + tile * tile_items() - before;
    Key* const to = const_cast<Key*>(keys(slot)) - before;
    const int piece = shape_.piece_bytes / static_cast<int>(sizeof(Key));
    for (int i = lane * piece; i < in_bulk; i += kLanes * piece) {
      cuda::bulk_load(to + i, from + i, min(piece, in_bulk - i) * static_cast<int>(sizeof(Key)), stages_[slot].full);
    }
    for (int i = in_bulk + lane; i < count + before; i += kLanes) to[i] = from[i];
    return in_bulk * static_cast<int>(sizeof(Key));
  }

  __device__ int part_items() const { return shape_.part_bytes() / static_cast<int>(sizeof(In)); }
  __device__ int tile_items() const { return shape_.tile_bytes() / static_cast<int>(sizeof(In)); }
  __device__ In padding() const {
    if constexpr (kSameTypes<Op> && HasIdentity<Op>) {
      return Op::identity();
    } else {
      return given_.in[given_.n - 1];  // an operator need not take what is no item
    }
  }
  /// How many of the `most` items from `first` on there are.
  __device__ int items_from(std::int64_t first, int most) const {
    return static_cast<int>(max(std::int64_t{0}, min(given_.n - first, std::int64_t{most})));
  }
  __device__ int bulk_items(int count) const {
    constexpr int kVector = cuda::kBulkBytes / sizeof(In);
    return given_.in_bulk ? count / kVector * kVector : 0;
  }
  __device__ In* items(int slot) const { return reinterpret_cast<In*>(tiles_ + slot * shape_.tile_bytes()); }

  const Arguments<Op>& given_;
  const Shape shape_;
  unsigned char* const tiles_;
  unsigned char* const heads_;
  unsigned char* const keys_;
  Stage<Op>* const stages_;
};

}  // namespace scanlab::scan
#endif
