// The shared parts of scans of arrays cut in one block per GPU: reduce a block, scan a block from its prefix, and fold
// the aggregates of blocks.
#pragma once

#include "harness/core/monoid.hpp"
#include "harness/distributed/algorithm.hpp"
#include "variants/distributed/nccl_exchange.cuh"
#include "variants/scan/device_scan_launch.cuh"
#include "variants/scan/reduce_shares.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab::distributed {

/// Types and operators that these scans are compiled for.
template <class Op>
inline constexpr bool kOfBlocks = Op::kOperator == Operator::plus ||
                                  (Op::kOperator == Operator::affine && sizeof(typename Op::Element) == 4);

/// An operator with what comes before the first item: in device memory, where a kernel before writes it.
template <Monoid Op>
struct StartingFrom : Op {
  const typename Op::Item* first = nullptr;
  SCANLAB_HD typename Op::Item initial_value() const { return *first; }
};

/// The longest chain of additions in the scan of a block, whichever kernel is chosen.
inline std::int64_t chain_of_block(const Problem& problem, std::int64_t items) {
  return 64 + 16 / static_cast<std::int64_t>(item_bytes(problem.type, problem.op)) + items / 4096;
}

/// The aggregate of an array: two launches, and an item in device memory.
template <Monoid Op>
class BlockReduction {
 public:
  using Item = typename Op::Item;

  explicit BlockReduction(std::int64_t n) : n_(n), partial_((kMaxShares + 1) * sizeof(Item)) {}

  /// Enqueues.
  void run(const Item* in, cudaStream_t stream) {
    constexpr int kThreads = Kernel::kMaxThreads;
    using Tile = scan::RegisterTile<Op, Kernel::kRows>;
    simt::CudaMachine machine(stream);
    const std::int64_t tiles = std::max<std::int64_t>(1, ceil_div(n_, Tile::items(kThreads)));
    const std::int64_t share = ceil_div(tiles, kMaxShares);
    const std::int64_t shares = ceil_div(tiles, share);
    simt::Grid grid{.blocks = shares, .threads = kThreads, .shared_bytes = 2 * kThreads / scan::kLanes * sizeof(Item)};
    Item* const partial = partial_.template as<Item>();
    machine.launch(grid, Kernel{}, in, n_, share, true, partial, Op{});
    grid.blocks = 1;
    const std::int64_t all = ceil_div(shares, Tile::items(kThreads));
    machine.launch(grid, Kernel{}, static_cast<const Item*>(partial), shares, all, true, partial + kMaxShares, Op{});
  }
  /// In device memory.
  const Item* aggregate() const { return partial_.template as<Item>() + kMaxShares; }

 private:
  using Kernel = scan::ReduceSharesKernel;
  static constexpr std::int64_t kMaxShares = 1056;  // a few for each multiprocessor; a multiple of a vector's items
  std::int64_t n_;
  cuda::DeviceBuffer partial_;
};

/// The scan of a block by Scanlab's DeviceScan.
template <Associative Op>
class BlockScan {
 public:
  using Item = typename Op::Item;

  BlockScan(std::int64_t n, Mode mode, const Op& op) : n_(n), mode_(mode), op_(op) {
    std::size_t bytes = 0;
    cuda::check(scan::scan_array<Op>(nullptr, bytes, nullptr, nullptr, n, mode, op, nullptr), "planning a scan");
    storage_ = cuda::DeviceBuffer(bytes);
  }
  /// Enqueues.
  void run(const Item* in, Item* out, cudaStream_t stream) {
    std::size_t bytes = storage_.bytes();
    cuda::check(scan::scan_array<Op>(storage_.data(), bytes, in, out, n_, mode_, op_, stream), "scanning a block");
  }

 private:
  std::int64_t n_;
  Mode mode_;
  Op op_;
  cuda::DeviceBuffer storage_;
};

/// One rank of a scan in three passes: reduce the block, exchange aggregates, scan the block from what comes before it.
/// Exchange: such as NcclExchange.
template <Monoid Op, class Exchange>
class ThreePasses {
 public:
  using Item = typename Op::Item;

  ThreePasses(const Problem& problem, const Plan& plan, int rank)
      : held_(plan.distribution.held(rank)),
        reduction_(held_),
        exchange_(rank, plan.distribution.ranks),
        scan_(held_, problem.mode, StartingFrom<Op>{{}, exchange_.before()}) {}
  void connect(Communicator& communicator) { exchange_.connect(communicator); }

  /// Which kernels scan a block is known to DeviceScan alone. The scan begins from whatever is in memory.
  void rehearse(const Item* in, Item* out, StreamHandle handle) {
    const auto stream = static_cast<cudaStream_t>(handle);
    reduction_.run(in, stream);
    if (held_ > 0) scan_.run(in, out, stream);
  }

  /// Enqueues.
  void run(const Item* in, Item* out, StreamHandle handle) {
    const auto stream = static_cast<cudaStream_t>(handle);
    reduction_.run(in, stream);
    exchange_.run(reduction_.aggregate(), stream);
    if (held_ > 0) scan_.run(in, out, stream);
  }

  std::string waits_for(StreamHandle stream) const requires requires(const Exchange& exchange) {
    exchange.waits_for(cudaStream_t{});
  }
  { return exchange_.waits_for(static_cast<cudaStream_t>(stream)); }

 private:
  std::int64_t held_;
  BlockReduction<Op> reduction_;
  Exchange exchange_;
  BlockScan<StartingFrom<Op>> scan_;
};

inline Plan plan_of_three_passes(const Problem& problem, int ranks) {
  Plan plan = Plan::of_blocks(problem, ranks);
  plan.chain = 2 * chain_of_block(problem, plan.distribution.chunk) + ranks;
  return plan;
}

}  // namespace scanlab::distributed
#endif
