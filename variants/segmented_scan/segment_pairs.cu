// segment_pairs: a segmented scan of pairs, which pairs.cuh explains.
#include "variants/segmented_scan/pairs.cuh"

namespace scanlab::segmented {
namespace {
const Registration kSegmentPairs{simt::portable_scan<PairsScan<Primitive::segmented_scan>>()};
}  // namespace
}  // namespace scanlab::segmented
