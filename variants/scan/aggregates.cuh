// Aggregates of tiles, told from block to block: published one by one, and gathered by a warp that adds up all those
// before its own tile. No tile waits for another's prefix, as in look-back, but only for aggregates, which need nothing
// but the data; so there is no chain from tile to tile. one_wave and look_ahead share this file.
#pragma once

#include "variants/scan/register_tile.cuh"
#include "variants/scan/tile_state.cuh"
#if defined(__CUDACC__)
#include "harness/simt/gpu_block.cuh"
#include "harness/simt/workspace.hpp"

namespace scanlab::scan {

/// The workspace of a run. Runs on one workspace are told apart by number. That of a variant lives in device memory,
/// and a run advances it, so that a captured run can be replayed; the header gives one_wave its number as an argument.
class AggregateMemory {
 public:
  /// As much as `tiles` of any type take.
  AggregateMemory(simt::Workspace& workspace, std::int64_t tiles)
      : places_(ceil_div(tiles, kMaxPerGroup) * kMaxPerGroup),
        number_(workspace.take<std::uint64_t>(1)),
        words_(workspace.take<LongWord>(2 * places_)) {}

  /// The number of the run before, as one_wave has it; or a counter of TileCounter, as look_ahead has it.
  template <class Number>
  Number* number() const {
    return reinterpret_cast<Number*>(number_);
  }
  template <class Item>
  typename TileState<Item>::Word* states() const {
    return reinterpret_cast<typename TileState<Item>::Word*>(words_);
  }

  /// States of any type.
  LongWord* words() const { return words_; }

  /// States that there is room for.
  std::int64_t places() const { return places_; }

  template <class Item, class Number>
  void prepare(cudaStream_t stream, Number first) const {
    using State = TileState<Item>;
    simt::CudaMachine machine(stream);
    prepare_tiles<typename State::Word>(machine, number<Number>(), first, states<Item>(), places_ * State::kWords);
  }

  static constexpr int kMaxPerGroup = 256;

 private:
  std::int64_t places_;
  std::uint64_t* number_;
  LongWord* words_;
};

/// States that the blocks of one device share.
template <class ItemType>
struct DeviceStates {
  using Item = ItemType;
  using State = TileState<Item>;
  __device__ static State load(simt::GpuBlock& block, typename State::Word* states, std::int64_t place) {
    return load_state<Item>(block, states, place);
  }
  __device__ static void store(simt::GpuBlock& block, typename State::Word* states, std::int64_t place,
                               const Item& item, std::uint32_t tag) {
    store_state<Item>(block, states, place, item, tag);
  }
};

/// Tiles that are folded as one, in one way, whoever does it: a few a lane, and fewer where each costs much.
template <Associative Op, class States>
inline constexpr int kTilesPerLane = (Op::kHeavy ? 32 : 64) / static_cast<int>(sizeof(typename States::State));

/// States of tiles in groups, as a warp folds them: each lane looks after kPerLane neighbouring tiles of a group.
template <Associative Op, class States = DeviceStates<typename Op::Item>, int kPerLane = kTilesPerLane<Op, States>>
class TileGroups {
 public:
  using Item = typename Op::Item;
  using State = typename States::State;
  static constexpr int kGroup = kLanes * kPerLane;

  __device__ TileGroups(typename State::Word* states, Op op) : states_(states), op_(op) {}

  /// Where the state of a tile of a group is: such that lanes, which look after neighbouring tiles, read neighbouring
  /// states.
  __device__ static std::int64_t place_of(std::int64_t group, int tile) {
    return group * kGroup + tile % kPerLane * kLanes + tile / kPerLane;
  }

  /// One thread calls this. `run` is the number of this run.
  __device__ void publish(std::int64_t group, int tile, const Item& aggregate, std::uint32_t run) {
    States::store(block_, states_, place_of(group, tile), aggregate, run);
  }

  /// The states that a lane has last read of its tiles of a group.
  struct Asked {
    std::int64_t place;  ///< of the first
    int tiles;           ///< that count
    State state[kPerLane];
  };

  /// Asks for the first `tiles` tiles of a group.
  __device__ Asked ask(std::int64_t group, int tiles) {
    Asked asked;
    asked.place = place_of(group, block_.lane() * kPerLane);
    asked.tiles = max(0, min(tiles - block_.lane() * kPerLane, kPerLane));
    load(asked, (1u << asked.tiles) - 1);
    return asked;
  }

