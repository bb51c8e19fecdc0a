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

  static Plan plan(const Problem& problem, int ranks) { return with_nccl(plan_of_three_passes(problem, ranks)); }

  template <class Op>
  using Rank = ThreePasses<Op, NcclExchange<Op>>;
};

const AlgorithmRegistration kReduceExchangeScan{algorithm<ReduceExchangeScan>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
