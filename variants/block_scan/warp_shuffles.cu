// warp_shuffles: a warp scans one item a lane in five shuffles.
//
// Idea    Hillis and Steele's steps between the registers of lanes: no memory, no barrier.
// Work    5 shuffles and 5 applications of the operator by every lane, and 2 k for its k items.
// Span    5 steps.
// Source  Hillis and Steele 1986; "Kepler's shuffle", NVIDIA, 2012.
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

template <bool kByLane>
struct Shuffles {
  static constexpr bool kWarp = true;
  SCANLAB_HD int shared_items(int) const { return 0; }
  int chain(int) const { return 6; }

  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item inclusive(const Group& group, SharedItems, typename Op::Item item, Op op) const {
    return scan_warp<kByLane>(group.block, item, op);
  }
  template <class Group, class SharedItems, Monoid Op>
  SCANLAB_HD typename Op::Item exclusive(const Group& group, SharedItems shared, typename Op::Item item, Op op) const {
    return before_lane(group.block, inclusive(group, shared, item, op), item, op);
  }
};

struct WarpShuffles {
  static Description describe() {
    return {.id = "warp_shuffles",
            .title = "Five shuffles",
            .source = "Hillis and Steele 1986, by the shuffles of 2012",
            .family = "shuffles",
            .parameters = {predicate_parameter()},
            .cost = {.work = "5 · 32, and 2n", .span = "5", .traffic = "2n"}};
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(WarpShuffles, ByPredicate<OfThreads<Shuffles<false>>, OfThreads<Shuffles<true>>>)
