// What the scans of libraries over NCCL share: the sum, and what comes before a block.
#pragma once

namespace scanlab::distributed {

/// As the scans beside it: small integers wrap.
struct Add {
  template <class Item>
  __host__ __device__ Item operator()(const Item& a, const Item& b) const {
    return static_cast<Item>(a + b);
  }
};

/// sums: of all blocks. before: the sum of those before block `rank`. One thread.
template <class Item>
__global__ void sum_before(const Item* sums, int rank, Item* before) {
  Item sum{};
  for (int r = 0; r < rank; ++r) sum = Add{}(sum, sums[r]);
  *before = sum;
}

}  // namespace scanlab::distributed
