// The form in which axis_columns scans a tensor over several GPUs: bands of tiles are dealt out to them, and each tells
// all of the folds of its tiles.
#pragma once

#include "variants/distributed/peer_states.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {

/// Two neighbours, the first a multiple of 16 bytes. Each is written whole.
__device__ inline void store_to_peer(ShortWord* address, const ShortWord& first, const ShortWord& second) {
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(address)),
               "l"(scanlab::bit_cast<std::uint64_t>(first)), "l"(scanlab::bit_cast<std::uint64_t>(second)));
}

/// For scan_axis::ColumnArguments. A copy of the states has a word for each tile, which says that the folds are on
/// their way, and behind them the folds of each unit of each tile.
struct PeerColumns {
  static constexpr bool kTells = true;
  static constexpr bool kStarts = false;
  int chunk = 1;           ///< bands that are dealt out together
  int ranks = 1;           ///< of the distribution
  std::int64_t tiles = 0;  ///< of all ranks, made even
  Peers peers;

  /// Words of a copy; state_words: of a unit.
  static std::int64_t even(std::int64_t tiles) { return tiles + tiles % 2; }
  static std::int64_t words(std::int64_t tiles, int width, int state_words) {
    return even(tiles) + tiles * width * state_words;
  }

  /// The place in the whole tensor of this GPU's own band.
  __device__ std::int64_t band(std::int64_t own) const {
    return (own / chunk * ranks + peers.rank) * chunk + own % chunk;
  }
  /// A warp calls this once, before it tells of a tile. announces: for this GPU.
  __device__ void begin(std::uint32_t run, bool announces) const {
    if (announces) peers.announce(run);
    peers.wait_until_free(run);
  }
  /// place: of the unit among those of all tiles.
  template <class State>
  __device__ void store_folds(std::int64_t place, const State& state) const {
    static_assert(State::kWords % 2 == 0, "words go in pairs");
    for (int peer = 0; peer < peers.ranks; ++peer) {
      ShortWord* const to = peers.states(peer, state.words[0].tag) + tiles + place * State::kWords;
#pragma unroll
      for (int i = 0; i < State::kWords; i += 2) store_to_peer(to + i, state.words[i], state.words[i + 1]);
    }
  }
  template <class State>
  __device__ State state(std::int64_t place, std::uint32_t run) const {
    const ShortWord* const from = peers.states(peers.rank, run) + tiles + place * State::kWords;
    State state;
#pragma unroll
    for (int i = 0; i < State::kWords; i += 2) load_from_peers(from + i, state.words[i], state.words[i + 1]);
    return state;
  }
  /// One thread calls this, once the tile's folds are on their way.
  __device__ void set_flag(std::int64_t tile, std::uint32_t run) const {
    for (int peer = 0; peer < peers.ranks; ++peer) store_to_peer(peers.states(peer, run) + tile, ShortWord{run, 0});
  }
  __device__ bool flag_is_set(std::int64_t tile, std::uint32_t run) const {
    return load_from_peers(peers.states(peers.rank, run) + tile).tag == run;
  }
};

}  // namespace scanlab::distributed
#endif
