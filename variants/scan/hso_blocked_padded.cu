// hso_blocked_padded: hso_blocked with the padding of hso_block_padded.
//
// Source  Harris, Sengupta and Owens, GPU Gems 3, ch. 39.2.3 and 39.2.4, 2007.
#include "variants/scan/hso_blocked.cuh"

namespace scanlab::scan {
namespace {
const Registration kHsoBlockedPadded{simt::portable_scan<HsoBlocked<Padded>>()};
}  // namespace
}  // namespace scanlab::scan
