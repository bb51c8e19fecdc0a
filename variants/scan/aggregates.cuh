// Aggregates of tiles, told from block to block: published one by one, and gathered by a warp that adds up all those
// before its own tile. No tile waits for another's prefix, as in look-back, but only for aggregates, which need nothing
// but the data; so there is no chain from tile to tile. What one_wave and look_ahead have in common.
#pragma once

#include "variants/scan/register_tile.cuh"
#include "variants/scan/tile_state.cuh"
#if defined(__CUDACC__)
#include "harness/simt/gpu_block.cuh"
#include "harness/simt/workspace.hpp"

namespace scanlab::scan {

/// The workspace of a run. Runs on one workspace are told apart by number; it lives in device memory, and a run
/// advances it: so that a captured run can be replayed.
class AggregateMemory {
 public:
  /// As much as `tiles` of any type take.
  AggregateMemory(simt::Workspace& workspace, std::int64_t tiles)
      : places_(ceil_div(tiles, kMostInAGroup) * kMostInAGroup),
        number_(workspace.take<std::uint64_t>(1)),
        words_(workspace.take<LongWord>(2 * places_)) {}

  /// Of the run before, as one_wave has it; or a counter of Tickets, as look_ahead has it.
  template <class Number>
  Number* number() const {
    return reinterpret_cast<Number*>(number_);
  }
  template <class Item>
  typename TileState<Item>::Word* states() const {
    return reinterpret_cast<typename TileState<Item>::Word*>(words_);
  }

  /// States that there is room for.
  std::int64_t places() const { return places_; }

  template <class Item, class Number>
  void prepare(cudaStream_t stream, Number first) const {
    using State = TileState<Item>;
    simt::CudaMachine machine(stream);
    prepare_tiles<typename State::Word>(machine, number<Number>(), first, states<Item>(), places_ * State::kWords);
  }

  static constexpr int kMostInAGroup = 256;

 private:
  std::int64_t places_;
  std::uint64_t* number_;
  LongWord* words_;
};

/// The aggregates as a warp sees them.
template <Associative Op>
class Aggregates {
 public:
  using Item = typename Op::Item;
  using State = TileState<Item>;

  /// states: of AggregateMemory.
  __device__ Aggregates(typename State::Word* states, Op op) : states_(states), carry_(before_all(op)), op_(op) {}

  /// By one thread. `run` is the number of this run.
  __device__ void publish(std::int64_t tile, const Item& aggregate, std::uint32_t run) {
    store_state<Item>(block_, states_, place_of(tile), aggregate, run);
  }

  /// By a whole warp, for tiles in ascending order: waits for the aggregates of the tiles before `tile` that have not
  /// been asked for before, and folds them, from left to right and grouped by their numbers alone. Lane 0 has the
  /// result.
  __device__ Before<Op> before(std::int64_t tile, std::uint32_t run) {
    // The tile's own group, and as a rule one before it: both are asked for before either is waited for.
    Asked own = ask(tile / kGroup, static_cast<int>(tile % kGroup));
    for (; group_ < tile / kGroup; ++group_) {
      Asked all = ask(group_, kGroup);
      carry_ = op_(carry_, fold(all, run));
    }
    return op_(carry_, fold(own, run));
  }

 private:
  /// Tiles that are folded as one, in one way, whoever does it: a few a lane, and fewer where each costs much.
  static constexpr int kALane = (Op::kHeavy ? 32 : 64) / sizeof(State);
  static constexpr int kGroup = kLanes * kALane;
  static_assert(kGroup <= AggregateMemory::kMostInAGroup);

  /// Where the state of a tile is: such that lanes, which look after neighbouring tiles, read neighbouring states.
  __device__ static std::int64_t place_of(std::int64_t tile) {
    return tile / kGroup * kGroup + tile % kALane * kLanes + tile % kGroup / kALane;
  }

  /// What a lane has last seen of its tiles of a group.
  struct Asked {
    std::int64_t place;  ///< of the first
    int tiles;           ///< that count
    State state[kALane];
  };

  /// Asks for the first `tiles` tiles of a group.
  __device__ Asked ask(std::int64_t group, int tiles) {
    Asked asked;
    asked.place = place_of(group * kGroup + block_.lane() * kALane);
    asked.tiles = max(0, min(tiles - block_.lane() * kALane, kALane));
    load(asked, (1u << asked.tiles) - 1);
    return asked;
  }

  __device__ void load(Asked& asked, unsigned which) {
#pragma unroll
    for (int i = 0; i < kALane; ++i) {
      if (which >> i & 1) asked.state[i] = load_state<Item>(block_, states_, asked.place + i * kLanes);
    }
  }

  /// Waits for the tiles that were asked for, and folds their aggregates. Lane 0 has the result.
  __device__ Before<Op> fold(Asked& asked, std::uint32_t run) {
    unsigned missing = (1u << asked.tiles) - 1;
    while (true) {
#pragma unroll
      for (int i = 0; i < kALane; ++i) {
        if ((missing >> i & 1) && asked.state[i].is(run)) missing ^= 1u << i;
      }
      if (missing == 0) break;
      load(asked, missing);
    }
    __syncwarp();  // lanes wait for tiles of their own
    if constexpr (HasIdentity<Op>) {
      Item total = Op::identity();
#pragma unroll
      for (int i = 0; i < kALane; ++i) {
        if (i < asked.tiles) total = op_(total, asked.state[i].item());
      }
      return fold_warp(block_, total, op_);
    } else {
      Item total{};
      if (asked.tiles > 0) total = asked.state[0].item();
#pragma unroll
      for (int i = 1; i < kALane; ++i) {
        if (i < asked.tiles) total = op_(total, asked.state[i].item());
      }
      return fold_lanes(block_, total, __popc(__ballot_sync(0xFFFFFFFF, asked.tiles > 0)), op_);
    }
  }

  typename State::Word* states_;
  std::int64_t group_ = 0;  // the first that has not been folded whole
  Before<Op> carry_;        // of those before
  simt::GpuBlock block_;
  Op op_;
};

}  // namespace scanlab::scan
#endif
