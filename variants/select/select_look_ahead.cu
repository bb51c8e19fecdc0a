// select_look_ahead: launches the kernel of select_look_ahead.cuh, which says how it works.
#include "variants/select/select.hpp"
#include "variants/select/select_look_ahead.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"

namespace scanlab::select {
namespace {

template <Primitive kPrimitive>
class SelectLookAhead {
 public:
  template <class Op>
  static constexpr bool kTakes = kSelected<Op>;

  static Description describe() {
    Description about = describe_select(kPrimitive, true);
    about.id = std::string(name(kPrimitive)) + "_look_ahead";
    about.title = std::string("One pass that counts, scans the counts and compacts") +
                  (kPrimitive == Primitive::partition ? " both sides" : "");
    about.source = "Billeter, Olsson and Assarsson 2009; Scanlab";
    about.family = "single pass";
    about.limits += "; up to 2^32 - 2 items; compute capability 9.0 and later";
    about.cost.work = "2n looks";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit SelectLookAhead(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse(describe().id + " needs compute capability 9.0: it copies in bulk");
    if (problem_.items >= UINT32_MAX)
      return Plan::refuse(describe().id + " counts items in 32 bits: give --items 2^32-2 or fewer");
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kSelected<Op>) {
        const auto selection = selection_of<Op>();
        cuda::check(selection.try_allow(shared_bytes_), "asking for shared memory");
        plan.workspace_bytes = selection.workspace_bytes();
      }
    });
    return plan;
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    cuda::check(selection_of<Op>().try_prepare(workspace, stream), "preparing select_look_ahead");
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* flags, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t* count, void* workspace, std::size_t) const {
    cuda::check(
        selection_of<Op>().try_run(workspace, in, out, count, {static_cast<const std::uint8_t*>(flags)}, stream),
        "launching select_look_ahead");
  }

 private:
  template <class Op>
  auto selection_of() const {
    using Item = typename Op::Item;
    using Selection = Select<Item, Flags<Item>, std::uint64_t, kPrimitive == Primitive::partition>;
    return Selection{problem_.items, multiprocessors_, shared_bytes_};
  }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
  std::size_t shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
};

const Registration kSelectLookAhead{cuda::cuda_scan<SelectLookAhead<Primitive::select>>()};
const Registration kPartitionLookAhead{cuda::cuda_scan<SelectLookAhead<Primitive::partition>>()};

}  // namespace
}  // namespace scanlab::select
#endif
