// hso_reentry_padded: hso_reentry with the padding of hso_block_padded.
//
// Source  ME759, lecture of 16 October 2013, "Going beyond 2048 entries" and "Managing bank conflicts".
#include "variants/scan/hso_reentry.cuh"

namespace scanlab::scan {
namespace {
const Registration kHsoReentryPadded{simt::portable_scan<HsoReentry<Padded>>()};
}  // namespace
}  // namespace scanlab::scan
