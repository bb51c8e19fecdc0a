// block_hillis_steele: Hillis and Steele's scan of a block's threads, by two buffers in shared memory.
//
// Idea    Step d adds to every item the one 2^d places before it. One buffer is read while the other is written.
// Work    T ceil(log2 T) - 2^ceil(log2 T) + 1 for T threads, and 2 k for their k items each.
// Span    ceil(log2 T) steps, a barrier each.
// Banks   No conflict: neighbours read neighbours.
// Source  Hillis and Steele, "Data parallel algorithms", 1986; Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39.
#include "variants/block_scan/block_scan.cuh"
#include "variants/scan/hs_steps.cuh"

namespace scanlab::block_scan {
namespace {

struct HillisSteele {
  static constexpr bool kWarp = false;
  SCANLAB_HD int shared_items(int threads) const { return 2 * threads; }
  int chain(int threads) const { return ceil_log2(threads); }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    return scan::hs_scan_tile(group.block, shared, group.threads, item, op);
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    inclusive(group, shared, item, op);
    group.sync();  // the last step's results are there, in the buffer that it wrote
    const int t = group.rank();
    if (t == 0 || t >= group.threads) return Op::identity();
    return shared[steps(group.threads) % 2 * group.threads + t - 1];
  }
};

struct BlockHillisSteele {
  static Description describe() {
    return {.id = "block_hillis_steele",
            .title = "Hillis-Steele by two buffers in shared memory",
            .source = "Hillis and Steele 1986; Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39",
            .family = "Hillis–Steele",
            .cost = {.work = "T ceil(log2 T) - 2^ceil(log2 T) + 1, and 2n",
                     .span = "ceil(log2 T)",
                     .traffic = "2n",
                     .operations = closed_form_of_additions(scan::hs_additions, 0),
                     .swaps = closed_form([](std::int64_t, std::int64_t) { return 0; })}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockHillisSteele, OfThreads<HillisSteele>)
