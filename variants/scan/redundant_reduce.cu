// redundant_reduce: each block reduces for itself what comes before its tile. redundant_reduce.cuh has the kernel, and
// says how it works.
#include "variants/scan/redundant_reduce.cuh"

#include "variants/scan/tile_plan.hpp"

namespace scanlab::scan {
namespace {

class RedundantReduce {
 public:
  static Description describe() {
    Description about;
    about.id = "redundant_reduce";
    about.title = "Each block reduces what comes before its tile";
    about.source = "ours; compute again rather than ask";
    about.family = "one launch, one tile";
    about.overview = false;
    about.limits = "n items of 64 KiB or less; operators whose operands may change places; not in place";
    about.cost = {.work = "about 18n; 6n in 4 blocks or fewer", .span = "30 steps, 15 vectors", .traffic = "2n"};
    return about;
  }

  explicit RedundantReduce(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (blocks() > kMostRedundantBlocks) return Plan::refuse("redundant_reduce holds 64 KiB of items at most");
    if (!with_monoid(problem_.type, problem_.op, []<class Op>(Op) { return Op::kCommutative; })) {
      return Plan::refuse("redundant_reduce needs an operator whose operands may change places; those of " +
                          std::string(name(problem_.op)) + " may not");
    }
    // A thread's share, vector by vector; those of the lanes, and of the warps; and the tile.
    const auto vector = static_cast<std::int64_t>(16 / item_bytes(problem_.type, problem_.op));
    return {.chain = (blocks() - 1) * vector + ceil_log2(kLanes) + ceil_log2(kWarps) + tile_chain(problem_, 1, kWarps)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    if constexpr (Op::kCommutative) {
      if (problem_.items == 0) return;
      const auto launch = [&](auto kernel) {
        machine.launch({.blocks = blocks(),
                        .threads = kRedundantThreads,
                        .shared_bytes = decltype(kernel)::template shared_bytes<typename Op::Item>()},
                       kernel, arrays.in, arrays.out, problem_.items, aligned(arrays), problem_.mode, op);
      };
      const bool few = blocks() <= kFewRedundantBlocks;
      by_aligned(arrays, [&]<bool kAligned>(std::bool_constant<kAligned>) {
        few ? launch(RedundantReduceKernel<kFewRedundantBlocks - 1, kAligned>{})
            : launch(RedundantReduceKernel<kMostRedundantBlocks - 1, kAligned>{});
      });
    }
  }

 private:
  static constexpr int kWarps = kRedundantThreads / kLanes;
  std::int64_t blocks() const { return ceil_div(vectors_of(problem_), kRedundantThreads); }

  Problem problem_;
};

const Registration kRedundantReduce{simt::portable_scan<RedundantReduce>()};

}  // namespace
}  // namespace scanlab::scan
