// key_look_ahead: one kernel, look_ahead with two streams of bulk loads: values and keys.
//
// Idea    As look_ahead over pairs of an item and whether a run of keys begins there. A tile's bulk loads bring its
// keys
//         and the one before them. The reduce warps compare neighbours once, and leave a bit an item in shared memory
//         for the scan warps. Keys take room in the ring, so that its tiles are smaller.
// Work    2 n, a comparison an item, and two instructions an item for the bits.
// Traffic 2 n, and n keys: what any scan by key must move.
// Bits    Bitwise reproducible.
// Safe    As look_ahead.
// Needs   Compute capability 9.0. Keys that do not begin at a multiple of 16 bytes take slower, plain copies.
// Source  Blelloch 1990 for the pairs.
#include "variants/segmented_scan/segmented_look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::segmented {
namespace {

struct KeyLookAhead : OnLookAhead<KeyLookAhead> {
  using OnLookAhead::OnLookAhead;

  static Description describe() {
    Description about = describe_look_ahead(Primitive::scan_by_key);
    about.id = "key_look_ahead";
    about.title = "One pass over values and keys";
    about.cost.work = "about 2n, and n comparisons";
    return about;
  }

  template <class Op, class F>
  static auto with_scan(const Problem& problem, F f) {
    return with_key(problem, [&]<class Key>(Key) {
      return f.template operator()<scan_axis::SegmentedLookAhead<Op, scan_axis::Keys<Key, Equal>>>();
    });
  }
  template <class Scan>
  static cudaError_t try_run(const Problem& problem, const Scan& scan, const void* keys, void* workspace,
                             const auto* in, auto* out, const auto& op, cudaStream_t stream) {
    using Key = typename Scan::Form::Key;
    return scan.try_run(workspace, in, out, problem.mode, op, {static_cast<const Key*>(keys), {}}, stream);
  }
};

const Registration kKeyLookAhead{cuda::cuda_scan<KeyLookAhead>()};

}  // namespace
}  // namespace scanlab::segmented
#endif
