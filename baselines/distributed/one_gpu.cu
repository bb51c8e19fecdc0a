// one_gpu: the first GPU has the whole array and scans it by `best`, the others have nothing: what scaling is counted
// from.
#include <algorithm>

#include "harness/cuda/buffer.hpp"
#include "harness/distributed/algorithm.hpp"

namespace scanlab::distributed {
namespace {

struct OneGpu {
  template <class Op>
  static constexpr bool kTakes = true;

  static Description describe() {
    Description about;
    about.id = "one_gpu";
    about.title = "The best scan of one GPU, which has all";
    about.source = "Scanlab: the variant best";
    about.family = "one GPU";
    about.bitwise_reproducible = false;
    about.cost = {.work = "of the chosen", .span = "of the chosen", .traffic = "2n, on one GPU"};
    return about;
  }
  static BoundScan bind(const Problem& problem) { return Registry::instance().all().at("best").bind(bare(problem)); }

  static Plan plan(const Problem& problem, int ranks) {
    const scanlab::Plan of_best = bind(problem).plan;
    if (!of_best.possible()) return Plan::refuse(of_best.refusal);
    const std::int64_t all = std::max<std::int64_t>(problem.items, 1);
    return {.distribution = {.items = problem.items, .ranks = ranks, .chunk = all}, .chain = of_best.chain};
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan&, int rank) : has_all_(rank == 0) {
      if (!has_all_) return;
      scan_ = OneGpu::bind(problem);
      workspace_ = cuda::DeviceBuffer(scan_.plan.workspace_bytes);
      if (scan_.prepare_cuda) scan_.prepare_cuda(workspace_.data(), nullptr);
      cuda::check(cudaDeviceSynchronize(), "preparing a workspace");
    }
    void run(const Item* in, Item* out, StreamHandle stream) {
      if (has_all_) scan_.cuda({.in = in, .out = out, .workspace = workspace_.data()}, stream);
    }

   private:
    bool has_all_;
    BoundScan scan_;
    cuda::DeviceBuffer workspace_;
  };
};

const AlgorithmRegistration kOneGpu{algorithm<OneGpu>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
