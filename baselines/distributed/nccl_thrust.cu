// nccl_thrust: as nccl_cub, by Thrust: what its users would write. Thrust's reduction gives its result to the host,
// which waits for it in every run, under `par_nosync` too. The scan begins from what is in device memory by an
// iterator, and so waits for nothing; an allocator keeps what Thrust asks for, since cudaMalloc would wait for the
// device.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include <list>

#include "baselines/distributed/nccl_sums.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/nccl.hpp"

namespace scanlab::distributed {
namespace {

/// The items whose inclusive scan is the scan of a block, of either mode, from what comes before it.
template <class Item>
struct FromBefore {
  const Item* in;
  const Item* before;
  bool exclusive;
  __host__ __device__ Item operator()(std::int64_t i) const {
    if (i == 0) return exclusive ? *before : Add{}(*before, in[0]);
    return in[exclusive ? i - 1 : i];
  }
};

/// Gives pieces again that have come back: after the first run nothing is allocated.
class KeptMemory {
 public:
  using value_type = char;
  char* allocate(std::ptrdiff_t bytes) {
    for (Piece& each : pieces_) {
      if (each.taken || each.memory.bytes() < static_cast<std::size_t>(bytes)) continue;
      each.taken = true;
      return each.memory.as<char>();
    }
    pieces_.push_back({cuda::DeviceBuffer(static_cast<std::size_t>(bytes)), true});
    return pieces_.back().memory.as<char>();
  }
  void deallocate(char* memory, std::size_t) {
    for (Piece& each : pieces_) {
      if (each.memory.as<char>() == memory) each.taken = false;
    }
  }

 private:
  struct Piece {
    cuda::DeviceBuffer memory;
    bool taken = false;
  };
  std::list<Piece> pieces_;
};

struct NcclThrust : SumsOverNccl {
  static constexpr bool kWaits = true;

  static Description describe() {
    Description about;
    about.id = "nccl_thrust";
    about.title = "Thrust reduces and scans blocks, NCCL gathers";
    about.source = "NVIDIA Thrust: reduce, inclusive_scan under par_nosync; NCCL: ncclAllGather";
    about.family = "Thrust";
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
          exclusive_(problem.mode == Mode::exclusive),
          rank_(rank),
          items_((static_cast<std::size_t>(plan.distribution.ranks) + 2) * sizeof(Item)) {
      cuda::load(sum_before<Item>);
    }
    void connect(Communicator& communicator) { nccl_ = Nccl::join(communicator); }
    void rehearse(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      reduce(in, stream);
      scan(in, out, stream);
    }
    void run(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      reduce(in, stream);
      nccl_->all_gather(sum(), all(), sizeof(Item), stream);
      sum_before<<<1, 1, 0, stream>>>(all(), rank_, before());
      cuda::check(cudaGetLastError(), "folding sums");
      scan(in, out, stream);
    }

   private:
    Item* before() const { return items_.as<Item>(); }
    Item* sum() const { return before() + 1; }
    Item* all() const { return before() + 2; }
    auto policy(cudaStream_t stream) { return thrust::cuda::par_nosync(memory_).on(stream); }

    void reduce(const Item* in, cudaStream_t stream) {
      const auto first = thrust::device_pointer_cast(in);
      const Item sum_here = thrust::reduce(policy(stream), first, first + held_, Item{}, thrust::plus<Item>{});
      cuda::check(cudaMemcpyAsync(sum(), &sum_here, sizeof(Item), cudaMemcpyHostToDevice, stream), "copying a sum");
    }
    void scan(const Item* in, Item* out, cudaStream_t stream) {
      if (held_ == 0) return;
      const auto first = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                         FromBefore<Item>{in, before(), exclusive_});
      thrust::inclusive_scan(policy(stream), first, first + held_, thrust::device_pointer_cast(out),
                             thrust::plus<Item>{});  // which CUB, below Thrust, has tuned policies for
    }

    std::int64_t held_;
    bool exclusive_;
    int rank_;
    cuda::DeviceBuffer items_;
    KeptMemory memory_;
    std::shared_ptr<Nccl> nccl_;
  };
};

const AlgorithmRegistration kNcclThrust{algorithm<NcclThrust>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
