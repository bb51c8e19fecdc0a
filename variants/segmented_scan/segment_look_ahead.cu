// segment_look_ahead: marks where segments begin, a bit an item, and scans as look_ahead does.
//
// Idea    Tiles are cut as if there were no segments, so that one long segment and a million short ones take the same
//         time, and empty segments take none. A kernel sets the bits of the items at which segments begin; look_ahead
//         over pairs of an item and its bit does the rest.
// Work    2 n, an atomic operation for up to 4 segments, and two instructions an item for the bits.
// Traffic 2 n, the offsets, and n / 2 bytes of bits, which are set, read and cleared.
// Bits    Bitwise reproducible.
// Safe    As look_ahead.
// Needs   Compute capability 9.0.
// Source  Blelloch 1990 for the pairs.
#include "variants/segmented_scan/segmented_look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::segmented {
namespace {

struct SegmentLookAhead : OnBits<SegmentLookAhead> {
  using OnBits::OnBits;

  static Description describe() {
    Description about = describe_look_ahead(Primitive::segmented_scan);
    about.id = "segment_look_ahead";
    about.title = "Heads as bits, then one pass";
    return about;
  }

  static cudaError_t mark(const Problem& problem, const void* offsets, std::uint32_t* bits, std::int64_t,
                          cudaStream_t stream) {
    const std::int64_t n = problem.items, segments = problem.segments.entries(n) - 1;
    return problem.segments.width == 4
               ? try_mark_offsets(static_cast<const std::uint32_t*>(offsets), segments, n, bits, stream)
               : try_mark_offsets(static_cast<const std::uint64_t*>(offsets), segments, n, bits, stream);
  }
};

const Registration kSegmentLookAhead{cuda::cuda_scan<SegmentLookAhead>()};

}  // namespace
}  // namespace scanlab::segmented
#endif
