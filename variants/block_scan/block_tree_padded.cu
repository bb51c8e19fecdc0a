// block_tree_padded: block_tree, with items left free in shared memory against bank conflicts.
//
// Idea    One item is left free after every 32 (a row of banks), after every 16 (the banks of 2007), or after every row
//         and every row of rows, so that nodes at a power-of-two distance fall into different banks.
// Work    As block_tree, and the arithmetic of addresses: a shift and an addition an access, or two of each.
// Span    As block_tree.
// Source  Harris, Sengupta and Owens 2007, GPU Gems 3, ch. 39, section 39.2.3.
#include "variants/block_scan/block_tree.cuh"

namespace scanlab::block_scan {
namespace {

struct BlockTreePadded {
  static Description describe() {
    Description about = describe_tree("block_tree_padded", "HSO tree, padded against bank conflicts");
    about.unpadded = "block_tree";
    about.parameters = {scan::padding_parameter()};
    return about;
  }
};

}  // namespace
}  // namespace scanlab::block_scan

SCANLAB_BLOCK_SCAN(BlockTreePadded, OfThreads<Tree<scan::Padded>>)
