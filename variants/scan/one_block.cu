// one_block: a single block scans what its registers hold.
//
// Idea    For few items the launch is the cost: one launch, one read, one write, one barrier.
// Work    3 n, and 5 shuffles a vector and a warp.
// Span    about 25 steps.
// Traffic 2 n.
// Bits    Fixed.
// Source  Harris and Garland, "Optimizing Parallel Prefix Operations for the Fermi Architecture", GPU Computing Gems
//         Jade Edition, ch. 3, 2012, for the scan of warps by shuffles.
#include "variants/scan/register_tile.cuh"

namespace scanlab::scan {
namespace {

constexpr int kMostThreads = 512;  // more of them take longer to start and to meet than they save

template <int kRows, bool kWhole>
struct OneBlockKernel {
  static constexpr const char* kName = "one_block";
  static constexpr int kMaxThreads = kMostThreads;

  /// in, out: n items in global memory, at most as many as the block's tile; may be the same array. Shared memory: an
  /// item a warp. One block.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, bool aligned, Mode mode,
                             Op op) const {
    using Item = typename Op::Item;
    RegisterTile<Op, kRows, kWhole> tile;
    block.step("load", 0);
    tile.load(block, in, 0, n, aligned);
    block.step("scan", 0);
    tile.scan(block, block.template shared<Item>(block.num_threads() / kLanes), op);
    block.step("store", 0);
    tile.store(block, out, 0, n, aligned, mode, Op::identity(), op);
  }
};

struct OneBlock {
  static constexpr int kFewRows = 2;
  static constexpr int kManyRows = 4;

  explicit OneBlock(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    Description about;
    about.id = "one_block";
    about.title = "One block, its tile in registers";
    about.source = "Harris and Garland 2012, GPU Computing Gems, ch. 3";
    about.family = "one launch, one tile";
    about.overview = false;
    about.limits = "n items of 32 KiB or less";
    about.in_place = true;
    about.cost = {.work = "about 3n, and 4 a vector", .span = "25 steps", .traffic = "2n"};
    return about;
  }

  Plan plan() const {
    if (vectors_of(problem_) > kMostThreads * kManyRows) return Plan::refuse("one_block holds 32 KiB of items at most");
    return {.chain = tile_chain(problem_, kManyRows, kMostThreads / kLanes)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    if (problem_.items == 0) return;
    const auto launch = [&]<int kRows, bool kWhole>(OneBlockKernel<kRows, kWhole> kernel) {
      const int warps = static_cast<int>(ceil_div(vectors_of(problem_), kLanes * kRows));
      machine.launch({.blocks = 1, .threads = kLanes * warps, .shared_bytes = warps * sizeof(typename Op::Item)},
                     kernel, arrays.in, arrays.out, problem_.items, aligned(arrays), problem_.mode, op);
    };
    const bool few = vectors_of(problem_) <= kMostThreads * kFewRows;
    by_whole(arrays, problem_.items, [&]<bool kWhole>(std::bool_constant<kWhole>) {
      few ? launch(OneBlockKernel<kFewRows, kWhole>{}) : launch(OneBlockKernel<kManyRows, kWhole>{});
    });
  }

 private:
  Problem problem_;
};

const Registration kOneBlock{simt::portable_scan<OneBlock>()};

}  // namespace
}  // namespace scanlab::scan
