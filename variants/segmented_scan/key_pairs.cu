// key_pairs: a scan by key of pairs, which pairs.cuh explains.
#include "variants/segmented_scan/pairs.cuh"

namespace scanlab::segmented {
namespace {
const Registration kKeyPairs{simt::portable_scan<PairsScan<Primitive::scan_by_key>>()};
}  // namespace
}  // namespace scanlab::segmented
