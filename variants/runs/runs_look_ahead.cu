// runs_look_ahead, lengths_look_ahead and unique_look_ahead: launch the kernel of runs_look_ahead.cuh, which says how
// it works.
#include "variants/runs/runs_look_ahead.cuh"

#include "variants/runs/runs.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"
#include "variants/segmented_scan/segmented_look_ahead.cuh"

namespace scanlab::runs {
namespace {

template <Primitive kPrimitive>
class LookAheadRuns {
  static constexpr bool kValues = kPrimitive == Primitive::reduce_by_key;

 public:
  template <class Op>
  static constexpr bool kTakes = kFolded<kPrimitive, Op>;

  static Description describe() {
    Description about = describe_runs(kPrimitive, true);
    about.id = std::string(prefix(kPrimitive)) + "_look_ahead";
    about.title = kValues                           ? "Folds of runs in one pass over values and keys"
                  : kPrimitive == Primitive::unique ? "Keys of runs in one pass"
                                                    : "Lengths of runs in one pass over keys";
    about.source = "Blelloch 1990; Scanlab";
    about.family = "single pass";
    about.limits += "; up to 2^32 - 2 items; compute capability 9.0 and later";
    about.cost.work = kValues ? "about 2n, and 2n comparisons" : "about 2n, and n comparisons";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit LookAheadRuns(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse(describe().id + " needs compute capability 9.0: it copies in bulk");
    if (problem_.items >= UINT32_MAX)
      return Plan::refuse(describe().id + " counts runs in 32 bits: give --items 2^32-2 or fewer");
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kFolded<kPrimitive, Op>) {
        with_pass<Op>([&](const auto& pass) {
          cuda::check(pass.try_allow(shared_bytes_), "asking for shared memory");
          plan.workspace_bytes = pass.workspace_bytes();
          plan.chain = pass.chain();
        });
      }
    });
    return plan;
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    with_pass<Op>([&](const auto& pass) { cuda::check(pass.try_prepare(workspace, stream), "preparing the tiles"); });
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const void* keys, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t* count, void* unique, void* workspace, std::size_t) const {
    with_pass<Op>([&]<class Pass>(const Pass& pass) {
      using Key = typename Pass::Key;
      const auto* const own = static_cast<const Key*>(keys);
      const auto launch = [&](const auto* items, const auto& fold) {
        auto* const folds = reinterpret_cast<typename Pass::Fold*>(out);
        cuda::check(pass.try_run(workspace, own, items, static_cast<Key*>(unique), folds, count, {}, {fold}, stream),
                    "launching the fold of runs");
      };
      if constexpr (kValues) {
        launch(in, op);
      } else {
        launch(own, CountItems<Key>{});
      }
    });
  }

 private:
  template <class Op, class F>
  void with_pass(F f) const {
    segmented::with_key(problem_, [&]<class Key>(Key) {
      using Source =
          std::conditional_t<kValues, KeyedValues<Op, Key, segmented::Equal>, KeysAlone<Key, segmented::Equal>>;
      using Fold = std::conditional_t<kPrimitive == Primitive::unique, NoFold, typename Op::Item>;
      f(FoldRuns<Source, Fold>(problem_.items, multiprocessors_, shared_bytes_));
    });
  }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
  std::size_t shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
};

const Registration kRunsLookAhead{cuda::cuda_scan<LookAheadRuns<Primitive::reduce_by_key>>()};
const Registration kLengthsLookAhead{cuda::cuda_scan<LookAheadRuns<Primitive::run_length_encode>>()};
const Registration kUniqueLookAhead{cuda::cuda_scan<LookAheadRuns<Primitive::unique>>()};

}  // namespace
}  // namespace scanlab::runs
#endif
