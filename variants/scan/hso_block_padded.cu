// hso_block_padded: hso_block with holes in shared memory, so that the tree's strides visit different banks.
//
// Idea    A row of banks holds B items. One item left free in every B spreads accesses 2, 4, … B apart over all banks;
//         in deep trees the accesses are B * 2, B * 4, … apart and meet again, and one more item in every B^2 parts
//         those too.
// Banks   degree 1 at every step of the tree with padding=two_level, for items of 4 and 8 bytes and n a power of two.
//         Otherwise the nodes cut short by the end of the tile may meet one other (degree 2); items of 16 bytes would
//         want a third level, i/B^3, in a tile of 2048 (degree 4).
// Memory  1/B + 1/B^2 more.
// Source  Harris, Sengupta and Owens 2007, ch. 39.2.3, for 16 banks: one in 16 (padding=one_in_16).
#include "variants/scan/hso_block.cuh"

namespace scanlab::scan {
namespace {
const Registration kHsoBlockPadded{simt::portable_scan<HsoBlock<Padded>>()};
}  // namespace
}  // namespace scanlab::scan
