// launch_all: every GPU runs a kernel that does nothing: the floor of whatever launches.
#include "harness/cuda/error.hpp"
#include "harness/distributed/algorithm.hpp"

namespace scanlab::distributed {
namespace {

__global__ void nothing() {}

struct LaunchAll {
  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus;

  static Description describe() {
    Description about;
    about.id = "launch_all";
    about.title = "An empty kernel on every GPU";
    about.source = "CUDA: <<<1, 1>>>";
    about.family = "floor";
    about.kind = Kind::empty_launch;
    about.cost = {.work = "0", .span = "0", .traffic = "0"};
    return about;
  }
  static Plan plan(const Problem& problem, int ranks) { return Plan::of_blocks(problem, ranks); }

  template <class Op>
  struct Rank {
    using Item = typename Op::Item;
    Rank(const Problem&, const Plan&, int) {}
    void run(const Item*, Item*, StreamHandle stream) {
      nothing<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>();
      cuda::check(cudaGetLastError(), "launching an empty kernel");
    }
  };
};

const AlgorithmRegistration kLaunchAll{algorithm<LaunchAll>(true, Origin::baseline)};

}  // namespace
}  // namespace scanlab::distributed
