// The ceiling of segmented_scan: a copy of the same bytes.
#include "baselines/entries_copy.cuh"

namespace scanlab {
namespace {

struct SegmentCopy : EntriesCopy {
  using EntriesCopy::EntriesCopy;
  static Description describe() {
    Description about = describe_copy(Primitive::segmented_scan);
    about.id = "segment_copy";
    return about;
  }
};

const Registration registration{cuda::cuda_scan<SegmentCopy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
