// cooperative_groups_scan: the scans of a tile of 32 threads that CUDA's cooperative groups have, in the kernel of our
// own warp scans.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include "harness/cuda/registration.cuh"
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

namespace groups = cooperative_groups;

struct CooperativeGroups {
  static constexpr bool kWarp = true;
  SCANLAB_HD int shared_items(int) const { return 0; }
  int chain(int) const { return 6; }

  template <class Group, class Item, class Op>
  __device__ Item inclusive(const Group&, Item*, Item item, Op) const {
    return groups::inclusive_scan(groups::tiled_partition<kLanes>(groups::this_thread_block()), item,
                                  groups::plus<Item>());
  }
  template <class Group, class Item, class Op>
  __device__ Item exclusive(const Group&, Item*, Item item, Op) const {
    return groups::exclusive_scan(groups::tiled_partition<kLanes>(groups::this_thread_block()), item,
                                  groups::plus<Item>());
  }
};

struct Id {
  static Description describe() {
    return {.id = "cooperative_groups_scan",
            .title = "cooperative_groups::inclusive_scan of 32 threads",
            .source = "CUDA C++ Programming Guide, Cooperative Groups",
            .family = "cooperative groups"};
  }
};

/// Sums alone: it takes operands in either order, so that a composition of affine maps comes out wrong.
struct Scan : Variant<Id, OfThreads<CooperativeGroups>> {
  using Variant::Variant;
  template <class Op>
  static constexpr bool kTakes = kStudied<Op>&& Op::kCommutative;
};

const Registration registration{cuda::cuda_scan<Scan>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
