// nccl_all_gather: all GPUs gather 8 bytes of each by NCCL: the floor of whatever exchanges by it.
#include "harness/cuda/buffer.hpp"
#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/nccl.hpp"

namespace scanlab::distributed {
namespace {

struct NcclAllGather {
  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus;

  static Description describe() {
    Description about;
    about.id = "nccl_all_gather";
    about.title = "An all-gather of 8 bytes per GPU";
    about.source = "NVIDIA NCCL: ncclAllGather";
    about.family = "floor";
    about.kind = Kind::empty_launch;
    about.cost = {.work = "0", .span = "0", .traffic = "0"};
    return about;
  }
  static Plan plan(const Problem& problem, int ranks) { return with_nccl(Plan::of_blocks(problem, ranks)); }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem&, const Plan& plan, int)
        : bytes_((static_cast<std::size_t>(plan.distribution.ranks) + 1) * kBytes) {}
    void connect(Communicator& communicator) { nccl_ = Nccl::connect(communicator); }
    void run(const Item*, Item*, StreamHandle stream) {
      nccl_->all_gather(bytes_.data(), bytes_.as<std::byte>() + kBytes, kBytes, stream);
    }

   private:
    static constexpr std::size_t kBytes = 8;
    std::shared_ptr<Nccl> nccl_;
    cuda::DeviceBuffer bytes_;
  };
};

const AlgorithmRegistration kNcclAllGather{algorithm<NcclAllGather>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
