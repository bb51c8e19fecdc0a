// blocked_peer: as reduce_exchange_scan, with the exchange inside the kernels, over peer memory.
//
// Idea    A library call between two kernels costs more than small blocks take to scan. So one thread stores the
//         block's aggregate in the memory of every GPU, and the scan begins by waiting for those before its own.
// Work    3 n, and a fold of as many items as there are GPUs.
// Traffic 3 n: two reads and a write. An item per pair of GPUs over the links.
// Bits    Fixed by n and the number of GPUs where the block's scan has fixed bits.
// Safe    See peer_states.cuh: a rank waits for aggregates of this run alone, which need no other rank's scan.
// Source  Scanlab, beside reduce_exchange_scan to show what the library's call costs.
#include "variants/distributed/block_per_rank.cuh"
#include "variants/distributed/peer_states.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {
namespace {

/// Tells the others the block's aggregate, and folds those before it. One warp; `run` counts the runs.
template <Monoid Op>
__global__ void exchange_by_peers(const typename Op::Item* aggregate, const __grid_constant__ Peers peers,
                                  std::uint32_t* run_counter, typename Op::Item* before) {
  using Item = typename Op::Item;
  using States = PeerStates<Item>;
  simt::GpuBlock block;
  const int lane = static_cast<int>(threadIdx.x);
  const std::uint32_t run = *run_counter;
  if (lane == 0) peers.announce(run);
  peers.wait_until_free(run);
  if (lane < peers.ranks) States::store(block, peers.states(lane, run), peers.rank, *aggregate, run);
  Item mine = Op::identity();
  if (lane < peers.rank) {
    typename States::State state;
    do {
      state = States::load(block, peers.states(peers.rank, run), lane);
    } while (!state.is(run));
    mine = state.item();
  }
  __syncwarp();
  const Item folded = scan::fold_warp(block, mine, Op{});
  if (lane != 0) return;
  *before = folded;
  *run_counter = run + 1;
}

struct BlockedPeer {
  template <class Op>
  static constexpr bool kTakes = kOfBlocks<Op>;

  static Description describe() {
    Description about;
    about.id = "blocked_peer";
    about.title = "Reduce blocks, exchange in the kernel, scan blocks";
    about.source = "Scanlab";
    about.family = "peer memory";
    about.limits = "any n; GPUs that are peers, 16 at most";
    about.cost = {.work = "about 3n", .span = "of a GPU's scan", .traffic = "3n"};
    return about;
  }

  static Plan plan(const Problem& problem, int ranks) {
    if (ranks > kMaxPeers) {
      return Plan::refuse("blocked_peer takes " + std::to_string(kMaxPeers) + " GPUs, not " + std::to_string(ranks));
    }
    const auto distribution = Distribution::blocks(problem.items, ranks);
    return {.distribution = distribution, .chain = 2 * chain_of_block(problem, distribution.chunk) + ranks};
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan& plan, Communicator& communicator)
        : held_(plan.distribution.held(communicator.rank())),
          reduction_(held_),
          peers_(kMaxPeers * PeerStates<Item>::State::kWords, communicator.ranks(), communicator),
          before_(kBeforeBytes + sizeof(std::uint32_t)),
          scan_(held_, problem.mode, StartingFrom<Op>{{}, before_.template as<Item>()}) {
      const std::uint32_t first = scan::Tickets::kFirstRun;
      cuda::check(cudaMemcpy(counter(), &first, sizeof(first), cudaMemcpyHostToDevice), "numbering runs");
      cuda::check(cudaDeviceSynchronize(), "numbering runs");  // runs are in a stream that does not wait for the copy
    }

    void run(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      reduction_.run(in, stream);
      exchange_by_peers<Op><<<1, scan::kLanes, 0, stream>>>(reduction_.aggregate(), peers_.peers(), counter(),
                                                            before_.template as<Item>());
      cuda::check(cudaGetLastError(), "exchanging aggregates");
      if (held_ > 0) scan_.run(in, out, stream);
    }

   private:
    static constexpr std::size_t kBeforeBytes = 16;
    static_assert(sizeof(Item) <= kBeforeBytes);
    std::uint32_t* counter() { return before_.template as<std::uint32_t>() + kBeforeBytes / sizeof(std::uint32_t); }

    std::int64_t held_;
    BlockReduction<Op> reduction_;
    PeerStateMemory peers_;
    cuda::DeviceBuffer before_;
    BlockScan<StartingFrom<Op>> scan_;
  };
};

const AlgorithmRegistration kBlockedPeer{algorithm<BlockedPeer>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
