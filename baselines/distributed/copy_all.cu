// copy_all: every GPU copies its block of the array, at once: the ceiling of scans over several GPUs.
#include "harness/cuda/error.hpp"
#include "harness/distributed/algorithm.hpp"

namespace scanlab::distributed {
namespace {

struct CopyAll {
  template <class Op>
  static constexpr bool kTakes = true;

  static Description describe() {
    Description about;
    about.id = "copy_all";
    about.title = "A copy on every GPU";
    about.source = "CUDA: cudaMemcpyAsync, device to device";
    about.family = "copy";
    about.kind = Kind::copy;
    about.cost = {.work = "0", .span = "1", .traffic = "2n"};
    return about;
  }
  static Plan plan(const Problem& problem, int ranks) { return Plan::of_blocks(problem, ranks); }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem&, const Plan& plan, int rank)
        : bytes_(static_cast<std::size_t>(plan.distribution.held(rank)) * sizeof(Item)) {}
    void run(const Item* in, Item* out, StreamHandle stream) {
      if (bytes_ == 0) return;
      cuda::check(cudaMemcpyAsync(out, in, bytes_, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
                  "copying");
    }

   private:
    std::size_t bytes_;
  };
};

const AlgorithmRegistration kCopyAll{algorithm<CopyAll>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
