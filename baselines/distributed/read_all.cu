// read_all: every GPU reads its block of the array and keeps an item of it: how fast the first third of 3n can be. No
// output is compared; the same reduction is a part of reduce_exchange_scan, whose output is.
#include "variants/distributed/block_per_rank.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {
namespace {

struct ReadAll {
  template <class Op>
  static constexpr bool kTakes = kOfBlocks<Op>;

  static Description describe() {
    Description about;
    about.id = "read_all";
    about.title = "A reduction on every GPU";
    about.source = "Scanlab: the first pass of reduce_exchange_scan";
    about.family = "floor";
    about.kind = Kind::read;
    about.cost = {.work = "n", .span = "of a GPU's reduction", .traffic = "n"};
    return about;
  }
  static Plan plan(const Problem& problem, int ranks) { return Plan::of_blocks(problem, ranks); }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem&, const Plan& plan, int rank) : reduction_(plan.distribution.held(rank)) {}
    void run(const Item* in, Item*, StreamHandle stream) { reduction_.run(in, static_cast<cudaStream_t>(stream)); }

   private:
    BlockReduction<Op> reduction_;
  };
};

const AlgorithmRegistration kReadAll{algorithm<ReadAll>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
#endif
