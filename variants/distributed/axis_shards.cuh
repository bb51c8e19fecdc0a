// Shared by the scans along an axis of a tensor (rows, axis, inner) over several GPUs: what they are compiled for, and
// the scan of the lines that a GPU holds.
#pragma once

#include "harness/distributed/algorithm.hpp"
#include "variants/distributed/rank_device.hpp"
#include "variants/operators/plus.hpp"
#include "variants/scan_axis/axis_launch.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/buffer.hpp"

namespace scanlab::distributed {

/// Sums, and the recurrences h[t] = a[t] h[t - 1] + b[t] of state-space models and linear attention.
template <class Op>
inline constexpr bool kOfShards = (Op::kOperator == Operator::plus && sizeof(typename Op::Element) >= 4 &&
                                   !std::is_same_v<typename Op::Element, std::int64_t>) ||
                                  (Op::kOperator == Operator::affine && std::is_floating_point_v<typename Op::Element>);

/// Calls f with the operator of a problem, which is one of those.
template <class F>
auto with_shard_monoid(const Problem& problem, F f) {
  using Result = decltype(f(Plus<float>{}));
  return with_monoid(problem.type, problem.op, [&]<class Op>(Op op) {
    if constexpr (kOfShards<Op>) return f(op);
    return Result{};
  });
}

inline Description describe_shards() {
  Description about;
  about.primitive = Primitive::scan_axis;
  about.bitwise_reproducible = false;  // which tiles a block takes depends on time
  return about;
}

/// The scan of the lines that a rank holds: a tensor of its own, whose columns begin with given items.
template <Monoid Op>
class ShardScan {
 public:
  using Item = typename Op::Item;

  ShardScan(const scan_axis::Extents& tensor, Mode mode)
      : mode_(mode), scan_(tensor, multiprocessors_of_rank(), shared_bytes_of_block()) {
    cuda::check(scan_.try_allow(shared_bytes_of_block()), "asking for shared memory");
    storage_ = cuda::DeviceBuffer(scan_.workspace_bytes());
    cuda::check(scan_.try_prepare(storage_.data(), nullptr), "preparing a scan of a shard");
    cuda::check(cudaDeviceSynchronize(), "preparing a scan of a shard");
  }

  static std::int64_t chain(const scan_axis::Extents& tensor) {
    return Scan(tensor, multiprocessors_of_rank(), shared_bytes_of_block()).chain();
  }

  /// Enqueues. starts: before the first line of each row, (rows, inner) items; null: nothing is.
  void run(const Item* in, Item* out, const Item* starts, cudaStream_t stream) const {
    cuda::check(scan_.try_run(storage_.data(), in, out, mode_, Op{}, stream, {starts}, may_start_early()),
                "scanning a shard");
  }

 private:
  using Scan = scan_axis::ColumnScan<Op, scan_axis::StartedColumns<Item>>;
  Mode mode_;
  Scan scan_;
  cuda::DeviceBuffer storage_;
};

}  // namespace scanlab::distributed
#endif
