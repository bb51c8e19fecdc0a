// What a GPU tells others of its part of an array, through memory that all of them see: states of chunks, which each
// GPU keeps a copy of and its peers write, so that everyone waits on memory of its own.
//
// Runs    Each GPU numbers its runs, in step with the others. Copies are twofold and used by turns. A GPU that is ahead
//         may write the copy of a run only when nobody reads that of two runs before any more: when every peer has
//         begun the run before, and so ended the one before that. Every GPU tells its peers which run it begins. So no
//         GPU is ever more than one run ahead of what another still reads, and nothing is reset.
// Safe    A GPU waits only for peers' words of this run, and for their beginning of the last. Both come if every rank
//         enqueues as many runs and its device gets to them: a run waits for no later one.
#pragma once

#include "harness/distributed/peer_memory.hpp"
#include "variants/scan/aggregates.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {

using scan::ShortWord;

// Words that another GPU writes: of 8 bytes at most, which every link carries whole.

__device__ inline std::uint32_t load_from_peers(const std::uint32_t* address) {
  std::uint32_t word;
  asm volatile("ld.acquire.sys.global.b32 %0, [%1];" : "=r"(word) : "l"(__cvta_generic_to_global(address)) : "memory");
  return word;
}
__device__ inline void store_to_peer(std::uint32_t* address, std::uint32_t word) {
  asm volatile("st.release.sys.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)), "r"(word) : "memory");
}
__device__ inline ShortWord load_from_peers(const ShortWord* address) {
  std::uint64_t word;
  asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_global(address)));
  return scanlab::bit_cast<ShortWord>(word);
}
__device__ inline void store_to_peer(ShortWord* address, const ShortWord& word) {
  asm volatile("st.relaxed.sys.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "l"(scanlab::bit_cast<std::uint64_t>(word)));
}

/// States that peers write, for scan::TileGroups.
template <class ItemType>
struct PeerStates {
  using Item = ItemType;
  using State = scan::TileState<Item, ShortWord>;
  __device__ static State load(simt::GpuBlock&, const ShortWord* states, std::int64_t place) {
    State state;
    for (int i = 0; i < State::kWords; ++i) state.words[i] = load_from_peers(states + place * State::kWords + i);
    return state;
  }
  __device__ static void store(simt::GpuBlock&, ShortWord* states, std::int64_t place, const Item& item,
                               std::uint32_t run) {
    const auto state = State::of(item, run);
    for (int i = 0; i < State::kWords; ++i) store_to_peer(states + place * State::kWords + i, state.words[i]);
  }
};

/// The memory of all ranks that a kernel sees, as arguments of its launch.
struct Peers {
  int rank = 0;
  int ranks = 1;              ///< that run
  std::int64_t words = 0;     ///< of one copy
  void* memory[kMaxPeers]{};  ///< of each rank: a word per rank, and both copies behind them

  static std::size_t bytes(std::int64_t words) { return kHead + 2 * words * sizeof(ShortWord); }

  /// Of `to`: the run that `from` has last begun.
  SCANLAB_HD std::uint32_t* begun(int to, int from) const { return static_cast<std::uint32_t*>(memory[to]) + from; }
  /// Of `to`: the copy that a run uses.
  SCANLAB_HD ShortWord* states(int to, std::uint32_t run) const {
    return reinterpret_cast<ShortWord*>(static_cast<unsigned char*>(memory[to]) + kHead) + run % 2 * words;
  }

  /// By one thread, in a run: every peer may write the copies of the next.
  __device__ void announce(std::uint32_t run) const {
    for (int to = 0; to < ranks; ++to) store_to_peer(begun(to, rank), run);
  }
  /// By a warp, before it writes a copy of this run.
  __device__ void wait_until_free(std::uint32_t run) const {
    const int lane = threadIdx.x % scan::kLanes;
    if (lane < ranks) {
      while (static_cast<std::int32_t>(load_from_peers(begun(rank, lane)) - (run - 1)) < 0) {
      }
    }
    __syncwarp();
  }

 private:
  static constexpr std::size_t kHead = 256;  // bytes before the copies
  static_assert(kMaxPeers * sizeof(std::uint32_t) <= kHead);
};

/// `words` words per copy, on each of the ranks' devices; of the first `running` ranks.
class PeerStateMemory {
 public:
  PeerStateMemory(std::int64_t words, int running, int rank) : memory_(Peers::bytes(words)) {
    peers_.rank = rank;
    peers_.ranks = running;
    peers_.words = words;
    // Nobody has begun the first run, whose number is the next.
    const std::vector<std::uint32_t> none(kMaxPeers, scan::Tickets::kFirstRun - 1);
    cuda::check(cudaMemcpy(memory_.own(), none.data(), none.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
                "preparing peer memory");
    cuda::check(cudaDeviceSynchronize(), "preparing peer memory");  // a copy from pageable memory may return before
  }
  /// Collective: no run begins before the memory of all ranks is prepared.
  void connect(Communicator& communicator) {
    memory_.connect(communicator);
    for (int rank = 0; rank < memory_.ranks(); ++rank) peers_.memory[rank] = memory_.of(rank);
  }
  /// Once they are connected.
  const Peers& peers() const { return peers_; }

 private:
  PeerMemory memory_;
  Peers peers_;
};

}  // namespace scanlab::distributed
#endif
