// cub::WarpScan in the kernel of our own warp scans: of the toolkit's CCCL and of the newest, compiled apart.
#pragma once

#include <cub/warp/warp_scan.cuh>

#include "baselines/cub_scan.cuh"
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct CubWarp {
  static constexpr bool kWarp = true;
  SCANLAB_HD int shared_items(int) const { return 1; }  // more than its empty storage
  int chain(int) const { return 6; }

  template <class Item>
  __device__ static cub::WarpScan<Item> scan(Item* shared) {
    using Storage = typename cub::WarpScan<Item>::TempStorage;
    static_assert(sizeof(Storage) <= sizeof(Item));
    return cub::WarpScan<Item>(*reinterpret_cast<Storage*>(shared));
  }

  template <class Group, class Item, class Op>
  __device__ Item inclusive(const Group&, Item* shared, Item item, Op) const {
    scan(shared).InclusiveScan(item, item, cub_operator<Op>());
    return item;
  }
  template <class Group, class Item, class Op>
  __device__ Item exclusive(const Group&, Item* shared, Item item, Op) const {
    Item before;
    if constexpr (kInvertible<Op>) {
      scan(shared).ExclusiveSum(item, before);  // of floats it takes one addition more
      return before;
    } else {
      scan(shared).ExclusiveScan(item, before, cub_operator<Op>());
      return threadIdx.x % kLanes == 0 ? Op::identity() : before;  // CUB does not define that of lane 0
    }
  }
};

inline Description describe_cub_warp(std::string id, std::string title) {
  return {
      .id = std::move(id), .title = std::move(title), .source = "NVIDIA CCCL, cub/warp/warp_scan.cuh", .family = "CUB"};
}

}  // namespace
}  // namespace scanlab::block_scan
