// The fold of the ranks before each rank, by NCCL: an all-gather of an item per rank, or of one for each column of a
// tensor.
#pragma once

#include "harness/core/monoid.hpp"
#include "harness/distributed/nccl.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab::distributed {

/// before: what comes before rank `rank` in each of `columns` columns. aggregates: those of each rank in turn.
template <Monoid Op>
__global__ void fold_before(const typename Op::Item* aggregates, std::int64_t columns, int rank,
                            typename Op::Item* before) {
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  typename Op::Item folded = Op::identity();
  for (int r = 0; r < rank; ++r) folded = Op{}(folded, aggregates[r * columns + column]);
  before[column] = folded;
}

template <Monoid Op>
class NcclExchange {
 public:
  using Item = typename Op::Item;

  NcclExchange(int rank, int ranks, std::int64_t columns = 1)
      : rank_(rank),
        columns_(columns),
        before_(static_cast<std::size_t>(columns) * sizeof(Item)),
        all_(static_cast<std::size_t>(ranks) * before_.bytes()) {
    cuda::load(fold_before<Op>);
  }
  void connect(Communicator& communicator) { nccl_ = Nccl::join(communicator); }

  /// Enqueues. aggregates: of what this rank holds, an item a column, in device memory.
  void run(const Item* aggregates, cudaStream_t stream) {
    constexpr std::int64_t kMostThreads = 256;
    const auto threads = static_cast<unsigned>(std::min(columns_, kMostThreads));
    nccl_->all_gather(aggregates, all_.data(), before_.bytes(), stream);
    fold_before<Op><<<static_cast<unsigned>(ceil_div(columns_, std::int64_t{threads})), threads, 0, stream>>>(
        all_.template as<Item>(), columns_, rank_, before_.template as<Item>());
    cuda::check(cudaGetLastError(), "folding aggregates");
  }
  /// In device memory, an item a column.
  const Item* before() const { return before_.template as<Item>(); }

 private:
  int rank_;
  std::int64_t columns_;
  cuda::DeviceBuffer before_;
  cuda::DeviceBuffer all_;  ///< the aggregates of all ranks
  std::shared_ptr<Nccl> nccl_;
};

}  // namespace scanlab::distributed
#endif
