// The fold of the ranks before each rank, by NCCL: an all-gather of an item per rank, or of one for each column of a
// tensor and each part of its rows.
#pragma once

#include "harness/core/monoid.hpp"
#include "harness/distributed/nccl.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab::distributed {

/// The folds of a tensor (rows, parts, inner) whose parts lie one behind the other: rank 0 has the first few of each
/// row, rank 1 the next.
struct PartFolds {
  std::int64_t rows = 1;
  std::int64_t parts = 1;  ///< of a rank
  std::int64_t inner = 1;
  SCANLAB_HD std::int64_t count() const { return rows * parts * inner; }
};

/// before: what comes before each part of rank `rank`. aggregates: the folds of each rank in turn.
template <Monoid Op>
__global__ void fold_before(const typename Op::Item* aggregates, PartFolds folds, int rank, typename Op::Item* before) {
  const std::int64_t place = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count = folds.count();
  if (place >= count) return;
  const std::int64_t part = place / folds.inner % folds.parts, first = place - part * folds.inner;
  typename Op::Item folded = Op::identity();
  for (std::int64_t i = 0; i < rank * folds.parts + part; ++i) {
    folded = Op{}(folded, aggregates[i / folds.parts * count + first + i % folds.parts * folds.inner]);
  }
  before[place] = folded;
}

template <Monoid Op>
class NcclExchange {
 public:
  using Item = typename Op::Item;

  NcclExchange(int rank, int ranks, const PartFolds& folds = {})
      : rank_(rank),
        folds_(folds),
        before_(static_cast<std::size_t>(folds.count()) * sizeof(Item)),
        all_(static_cast<std::size_t>(ranks) * before_.bytes()) {
    cuda::load(fold_before<Op>);
  }
  void connect(Communicator& communicator) { nccl_ = Nccl::join(communicator); }

  /// Enqueues. aggregates: the folds of what this rank holds, in device memory.
  void run(const Item* aggregates, cudaStream_t stream) {
    constexpr std::int64_t kMostThreads = 256;
    const auto threads = static_cast<unsigned>(std::min(folds_.count(), kMostThreads));
    nccl_->all_gather(aggregates, all_.data(), before_.bytes(), stream);
    fold_before<Op><<<static_cast<unsigned>(ceil_div(folds_.count(), std::int64_t{threads})), threads, 0, stream>>>(
        all_.template as<Item>(), folds_, rank_, before_.template as<Item>());
    cuda::check(cudaGetLastError(), "folding aggregates");
  }
  /// The folds before each part, in device memory.
  const Item* before() const { return before_.template as<Item>(); }

 private:
  int rank_;
  PartFolds folds_;
  cuda::DeviceBuffer before_;
  cuda::DeviceBuffer all_;  ///< the aggregates of all ranks
  std::shared_ptr<Nccl> nccl_;
};

}  // namespace scanlab::distributed
#endif
