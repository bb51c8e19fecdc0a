// The states of chunks or tiles that GPUs tell each other, through memory that all of them see: each GPU keeps a copy,
// which its peers write, so that everyone waits on memory of its own.
//
// Runs    Copies are twofold and used by turns: peer_turns.hpp says why no run disturbs another. Its
//         condition holds: every thread of a kernel has waited for the kernel before in its stream, whose reads are all
//         behind it. So any lane may tell a GPU of the run, and a warp does it with a lane for each, at once.
// Safe    A GPU waits only for peers' words of this run, and for their beginning of the last. Both come if every rank
//         enqueues as many runs and its device gets to them: a run waits for no later one. The beginning of a run is
//         told before any wait of the same warp, by a block that is on the device.
#pragma once

#include "harness/distributed/peer_memory.hpp"
#include "variants/distributed/peer_turns.hpp"
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
/// Two neighbours by one access, of which each is whole. The first is a multiple of 16 bytes.
__device__ inline void load_from_peers(const ShortWord* address, ShortWord& first, ShortWord& second) {
  std::uint64_t words[2];
  asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
               : "=l"(words[0]), "=l"(words[1])
               : "l"(__cvta_generic_to_global(address)));
  first = scanlab::bit_cast<ShortWord>(words[0]);
  second = scanlab::bit_cast<ShortWord>(words[1]);
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
    constexpr int kWords = State::kWords;
    State state;
    states += place * kWords;
    if constexpr (kWords % 2 == 0) {
      for (int i = 0; i < kWords; i += 2) load_from_peers(states + i, state.words[i], state.words[i + 1]);
    } else {
      for (int i = 0; i < kWords; ++i) state.words[i] = load_from_peers(states + i);
    }
    return state;
  }
  __device__ static void store(simt::GpuBlock&, ShortWord* states, std::int64_t place, const Item& item,
                               std::uint32_t run) {
    const auto state = State::tagged(item, run);
    for (int i = 0; i < State::kWords; ++i) store_to_peer(states + place * State::kWords + i, state.words[i]);
  }
};

/// For PeerTurns.
struct PeerWords {
  using Word = std::uint32_t;
  SCANLAB_HD static void release([[maybe_unused]] Word* word, [[maybe_unused]] Word value) {
#if defined(__CUDA_ARCH__)
    store_to_peer(word, value);
#endif
  }
  SCANLAB_HD static Word acquire([[maybe_unused]] Word* word) {
#if defined(__CUDA_ARCH__)
    return load_from_peers(word);
#else
    return 0;  // the host does not ask
#endif
  }
};

/// The memory of all ranks that a kernel sees, as arguments of its launch.
struct Peers {
  int rank = 0;
  int ranks = 1;              ///< that run
  std::int64_t words = 0;     ///< of one copy
  void* memory[kMaxPeers]{};  ///< of each rank: a word per rank, and both copies behind them

  using Turns = PeerTurns<PeerWords>;

  static std::size_t bytes(std::int64_t words) { return kHead + Turns::kCopies * words * sizeof(ShortWord); }

  /// The word at `to` with the run that `from` has last begun.
  SCANLAB_HD std::uint32_t* begun(int to, int from) const { return static_cast<std::uint32_t*>(memory[to]) + from; }
  /// The copy at `to` that a run uses.
  SCANLAB_HD ShortWord* states(int to, std::uint32_t run) const {
    return reinterpret_cast<ShortWord*>(static_cast<unsigned char*>(memory[to]) + kHead) + Turns::copy_of(run) * words;
  }

  /// A warp calls this in a run, before it waits: every peer may write the copies of the next. A lane for each, since a
  /// store to another GPU that waits for the one before costs a way over the links.
  __device__ void announce(std::uint32_t run) const {
    const int lane = threadIdx.x % scan::kLanes;
    if (lane < ranks) Turns::announce(begun(lane, rank), run);
  }
  /// A warp calls this once, before it writes copies of this run.
  __device__ void wait_until_free(std::uint32_t run) const {
    const int lane = threadIdx.x % scan::kLanes;
    if (lane < ranks) Turns::wait_until_free(begun(rank, lane), run);
    __syncwarp();  // what any lane writes comes after what all lanes have seen
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
    // No rank has begun the first run, which has the next number.
    const std::vector<std::uint32_t> none(kMaxPeers, scan::TileCounter::kFirstRun - 1);
    cuda::check(cudaMemcpy(memory_.own(), none.data(), none.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
                "preparing peer memory");
    cuda::check(cudaDeviceSynchronize(), "preparing peer memory");  // a copy from pageable memory may return before
  }
  /// Collective: no run begins before the memory of all ranks is prepared.
  void connect(Communicator& communicator) {
    memory_.connect(communicator);
    for (int rank = 0; rank < memory_.ranks(); ++rank) peers_.memory[rank] = memory_.at(rank);
  }
  /// Once they are connected.
  const Peers& peers() const { return peers_; }

  /// Beside a run that waits in vain: which ranks have not begun it, by what they told this one.
  std::string waits_for(cudaStream_t stream) const {
    std::vector<std::uint32_t> begun(static_cast<std::size_t>(peers_.ranks));
    cuda::check(cudaMemcpyAsync(begun.data(), memory_.own(), begun.size() * sizeof(std::uint32_t),
                                cudaMemcpyDeviceToHost, stream),
                "reading announcements");
    cuda::check(cudaStreamSynchronize(stream), "reading announcements");
    return who_has_not_begun(begun, scan::TileCounter::kFirstRun);
  }

 private:
  PeerMemory memory_;
  Peers peers_;
};

}  // namespace scanlab::distributed
#endif
