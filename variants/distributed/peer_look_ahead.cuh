// peer_look_ahead: several GPUs scan one array in one pass, each by the kernel of look_ahead. The kernel;
// peer_look_ahead.cu launches it.
//
// Idea    The array is dealt out in chunks of a few tiles, so that all GPUs work on neighbouring parts of it at any
//         time. A warp of each block tells the other GPUs: it stores aggregates in every GPU's copy of the states. It
//         does nothing else: the look-ahead warp would come to it only behind its block's tile before, one chain from
//         round to round. There are two ways to tell, which the host chooses by the number of GPUs and
//         the sizes of items and array:
//         - of tiles: each aggregate as soon as it is there. A look-ahead warp folds as many tiles as all GPUs have,
//           and asks for two groups of them at once.
//         - of chunks: a warp of the block that has a chunk's last tile folds the chunk's tiles, and tells the result.
//           The prefix of a tile is then the prefix of its chunk, and its prefix within the chunk, which is
//           of this GPU alone. The result comes a way through memory later, but a look-ahead warp folds only a few
//           chunks for each further GPU.
// Work    As look_ahead; a fold of each chunk.
// Traffic 2 n over all GPUs; 8 bytes for 4 bytes of an item, per chunk or tile and peer, over the links.
// Bits    Fixed by n, the number of GPUs, and what they tell.
// Safe    See peer_states.cuh; on each GPU as look_ahead. Who tells of a chunk waits for tiles of it alone.
// Source  Scanlab.
#pragma once

#include <type_traits>

#include "harness/core/monoid.hpp"
#include "variants/distributed/peer_states.cuh"
#include "variants/scan/look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {

/// Tiles of a chunk, at most: what a warp folds at once.
inline constexpr int kMaxChunkTiles = 4 * scan::kLanes;

/// How the array is dealt out, beside the arguments of look_ahead.
struct PeerChunks {
  int chunk_tiles = 1;
  int ranks = 1;   ///< of the distribution
  int states = 1;  ///< per aggregate: all but the first are identities, as if there were more GPUs
  Peers peers;
};

/// States of the tiles of this GPU, a group per chunk; and those that GPUs tell each other.
template <Monoid Op>
using OwnTiles = scan::TileGroups<Op, scan::DeviceStates<typename Op::Item>, kMaxChunkTiles / scan::kLanes>;
template <Monoid Op>
using ToldGroups = scan::TileGroups<Op, PeerStates<typename Op::Item>>;

/// The tiles' aggregates that look_ahead's kernel needs (scan::Aggregates), over several GPUs. Tiles are of this GPU.
/// kByTile: they tell of tiles, else of chunks.
template <Monoid Op, bool kByTile>
class PeerAggregates {
 public:
  using Item = typename Op::Item;
  using Tiles = OwnTiles<Op>;

  /// states: of this GPU's chunks, where they tell of chunks. tiles: of this GPU.
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
      // Both are asked for before either is waited for; those of other GPUs come last.
      auto in_chunk = own_.ask(place.chunk, place.at);
      auto states = told_.ask(place.state);
      const Item own = own_.fold(in_chunk, run);
      return Op{}(told_.before(place.state, states, run), own);
    }
  }

  /// A whole warp calls this, for every tile of the block. With the first tile of all, tells all GPUs that the run has
  /// begun: this warp and not the one that publishes, whose stage is then free sooner. Tells all GPUs of the tile; or
  /// with a chunk's last waits for the others of the chunk, and tells of the chunk.
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
  /// Told by tile, two groups at a time: a round of four GPUs has more tiles than that, and one group after another
  /// would take longer than the round. Where items have more than 4 bytes, a tile's own group comes after the others:
  /// on two GPUs that was faster.
  using Told = scan::Aggregates<Op, PeerStates<Item>, scan::kTilesPerLane<Op, PeerStates<Item>>, kByTile ? 2 : 1>;
  static constexpr bool kLate = kByTile && sizeof(Item) > 4;
  static_assert(std::is_same_v<typename Told::Groups, ToldGroups<Op>>, "the host takes memory for those");

  /// The place of a tile: its chunk, and its number within the chunk; the number, in the whole array, of its state.
  struct Place {
    std::int64_t chunk;
    int at;
    std::int64_t state;
  };

  /// Copies of this run, once.
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
  bool first_ = true;  ///< nothing of this run was asked for, or told, by this warp
  simt::GpuBlock block_;
};

struct PeerForm : scan::UsualForm {
  static constexpr int kTells = 1;
};

/// Both, as the kernel of look_ahead asks for them. Two arguments of the launch: the compilers of the host and of the
/// device differ over where the members of one class that had both would lie (nvcc 13.0, [[no_unique_address]]).
template <Monoid Op, bool kByTile>
struct PeerArguments {
  using Form = PeerForm;
  const scan::Arguments<Op>& scan;
  const PeerChunks& chunks;

  __device__ const scan::Arguments<Op>& of_scan() const { return scan; }
  __device__ PeerAggregates<Op, kByTile> aggregates() const { return {scan.states, scan.tiles, chunks}; }
};

/// Watch: as LookAheadBlock has it. kByTile: as PeerAggregates has it.
template <Monoid Op, class Watch, bool kByTile>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMaxReduceWarps<Op>}.threads() + scan::kLanes, 1)
    peer_look_ahead(const __grid_constant__ scan::Arguments<Op> arguments, const __grid_constant__ PeerChunks chunks) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  using Both = PeerArguments<Op, kByTile>;
  const Both both{arguments, chunks};
  scan::LookAheadBlock<Op, Watch, Both>(both, shared).run();
#else
  __trap();  // rather than results that nobody wrote
#endif
}

}  // namespace scanlab::distributed
#endif
