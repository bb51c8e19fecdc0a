// peer_look_ahead: several GPUs scan one array in one pass, each by the kernel of look_ahead. This is the kernel;
// peer_look_ahead.cu launches it.
//
// Idea    The array is dealt out in chunks of a few tiles, so that all GPUs work on neighbouring parts of it at any
//         time. One warp of each block only tells the other GPUs: it stores aggregates in every GPU's copy of the
//         states. The look-ahead warp could do so only after the previous tile of its block, which would chain the
//         rounds together. The host chooses one of two ways to tell, by the number of GPUs and the sizes of items and
//         array:
//         - by tile: each aggregate is told as soon as it is known. A look-ahead warp folds the tiles of all GPUs, and
//           requests two groups of them at once.
//         - by chunk: the block with the last tile of a chunk folds the tiles of the chunk, and tells the result.
//           The prefix of a tile is then the prefix of its chunk, combined with its prefix within the chunk, which
//           needs this GPU alone. The result arrives later, by one more trip through memory, but a look-ahead warp
//           folds only a few chunks for each further GPU.
// Work    As look_ahead, and one fold per chunk.
// Traffic 2 n over all GPUs; over the links, 8 bytes for 4 bytes of an item, per chunk or tile and per peer.
// Bits    Bitwise reproducible for one n, one number of GPUs and one way to tell.
// Safe    See peer_states.cuh; on each GPU as look_ahead. A warp that tells of a chunk waits only for its tiles.
// Source  Scanlab.
#pragma once

#include <type_traits>

#include "harness/core/monoid.hpp"
#include "variants/distributed/peer_states.cuh"
#include "variants/scan/look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {

/// The most tiles of a chunk: as many as a warp folds at once.
inline constexpr int kMaxChunkTiles = 4 * scan::kLanes;

/// The distribution of the array over the GPUs; the arguments of look_ahead have the rest.
struct PeerChunks {
  int chunk_tiles = 1;
  int ranks = 1;   ///< of the distribution
  int states = 1;  ///< per aggregate: all but the first are identities, as if there were more GPUs
  Peers peers;
};

/// The states of this GPU's tiles, one group per chunk; and the states that GPUs store for each other.
template <Monoid Op>
using OwnTiles = scan::TileGroups<Op, scan::DeviceStates<typename Op::Item>, kMaxChunkTiles / scan::kLanes>;
template <Monoid Op>
using ToldGroups = scan::TileGroups<Op, PeerStates<typename Op::Item>>;

/// Replaces scan::Aggregates in the kernel of look_ahead, for several GPUs. Tile numbers count this GPU's tiles.
/// kByTile: GPUs tell each other of tiles, otherwise of chunks.
template <Monoid Op, bool kByTile>
class PeerAggregates {
 public:
  using Item = typename Op::Item;
  using Tiles = OwnTiles<Op>;

  /// states: those of this GPU's chunks, if GPUs tell of chunks. tiles: the number of tiles of this GPU.
  __device__ PeerAggregates(typename Tiles::State::Word* states, std::int64_t tiles, const PeerChunks& chunks)
      : chunks_(chunks), tiles_(tiles), own_(states, Op{}), told_(nullptr, Op{}) {}

  /// One thread calls this.
  __device__ void publish(std::int64_t tile, const Item& aggregate, std::uint32_t run) {
    const Place place = place_of(tile);
    if constexpr (!kByTile) own_.publish(place.chunk, place.at, aggregate, run);
  }

  /// A whole warp calls this, for tiles in ascending order. Lane 0 gets the prefix of the tile in the whole array.
  __device__ Item before(std::int64_t tile, std::uint32_t run) {
    const Place place = place_of(tile);
    if (first_) told_ = Told(peers().states(peers().rank, run), Op{}, kLate);
    first_ = false;
    if constexpr (kByTile) {
      return told_.before(place.state, run);
    } else {
      // Request both before waiting for either; the states of other GPUs arrive last.
      auto in_chunk = own_.ask(place.chunk, place.at);
      auto states = told_.ask(place.state);
      const Item own = own_.fold(in_chunk, run);
      return Op{}(told_.before(place.state, states, run), own);
    }
  }

