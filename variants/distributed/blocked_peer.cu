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
  peers.announce(run);
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

/// The prefix of each rank's block, by peer memory: one launch.
template <Monoid Op>
class PeerExchange {
 public:
  using Item = typename Op::Item;

  PeerExchange(int rank, int ranks)
      : peers_(kMaxPeers * PeerStates<Item>::State::kWords, ranks, rank),
        before_(kBeforeBytes + sizeof(std::uint32_t)) {
    const std::uint32_t first = scan::TileCounter::kFirstRun;
    cuda::check(cudaMemcpy(counter(), &first, sizeof(first), cudaMemcpyHostToDevice), "numbering runs");
    cuda::load(exchange_by_peers<Op>);
    cuda::check(cudaDeviceSynchronize(), "numbering runs");  // runs are in a stream that does not wait for the copy
  }
  void connect(Communicator& communicator) { peers_.connect(communicator); }

  /// Enqueues. aggregate: of this rank's block, in device memory.
  void run(const Item* aggregate, cudaStream_t stream) {
    exchange_by_peers<Op>
        <<<1, scan::kLanes, 0, stream>>>(aggregate, peers_.peers(), counter(), before_.template as<Item>());
    cuda::check(cudaGetLastError(), "exchanging aggregates");
  }
  std::string waits_for(cudaStream_t stream) const { return peers_.waits_for(stream); }
  /// In device memory.
  const Item* before() const { return before_.template as<Item>(); }

 private:
  static constexpr std::size_t kBeforeBytes = 16;
  static_assert(sizeof(Item) <= kBeforeBytes);
  /// Behind the item.
  std::uint32_t* counter() {
    return reinterpret_cast<std::uint32_t*>(before_.template as<unsigned char>() + kBeforeBytes);
  }

  PeerStateMemory peers_;
  cuda::DeviceBuffer before_;
};

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
    return plan_of_three_passes(problem, ranks);
  }

  template <class Op>
  using Rank = ThreePasses<Op, PeerExchange<Op>>;
};

const AlgorithmRegistration kBlockedPeer{algorithm<BlockedPeer>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
