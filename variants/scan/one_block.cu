// one_block: launches the kernel of one_block.cuh, which says how it works.
#include "variants/scan/one_block.cuh"

#include "variants/scan/tile_plan.hpp"

namespace scanlab::scan {
namespace {

struct OneBlock {
  static constexpr int kMostRows = 4;

  explicit OneBlock(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    Description about;
    about.id = "one_block";
    about.title = "One block, its tile in registers";
    about.source = "Sengupta, Harris and Garland 2008, NVR-2008-003";
    about.family = "one launch, one tile";
    about.overview = false;
    about.limits = "n items of 32 KiB or less";
    about.in_place = true;
    about.cost = {.work = "about 3n, and 4 a vector", .span = "25 steps", .traffic = "2n"};
    return about;
  }

  Plan plan() const {
    if (vectors_of(problem_) > kOneBlockThreads * kMostRows)
      return Plan::refuse("one_block holds 32 KiB of items at most");
    return {.chain = tile_chain(problem_, kMostRows, kOneBlockThreads / kLanes)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    if (problem_.items == 0) return;
    const auto launch = [&]<int kRows, bool kAligned>(OneBlockKernel<kRows, kAligned> kernel) {
      const int warps = static_cast<int>(ceil_div(vectors_of(problem_), kLanes * kRows));
      machine.launch({.blocks = 1, .threads = kLanes * warps, .shared_bytes = warps * sizeof(typename Op::Item)},
                     kernel, arrays.in, arrays.out, problem_.items, aligned(arrays), problem_.mode, op);
    };
    by_aligned(arrays, [&]<bool kAligned>(std::bool_constant<kAligned>) {
      by_rows<kOneBlockRows<Op>>([&]<int kRows>() { launch(OneBlockKernel<kRows, kAligned>{}); });
    });
  }

 private:
  /// Runs `run` for the fewest vectors a thread by which a block holds the items: kRows, or some power of 2 more.
  template <int kRows, class Run>
  void by_rows(Run run) const {
    if constexpr (kRows < kMostRows) {
      if (vectors_of(problem_) > kOneBlockThreads * kRows) return by_rows<2 * kRows>(run);
    }
    run.template operator()<kRows>();
  }

  Problem problem_;
};

const Registration kOneBlock{simt::portable_scan<OneBlock>()};

}  // namespace
}  // namespace scanlab::scan