  /// A whole warp calls this, for every tile of the block. With the first tile of the array, announces to all GPUs that
  /// the run has begun: the publishing warp leaves this to it, and frees its stage sooner. Tells all GPUs of the tile;
  /// or, with the last tile of a chunk, waits for the other tiles of the chunk and tells of the chunk.
  __device__ void tell(std::int64_t tile, const Item& aggregate, std::uint32_t run) {
    const Place place = place_of(tile);
    if (tile == 0) peers().announce(run);  // the block's first, so before the warp waits
    if constexpr (kByTile) {
      wait_until_free(run);
      tell_all(place, aggregate, run);
    } else {
      if (place.at != chunks_.chunk_tiles - 1 && tile != tiles_ - 1) return;
      auto in_chunk = own_.ask(place.chunk, place.at + 1);
      wait_until_free(run);  // while the chunk's tiles are still on their way
      tell_all(place, block_.shuffle(own_.fold(in_chunk, run), 0), run);
    }
  }

 private:
  /// Reads two groups at a time where GPUs exchange tiles: a round of four GPUs has more tiles than that, and one group
  /// after another would take longer than the round. With items of more than 4 bytes, a tile's own group comes last,
  /// which was faster on two GPUs.
  using Told = scan::Aggregates<Op, PeerStates<Item>, scan::kTilesPerLane<Op, PeerStates<Item>>, kByTile ? 2 : 1>;
  static constexpr bool kLate = kByTile && sizeof(Item) > 4;
  static_assert(std::is_same_v<typename Told::Groups, ToldGroups<Op>>, "the host takes memory for those");

  /// The place of a tile: its chunk, its number within the chunk, and the number of its state in the whole array.
  struct Place {
    std::int64_t chunk;
    int at;
    std::int64_t state;
  };

  /// Waits, once per run, until the copies of the states that this run uses are free.
  __device__ void wait_until_free(std::uint32_t run) {
    if (first_) peers().wait_until_free(run);
    first_ = false;
  }
  __device__ void tell_all(const Place& place, const Item& whole, std::uint32_t run) {
    if (block_.lane() >= peers().ranks) return;
    Told copy(peers().states(block_.lane(), run), Op{});
    copy.publish(place.state, whole, run);
    for (int i = 1; i < chunks_.states; ++i) copy.publish(place.state + i, Op::identity(), run);
  }
  __device__ Place place_of(std::int64_t tile) const {
    const std::int64_t chunk = tile / chunks_.chunk_tiles;
    const int at = static_cast<int>(tile % chunks_.chunk_tiles);
    const std::int64_t number = chunk * chunks_.ranks + peers().rank;  // of the chunk, in the whole array
    return {chunk, at, (kByTile ? number * chunks_.chunk_tiles + at : number) * chunks_.states};
  }
  __device__ const Peers& peers() const { return chunks_.peers; }

  const PeerChunks& chunks_;
  std::int64_t tiles_;
  Tiles own_;
  Told told_;          ///< of this run, once its number is known
  bool first_ = true;  ///< until this warp reads or tells an aggregate of this run
  simt::GpuBlock block_;
};

struct PeerForm : scan::UsualForm {
  static constexpr int kTells = 1;
};

/// Both arguments of the launch, in the form that the kernel of look_ahead expects. They are launched as two: for one
/// class, the compilers of host and device would disagree on its layout (nvcc 13.0, [[no_unique_address]]).
template <Monoid Op, bool kByTile>
struct PeerArguments {
  using Form = PeerForm;
  const scan::Arguments<Op>& scan;
  const PeerChunks& chunks;

  __device__ const scan::Arguments<Op>& of_scan() const { return scan; }
  __device__ PeerAggregates<Op, kByTile> aggregates() const { return {scan.states, scan.tiles, chunks}; }
};

/// Watch: as in LookAheadBlock. kByTile: as in PeerAggregates.
template <Monoid Op, class Watch, bool kByTile>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMaxReduceWarps<Op>}.threads() + scan::kLanes, 1)
    peer_look_ahead(const __grid_constant__ scan::Arguments<Op> arguments, const __grid_constant__ PeerChunks chunks) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  using Both = PeerArguments<Op, kByTile>;
  const Both both{arguments, chunks};
  scan::LookAheadBlock<Op, Watch, Both>(both, shared).run();
#else
  __trap();  // rather than leave the output unwritten
#endif
}

}  // namespace scanlab::distributed
#endif
