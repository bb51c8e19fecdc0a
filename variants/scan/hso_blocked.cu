// hso_blocked: the HSO tree a block at a time, made to fit any n.
//
// Idea    Scan-then-propagate: every block scans a tile of 2048 items as hso_block does, the tiles' aggregates are
//         scanned recursively, and added.
// Work    about 3n: 2n for the trees, n for the offsets; n more if inclusive.
// Span    22 steps a level, ceil(log2 n / 11) levels.
// Traffic 4n.
// Source  Harris, Sengupta and Owens, GPU Gems 3, ch. 39.2.4, 2007.
#include "variants/scan/hso_blocked.cuh"

namespace scanlab::scan {
namespace {
const Registration kHsoBlocked{simt::portable_scan<HsoBlocked<Unpadded>>()};
}  // namespace
}  // namespace scanlab::scan
