// nccl_cub: reduce_exchange_scan with NVIDIA's libraries alone: CUB reduces and scans each block, NCCL gathers.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "baselines/distributed/nccl_sums.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/load.hpp"
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
    about.fixed_bits = false;
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
      cuda::check(cub::DeviceReduce::Sum(nullptr, reduce, static_cast<const Item*>(nullptr), sum(), held_, nullptr),
                  "planning CUB's reduction");
      call_scan(nullptr, scan, nullptr, nullptr, nullptr);
      storage_ = cuda::DeviceBuffer(std::max(reduce, scan));
      cuda::load(sum_before<Item>);
    }
    void connect(Communicator& communicator) { nccl_ = Nccl::of(communicator); }
    void rehearse(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      call_reduce(in, stream);
      std::size_t bytes = storage_.bytes();
      if (held_ > 0) call_scan(storage_.data(), bytes, in, out, stream);
    }
    void run(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      call_reduce(in, stream);
      std::size_t bytes = storage_.bytes();
      nccl_->all_gather(sum(), all(), sizeof(Item), stream);
      sum_before<<<1, 1, 0, stream>>>(all(), rank_, before());
      cuda::check(cudaGetLastError(), "folding sums");
      if (held_ > 0) call_scan(storage_.data(), bytes, in, out, stream);
    }

   private:
    Item* before() const { return items_.as<Item>(); }
    Item* sum() const { return before() + 1; }
    Item* all() const { return before() + 2; }
    void call_reduce(const Item* in, cudaStream_t stream) {
      std::size_t bytes = storage_.bytes();
      cuda::check(cub::DeviceReduce::Sum(storage_.data(), bytes, in, sum(), held_, stream), "reducing by CUB");
    }
    void call_scan(void* storage, std::size_t& bytes, const Item* in, Item* out, cudaStream_t stream) {
      const cub::FutureValue<Item> first(before());
      if (mode_ == Mode::exclusive) {
        cuda::check(cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, Add{}, first, held_, stream),
                    "scanning by CUB");
      } else {  // as InclusiveScanInit calls it, which takes no FutureValue before CCCL 3.1
        using Initial = cub::detail::InputValue<Item>;
        using Dispatch = cub::DispatchScan<const Item*, Item*, Add, Initial, cub::detail::choose_offset_t<std::int64_t>,
                                           Item, cub::ForceInclusive::Yes>;
        cuda::check(Dispatch::Dispatch(storage, bytes, in, out, Add{}, Initial(first),
                                       static_cast<cub::detail::choose_offset_t<std::int64_t>>(held_), stream),
                    "scanning by CUB");
      }
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