  /// Waits for the tiles that were asked for, and folds their aggregates. Lane 0 has the result.
  __device__ Before<Op> fold(Asked& asked, std::uint32_t run) {
    unsigned missing = (1u << asked.tiles) - 1;
    while (true) {
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) {
        if ((missing >> i & 1) && asked.state[i].is(run)) missing ^= 1u << i;
      }
      if (missing == 0) break;
      load(asked, missing);
    }
    __syncwarp();  // lanes wait for tiles of their own
    if constexpr (HasIdentity<Op>) {
      Item total = Op::identity();
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) {
        if (i < asked.tiles) total = op_(total, asked.state[i].item());
      }
      return fold_warp(block_, total, op_);
    } else {
      Item total{};
      if (asked.tiles > 0) total = asked.state[0].item();
#pragma unroll
      for (int i = 1; i < kPerLane; ++i) {
        if (i < asked.tiles) total = op_(total, asked.state[i].item());
      }
      const auto folded = fold_lanes(block_, total, __popc(__ballot_sync(0xFFFFFFFF, asked.tiles > 0)), op_);
      return {folded.item, asked.tiles > 0};  // other lanes hold no item, which an operator need not take
    }
  }

 private:
  __device__ void load(Asked& asked, unsigned which) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (which >> i & 1) asked.state[i] = States::load(block_, states_, asked.place + i * kLanes);
    }
  }

  typename State::Word* states_;
  simt::GpuBlock block_;
  Op op_;
};

/// The aggregates as a warp sees them. kInFlight: whole groups that it asks for before it waits for the first of them.
template <Associative Op, class States = DeviceStates<typename Op::Item>, int kPerLane = kTilesPerLane<Op, States>,
          int kInFlight = 1>
class Aggregates {
 public:
  using Item = typename Op::Item;
  using Groups = TileGroups<Op, States, kPerLane>;

  /// states: of AggregateMemory. late: a tile's own group is asked for after the fold of the groups before it. The
  /// order takes longer, so fewer states are missing and read again: all blocks read the same states at the same time,
  /// which holds up their loads and stores.
  __device__ Aggregates(typename Groups::State::Word* states, Op op, bool late = false)
      : groups_(states, op), late_(late), carry_(before_all(op)), op_(op) {}

  /// One thread calls this. `run` is the number of this run.
  __device__ void publish(std::int64_t tile, const Item& aggregate, std::uint32_t run) {
    groups_.publish(tile / kGroup, static_cast<int>(tile % kGroup), aggregate, run);
  }

  /// A whole warp calls this: asks for the aggregates of the tile's own group.
  __device__ typename Groups::Asked ask(std::int64_t tile) {
    return groups_.ask(tile / kGroup, static_cast<int>(tile % kGroup));
  }

  /// A whole warp calls this, for tiles in ascending order: waits for the aggregates of the tiles before `tile` that
  /// have not been asked for before, and folds them, from left to right and grouped by their numbers alone. Lane 0 gets
  /// the result. own: what ask(tile) gave. As a rule one more group comes before it, and both are asked for before
  /// either is waited for.
  __device__ Before<Op> before(std::int64_t tile, typename Groups::Asked& own, std::uint32_t run) {
    fold_groups_before(tile, run);
    return op_(carry_, groups_.fold(own, run));
  }
  /// The same, and asks for the tile's own group.
  __device__ Before<Op> before(std::int64_t tile, std::uint32_t run) {
    if (late_) fold_groups_before(tile, run);
    auto own = ask(tile);
    return before(tile, own, run);
  }

 private:
  static constexpr int kGroup = Groups::kGroup;
  static_assert(kGroup <= AggregateMemory::kMaxPerGroup);

  __device__ void fold_groups_before(std::int64_t tile, std::uint32_t run) {
    if constexpr (kInFlight > 1) {
      for (; group_ + kInFlight <= tile / kGroup; group_ += kInFlight) fold_groups<kInFlight>(run);
    }
    for (; group_ < tile / kGroup; ++group_) fold_groups<1>(run);
  }

  /// The next kGroups: asks for all before it waits for the first.
  template <int kGroups>
  __device__ void fold_groups(std::uint32_t run) {
    typename Groups::Asked asked[kGroups];
#pragma unroll
    for (int i = 0; i < kGroups; ++i) asked[i] = groups_.ask(group_ + i, kGroup);
#pragma unroll
    for (int i = 0; i < kGroups; ++i) carry_ = op_(carry_, groups_.fold(asked[i], run));
  }

  Groups groups_;
  bool late_;
  std::int64_t group_ = 0;  // the first that has not been folded whole
  Before<Op> carry_;        // of those before
  Op op_;
};

}  // namespace scanlab::scan
#endif
