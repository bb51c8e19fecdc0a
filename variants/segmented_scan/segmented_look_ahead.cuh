// Shared by the scans by key and of segments that launch look_ahead: they differ in how heads are told.
#pragma once

#include "variants/scan_axis/axis_launch.cuh"
#include "variants/segmented_scan/segmented.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"
#include "variants/segmented_scan/heads.cuh"

namespace scanlab::segmented {

/// The base of a scan that describes itself and has
///   template <class Op, class F> static auto with_scan(const Problem&, F);   // calls f.template operator()<Scan>()
///   template <class Scan>
///   static cudaError_t try_run(const Problem&, const Scan&, const void* entries, void* workspace, const auto* in,
///                              auto* out, const auto& op, cudaStream_t);
template <class Variant>
class OnLookAhead {
 public:
  template <class Op>
  static constexpr bool kTakes = kSegmented<Op>;

  static Description describe_look_ahead(Primitive primitive) {
    Description about = describe_segmented(primitive, true);
    about.source = "Blelloch 1990; Scanlab";
    about.family = "single pass";
    about.limits += "; compute capability 9.0 and later";
    about.cost.work = "about 2n";
    about.cost.span = "the tiles of a block";
    return about;
  }

  explicit OnLookAhead(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse(Variant::describe().id + " needs compute capability 9.0: it copies in bulk");
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kSegmented<Op>) {
        with_scan<Op>([&](const auto& scan) {
          cuda::check(scan.try_allow(shared_bytes_), "asking for shared memory");
          plan.workspace_bytes = scan.workspace_bytes();
          plan.chain = scan.chain();
        });
      }
    });
    return plan;
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t) const {
    with_scan<Op>([&](const auto& scan) { cuda::check(scan.try_prepare(workspace, stream), "preparing the tiles"); });
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const void* entries, const typename Op::Item* in, typename Op::Item* out,
           void* workspace, std::size_t) const {
    if (problem_.items == 0) return;
    with_scan<Op>([&](const auto& scan) {
      cuda::check(Variant::try_run(problem_, scan, entries, workspace, in, out, op, stream), "launching the scan");
    });
  }

 private:
  template <class Op, class F>
  void with_scan(F f) const {
    Variant::template with_scan<Op>(problem_,
                                    [&]<class Scan>() { f(Scan(problem_.items, multiprocessors_, shared_bytes_)); });
  }

  Problem problem_;
  int multiprocessors_ = cuda::multiprocessors();
  std::size_t shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
};

/// The base of one whose heads another kernel writes as bits. It has
///   static cudaError_t mark(const Problem&, const void* entries, std::uint32_t* bits, std::int64_t words,
///   cudaStream_t);
template <class Variant>
struct OnBits : OnLookAhead<Variant> {
  using OnLookAhead<Variant>::OnLookAhead;

  template <class Op, class F>
  static void with_scan(const Problem&, F f) {
    f.template operator()<scan_axis::SegmentedLookAhead<Op, scan_axis::HeadBits>>();
  }
  template <class Scan>
  static cudaError_t try_run(const Problem& problem, const Scan& scan, const void* entries, void* workspace,
                             const auto* in, auto* out, const auto& op, cudaStream_t stream) {
    std::uint32_t* const bits = scan.head_bits(workspace);
    if (const cudaError_t error = Variant::mark(problem, entries, bits, scan.head_words(), stream)) return error;
    return scan.try_run(workspace, in, out, problem.mode, op, {bits}, stream);
  }
};

}  // namespace scanlab::segmented
#endif
