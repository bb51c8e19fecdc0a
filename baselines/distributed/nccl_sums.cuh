// The scans of libraries over NCCL share this: the sum, and the prefix of a block.
#pragma once

#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/nccl.hpp"

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

/// The problems that such a scan takes, and its plan: a block per rank, and an item of each gathered by NCCL.
struct SumsOverNccl {
  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus &&
                                 (sizeof(typename Op::Item) >= 4 || std::is_integral_v<typename Op::Item>);

  static Plan plan(const Problem& problem, int ranks) {
    Plan plan = Plan::of_blocks(problem, ranks);
    plan.chain = 256 + plan.distribution.chunk / 1024 + ranks;  // CUB's, which Thrust calls
    return with_nccl(std::move(plan));
  }
};

}  // namespace scanlab::distributed
