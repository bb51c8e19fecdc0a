// peer_look_ahead: several GPUs scan one array in one pass, each by the kernel of look_ahead. The kernel;
// peer_look_ahead.cu launches it.
//
// Idea    The array is dealt out in chunks of a few tiles, so that all GPUs work on neighbouring parts of it at any
//         time. A tile's prefix is what comes before its chunk, and what comes before it in the chunk. The second is of
//         this GPU alone. A warp of the block that has a chunk's last tile folds the chunk's tiles, and stores the
//         result in every GPU's copy of the states of chunks; the first is the fold of those. It does nothing else: the
//         look-ahead warp would come to it only behind its block's tile before, one chain from round to round. So a
//         look-ahead warp folds a few chunks for each further GPU, not as many tiles as all of them have.
// Work    As look_ahead; a fold of each chunk.
// Traffic 2 n over all GPUs; 8 bytes for 4 bytes of an item, per chunk and peer, over the links.
// Bits    Fixed by n and the number of GPUs.
// Safe    See peer_states.cuh; on each GPU as look_ahead. Who tells of a chunk waits for tiles of it alone.
// Source  Scanlab.
#pragma once

#include "harness/core/monoid.hpp"
#include "variants/distributed/peer_states.cuh"
#include "variants/scan/look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {

/// Tiles of a chunk, at most: what a warp folds at once.
inline constexpr int kMaxChunkTiles = 4 * scan::kLanes;

/// What look_ahead's kernel asks of tiles' aggregates (scan::Aggregates), over several GPUs. Tiles are of this GPU.
template <Monoid Op>
class PeerAggregates {
 public:
  using Item = typename Op::Item;
  using Tiles = scan::TileGroups<Op, scan::DeviceStates<Item>, kMaxChunkTiles / scan::kLanes>;
  using Chunks = scan::Aggregates<Op, PeerStates<Item>>;

  /// states: a group of Tiles per chunk of this GPU. tiles: of this GPU. ranks: of the distribution.
  __device__ PeerAggregates(typename Tiles::State::Word* states, std::int64_t tiles, int chunk_tiles, int ranks,
                            const Peers& peers)
      : peers_(peers),
        tiles_(tiles),
        chunk_tiles_(chunk_tiles),
        ranks_(ranks),
        own_(states, Op{}),
        chunks_(nullptr, Op{}) {}

  /// By one thread.
  __device__ void publish(std::int64_t tile, const Item& aggregate, std::uint32_t run) {
    own_.publish(tile / chunk_tiles_, static_cast<int>(tile % chunk_tiles_), aggregate, run);
  }

  /// By a whole warp, for tiles in ascending order. Lane 0 has what comes before the tile in the whole array.
  __device__ Item before(std::int64_t tile, std::uint32_t run) {
    const std::int64_t chunk = tile / chunk_tiles_;
    const int at = static_cast<int>(tile % chunk_tiles_);
    const std::int64_t number = chunk * ranks_ + peers_.rank;  // in the whole array
    auto asked = own_.ask(chunk, at);
    if (first_) chunks_ = Chunks(peers_.states(peers_.rank, run), Op{});
    first_ = false;
    const Item before_chunk = chunks_.before(number, run);
    return Op{}(before_chunk, own_.fold(asked, run));
  }

  /// By a whole warp, for every tile of the block. With the first tile of all, tells all GPUs that the run has begun:
  /// this warp and not the one that publishes, whose stage is then free sooner. With a chunk's last, waits for the
  /// others of the chunk, and tells all GPUs the chunk's aggregate.
  __device__ void tell(std::int64_t tile, std::uint32_t run) {
    const std::int64_t chunk = tile / chunk_tiles_;
    const int at = static_cast<int>(tile % chunk_tiles_);
    if (tile == 0) peers_.announce(run);  // the block's first, so before the warp waits
    if (at != chunk_tiles_ - 1 && tile != tiles_ - 1) return;
    auto asked = own_.ask(chunk, at + 1);
    if (first_) peers_.wait_until_free(run);  // while the chunk's tiles are still on their way
    first_ = false;
    const Item whole = block_.shuffle(own_.fold(asked, run), 0);
    if (block_.lane() >= peers_.ranks) return;
    Chunks(peers_.states(block_.lane(), run), Op{}).publish(chunk * ranks_ + peers_.rank, whole, run);
  }

 private:
  const Peers& peers_;
  std::int64_t tiles_;
  int chunk_tiles_;
  int ranks_;
  Tiles own_;
  Chunks chunks_;      ///< of this run, once its number is known
  bool first_ = true;  ///< nothing of this run was asked for, or told, by this warp
  simt::GpuBlock block_;
};

/// How the array is dealt out, beside the arguments of look_ahead.
struct PeerChunks {
  int chunk_tiles = 1;
  int ranks = 1;  ///< of the distribution
  Peers peers;
};

/// Both, as the kernel of look_ahead asks for them. Two arguments of the launch: the compilers of the host and of the
/// device differ over where the members of one class that had both would lie (nvcc 13.0, [[no_unique_address]]).
template <Monoid Op>
struct PeerArguments {
  static constexpr int kTells = 1;
  static constexpr bool kDraws = true;
  const scan::Arguments<Op>& scan;
  const PeerChunks& chunks;

  __device__ const scan::Arguments<Op>& of_scan() const { return scan; }
  __device__ PeerAggregates<Op> aggregates() const {
    return {scan.states, scan.tiles, chunks.chunk_tiles, chunks.ranks, chunks.peers};
  }
};

/// Watch: as LookAheadBlock has it.
template <Monoid Op, class Watch>
__global__ void __launch_bounds__(scan::Shape{.warps = scan::kMostReduceWarps<Op>}.threads() + scan::kLanes, 1)
    peer_look_ahead(const __grid_constant__ scan::Arguments<Op> arguments, const __grid_constant__ PeerChunks chunks) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char shared[];
  const PeerArguments<Op> both{arguments, chunks};
  scan::LookAheadBlock<Op, Watch, PeerArguments<Op>>(both, shared).run();
#else
  __trap();  // rather than results that nobody wrote
#endif
}

}  // namespace scanlab::distributed
#endif
