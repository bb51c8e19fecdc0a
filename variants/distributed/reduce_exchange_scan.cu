// reduce_exchange_scan: every GPU reduces its block of the array, they exchange the aggregates, every GPU scans its
// block.
//
// Idea    A block's scan needs one item of the others: what comes before it. So each GPU reads its block once for its
//         aggregate, all gather these by NCCL, and each scans from the fold of those before its own.
// Work    3 n, and a fold of as many items as there are GPUs.
// Traffic 3 n: two reads and a write. An item per GPU over the links.
// Bits    Fixed by n and the number of GPUs where the block's scan has fixed bits.
// Source  Reduce-then-scan (Dotsenko et al. 2008), with a GPU as a block; as libraries of several GPUs have it.
#include "variants/distributed/block_per_rank.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {
namespace {

struct ReduceExchangeScan {
  template <class Op>
  static constexpr bool kTakes = kOfBlocks<Op>;

  static Description describe() {
    Description about;
    about.id = "reduce_exchange_scan";
    about.title = "Reduce blocks, gather by NCCL, scan blocks";
    about.source = "Dotsenko et al. 2008, with a GPU as a block";
    about.family = "three passes";
    about.cost = {.work = "about 3n", .span = "of a GPU's scan", .traffic = "3n"};
    return about;
  }

  static Plan plan(const Problem& problem, int ranks) {
    if (std::string why = why_no_nccl(); !why.empty()) return Plan::refuse(std::move(why));
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
          exchange_(communicator),
          scan_(held_, problem.mode, StartingFrom<Op>{{}, exchange_.before()}) {}

    void run(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      reduction_.run(in, stream);
      exchange_.run(reduction_.aggregate(), stream);
      if (held_ > 0) scan_.run(in, out, stream);
    }

   private:
    std::int64_t held_;
    BlockReduction<Op> reduction_;
    NcclExchange<Op> exchange_;
    BlockScan<StartingFrom<Op>> scan_;
  };
};

const AlgorithmRegistration kReduceExchangeScan{algorithm<ReduceExchangeScan>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
