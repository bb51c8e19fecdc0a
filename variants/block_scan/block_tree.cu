// block_tree: the work-efficient tree of Harris, Sengupta and Owens over a block's threads, in shared memory.
//
// Idea    Up-sweep, clear the root, down-sweep, as in hso_block, but with one leaf a thread: the fold of its items.
// Work    2(T - 1) additions and T - 1 swaps for T threads, and 2 k for their k items each.
// Span    2 ceil(log2 T) steps, a barrier each, with ever fewer threads at work.
// Banks   Nodes of level d are 2^(d+1) items apart: up to 32-way conflicts.
// Source  Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39; after Blelloch 1990.
#include "variants/block_scan/block_tree.cuh"

namespace scanlab::block_scan {
namespace {

struct BlockTree {
  static Description describe() { return describe_tree("block_tree", "HSO tree in shared memory"); }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockTree, OfThreads<Tree<scan::Unpadded>>)
