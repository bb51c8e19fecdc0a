// hso_block: the work-efficient scan of Harris, Sengupta and Owens, one block, two items a thread.
//
// Idea    A balanced tree over the items, in place in shared memory. Up-sweep: every inner node becomes the sum of its
//         children. Clear the root. Down-sweep: a node hands its prefix to its left child, and its prefix plus the left
//         child's sum to its right child; the leaves end with their exclusive prefixes.
// Work    2(n - 1) additions and n - 1 swaps, for any n; n more additions if inclusive.
// Span    2 ceil(log2 n) steps, each behind one barrier.
// Banks   The nodes of level d are 2^(d+1) items apart: a warp's accesses fall into ever fewer banks, 32-way at worst.
// Source  Harris, Sengupta and Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, ch. 39, 2007; after Blelloch.
#include "variants/scan/hso_block.cuh"

namespace scanlab::scan {
namespace {
const Registration kHsoBlock{simt::portable_scan<HsoBlock<Unpadded>>()};
}  // namespace
}  // namespace scanlab::scan
