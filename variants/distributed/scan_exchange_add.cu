// scan_exchange_add: every GPU scans its block of the array, they exchange the last results, every GPU adds to its own.
//
// Idea    The first that comes to mind: the scan of each block is there at once, and lacks what comes before the block.
// Work    2 n, and a fold of as many items as there are GPUs.
// Traffic 4 n: a read and a write for the scan, and the same again to add. An item per GPU over the links.
// Bits    Fixed by n and the number of GPUs where the block's scan has fixed bits.
// Source  Scan-then-propagate (Sengupta et al. 2007), with a GPU as a block.
#include "variants/distributed/block_per_rank.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {
namespace {

/// A block's aggregate from its last result. One thread.
template <Monoid Op>
__global__ void take_aggregate(const typename Op::Item* in, const typename Op::Item* out, std::int64_t n, Mode mode,
                               typename Op::Item* aggregate) {
  if (n == 0) {
    *aggregate = Op::identity();
  } else {
    *aggregate = mode == Mode::inclusive ? out[n - 1] : Op{}(out[n - 1], in[n - 1]);
  }
}

/// A vector of 16 bytes a thread; the items behind the last whole vector by the last threads. out: aligned to 16 bytes.
template <Monoid Op>
__global__ void add_before(const typename Op::Item* before, typename Op::Item* out, std::int64_t n) {
  using Item = typename Op::Item;
  constexpr std::int64_t kVector = 16 / sizeof(Item);
  struct alignas(16) Vector {
    Item items[kVector];
  };
  const std::int64_t i = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kVector;
  const Item first = *before;
  if (i + kVector <= n) {
    Vector vector = *reinterpret_cast<const Vector*>(out + i);
    for (Item& item : vector.items) item = Op{}(first, item);
    *reinterpret_cast<Vector*>(out + i) = vector;
  } else {
    for (std::int64_t j = i; j < n; ++j) out[j] = Op{}(first, out[j]);
  }
}

struct ScanExchangeAdd {
  template <class Op>
  static constexpr bool kTakes = kOfBlocks<Op>;

  static Description describe() {
    Description about;
    about.id = "scan_exchange_add";
    about.title = "Scan blocks, gather by NCCL, add to blocks";
    about.source = "Sengupta et al. 2007, with a GPU as a block";
    about.family = "four passes";
    about.cost = {.work = "about 2n", .span = "of a GPU's scan", .traffic = "4n"};
    return about;
  }

  static Plan plan(const Problem& problem, int ranks) {
    Plan plan = Plan::of_blocks(problem, ranks);
    plan.chain = chain_of_block(problem, plan.distribution.chunk) + ranks + 2;
    return with_nccl(std::move(plan));
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan& plan, int rank)
        : held_(plan.distribution.held(rank)),
          mode_(problem.mode),
          aggregate_(sizeof(Item)),
          exchange_(rank, plan.distribution.ranks),
          scan_(held_, problem.mode, Op{}) {
      cuda::load(take_aggregate<Op>);
      cuda::load(add_before<Op>);
    }
    void connect(Communicator& communicator) { exchange_.connect(communicator); }
    void rehearse(const Item* in, Item* out, StreamHandle stream) {
      if (held_ > 0) scan_.run(in, out, static_cast<cudaStream_t>(stream));
    }

    void run(const Item* in, Item* out, StreamHandle handle) {
      constexpr int kThreads = 256;
      const auto stream = static_cast<cudaStream_t>(handle);
      if (held_ > 0) scan_.run(in, out, stream);
      take_aggregate<Op><<<1, 1, 0, stream>>>(in, out, held_, mode_, aggregate_.template as<Item>());
      cuda::check(cudaGetLastError(), "taking an aggregate");
      exchange_.run(aggregate_.template as<Item>(), stream);
      const std::int64_t blocks = ceil_div(held_, kThreads * (16 / static_cast<std::int64_t>(sizeof(Item))));
      if (blocks == 0) return;
      add_before<Op><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(exchange_.before(), out, held_);
      cuda::check(cudaGetLastError(), "adding to a block");
    }

   private:
    std::int64_t held_;
    Mode mode_;
    cuda::DeviceBuffer aggregate_;
    NcclExchange<Op> exchange_;
    BlockScan<Op> scan_;
  };
};

const AlgorithmRegistration kScanExchangeAdd{algorithm<ScanExchangeAdd>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
