// nccl_cub: reduce_exchange_scan with NVIDIA's libraries alone: CUB reduces and scans each block, NCCL gathers.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "baselines/cub_scan.cuh"
#include "baselines/distributed/nccl_sums.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/nccl.hpp"

namespace scanlab::distributed {
namespace {

struct NcclCub : SumsOverNccl {
  static Description describe() {
    Description about;
    about.id = "nccl_cub";
    about.title = "CUB reduces and scans blocks, NCCL gathers";
    about.source = "NVIDIA CUB: DeviceReduce, DeviceScan; NCCL: ncclAllGather";
    about.family = "CUB";
    about.bitwise_reproducible = false;
    about.cost = {.work = "about 3n", .span = "of CUB's scan", .traffic = "3n"};
    return about;
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan& plan, int rank)
        : held_(plan.distribution.held(rank)),
          mode_(problem.mode),
          rank_(rank),
          items_((static_cast<std::size_t>(plan.distribution.ranks) + 2) * sizeof(Item)) {
      std::size_t reduce = 0;
      std::size_t scan = 0;
      call_reduce(nullptr, reduce, nullptr, nullptr);
      call_scan(nullptr, scan, nullptr, nullptr, nullptr);
      storage_ = cuda::DeviceBuffer(std::max(reduce, scan));
      cuda::load(sum_before<Item>);
    }
    void connect(Communicator& communicator) { nccl_ = Nccl::join(communicator); }
    void rehearse(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      std::size_t bytes = storage_.bytes();
      call_reduce(storage_.data(), bytes, in, stream);
      if (held_ > 0) call_scan(storage_.data(), bytes, in, out, stream);
    }
    void run(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      std::size_t bytes = storage_.bytes();
      call_reduce(storage_.data(), bytes, in, stream);
      nccl_->all_gather(sum(), all(), sizeof(Item), stream);
      sum_before<<<1, 1, 0, stream>>>(all(), rank_, before());
      cuda::check(cudaGetLastError(), "folding sums");
      if (held_ > 0) call_scan(storage_.data(), bytes, in, out, stream);
    }

   private:
    Item* before() const { return items_.as<Item>(); }
    Item* sum() const { return before() + 1; }
    Item* all() const { return before() + 2; }
    /// As a caller who knows how many items there are: in 32 bits, where that suffices.
    template <class F>
    cudaError_t with_count(F&& call) const {
      return held_ <= kMaxIn32Bits ? call(static_cast<std::int32_t>(held_)) : call(held_);
    }
    void call_reduce(void* storage, std::size_t& bytes, const Item* in, cudaStream_t stream) {
      const auto reduce = [&](auto count) { return cub::DeviceReduce::Sum(storage, bytes, in, sum(), count, stream); };
      cuda::check(with_count(reduce), "reducing by CUB");
    }
    void call_scan(void* storage, std::size_t& bytes, const Item* in, Item* out, cudaStream_t stream) {
      using Plus = decltype(cub_operator<Op>());
      const cub::FutureValue<Item> first(before());
      const auto exclusive = [&](auto count) {
        return cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, Plus{}, first, count, stream);
      };
      const auto inclusive = [&](auto count) {
        // As InclusiveScanInit calls it, which takes no FutureValue before CCCL 3.1.
        using Initial = cub::detail::InputValue<Item>;
        using Offset = cub::detail::choose_offset_t<decltype(count)>;
        using Sum = ::cuda::std::__accumulator_t<Plus, Item, Item>;
        using Dispatch = cub::DispatchScan<const Item*, Item*, Plus, Initial, Offset, Sum, cub::ForceInclusive::Yes>;
        return Dispatch::Dispatch(storage, bytes, in, out, Plus{}, Initial(first), static_cast<Offset>(count), stream);
      };
      cuda::check(mode_ == Mode::exclusive ? with_count(exclusive) : with_count(inclusive), "scanning by CUB");
    }

    std::int64_t held_;
    Mode mode_;
    int rank_;
    cuda::DeviceBuffer items_;
    cuda::DeviceBuffer storage_;
    std::shared_ptr<Nccl> nccl_;
  };
};

const AlgorithmRegistration kNcclCub{algorithm<NcclCub>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
